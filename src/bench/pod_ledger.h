#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/string_map.h"
#include "base/clock.h"
#include "bench/test_cluster.h"

namespace berth::bench {

using LabelSet = std::map<std::string, std::string>;

bool HasLabels(const api::StringMap& labels, const LabelSet& wanted);

// Every pod of a workload: since when it is there and since when it has a node. Waiting asks here instead of
// listing all pods each time.
class PodLedger final : public PodObserver {
 public:
  struct Entry {
    api::StringMap labels;
    base::TimePoint created;
    std::optional<base::TimePoint> bound;
  };
  using Pods = std::map<std::string, Entry, std::less<>>;
  // A pod has got a node.
  using BoundListener =
      std::function<void(std::string_view namespace_name, std::string_view name, const Entry&)>;

  explicit PodLedger(const base::Clock& clock) : clock_(clock) {}

  void OnPod(const PodChange& change) override;

  // Pods with a node and all of these labels.
  std::size_t CountBound(std::string_view namespace_name, const LabelSet& labels) const;
  // Pods that have gone, since the beginning.
  std::size_t CountGone(std::string_view namespace_name) const;
  // In the order of their names.
  const Pods& pods(std::string_view namespace_name) const;

  void AddListener(BoundListener listener) { listeners_.push_back(std::move(listener)); }

 private:
  struct Namespace {
    Pods pods;
    std::size_t bound_count = 0;
    std::size_t gone_count = 0;
  };

  const base::Clock& clock_;
  std::map<std::string, Namespace, std::less<>> namespaces_;
  std::vector<BoundListener> listeners_;
};

}  // namespace berth::bench
