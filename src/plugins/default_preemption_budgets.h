#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "api/label_selector.h"
#include "api/workloads.h"
#include "base/interner.h"
#include "cluster/cluster.h"

namespace berth::plugins {

// The disruption budgets of the cluster by namespace, with compiled selectors: a search for victims asks for
// those of every pod that it looks at. Kept in step with the objects; a change costs O(budgets of the
// namespace).
class DisruptionBudgets final : public cluster::Extension {
 public:
  struct Budget {
    std::shared_ptr<const api::PodDisruptionBudget> object;
    api::Selector selector;
  };

  explicit DisruptionBudgets(cluster::Cluster& cluster);

  bool empty() const { return by_namespace_.empty(); }
  // By name. Without those that can match no pod: their selector is missing, empty or bad.
  std::span<const Budget> InNamespace(std::string_view namespace_) const;

  // Pods are not counted here: how many disruptions are left is in the object.
  void OnPodPlaced(cluster::PodSlot, cluster::NodeRow) override {}
  void OnPodDisplaced(cluster::PodSlot, cluster::NodeRow) override {}
  void OnNodeChanged(cluster::NodeRow, cluster::Facts) override {}
  void AddTo(cluster::Digester&) const override {}

 private:
  using Ref = std::shared_ptr<const api::PodDisruptionBudget>;
  void Add(const Ref& object);
  void Remove(const api::PodDisruptionBudget& object);

  absl::flat_hash_map<std::string, std::vector<Budget>, base::TextHash, std::equal_to<>> by_namespace_;
};

}  // namespace berth::plugins
