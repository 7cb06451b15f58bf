#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/metrics.h"

namespace berth::server {

struct AllowedLabel {
  std::string metric;
  std::string label;
  std::set<std::string, std::less<>> values;

  bool operator==(const AllowedLabel&) const = default;
};

// "metric,label='v1,v2'", once per use of --allow-metric-labels; several may stand in one.
base::Result<std::vector<AllowedLabel>> ParseAllowedLabels(const std::vector<std::string>& texts);
// The same as a YAML map, for --allow-metric-labels-manifest.
base::Result<std::vector<AllowedLabel>> ParseAllowedLabelsFile(std::string_view text);

// What an operator wants to see of the metrics.
struct MetricWishes {
  bool show_hidden = false;
  std::vector<std::string> disabled = {};
  std::vector<AllowedLabel> allowed = {};
};

// Before anything was counted: series that are there keep their labels. Names that the registry does not know
// are none of its business.
void ApplyWishes(base::MetricRegistry& registry, const MetricWishes& wishes);

}  // namespace berth::server
