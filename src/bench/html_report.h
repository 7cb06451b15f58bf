#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "bench/compare.h"

namespace berth::bench {

// Pods per second over the time of one run.
struct RateCurve {
  std::string workload;  // as compared workloads are named, without the collection
  std::size_t side = 0;
  std::vector<std::uint32_t> bound_per_tenth;
};

struct ComparisonPage {
  SideNames names;
  // How, where and when this was measured: a term and what is said about it.
  std::vector<std::pair<std::string, std::string>> conditions;
  std::span<const ComparedWorkload> workloads;
  std::span<const RateCurve> curves = {};
  std::span<const std::string> notes = {};  // what failed, what did not run
};

// One file with everything in it: opens without a network, prints, and needs no scripts.
std::string ComparisonHtml(const ComparisonPage& page);

// With what has a meaning in HTML escaped.
std::string HtmlText(std::string_view text);

}  // namespace berth::bench
