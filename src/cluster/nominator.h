#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/btree_map.h"

#include "cluster/digest.h"
#include "cluster/ids.h"

namespace berth::cluster {

// Which waiting pods are expected on which node, in the order of their nomination. The node need not exist.
//
// The rules of who may be nominated, and the references to node names, are with Cluster.
class Nominator {
 public:
  // In the order of nomination.
  std::span<const PodSlot> ForNode(NodeNameId node) const;
  // Invalid: not nominated.
  NodeNameId NodeOf(PodSlot pod) const {
    return pod.index() < node_of_.size() ? node_of_[pod.index()] : NodeNameId();
  }
  // Calls visit(node, pods) for every node with nominations, ascending by name id.
  template <class F>
  void ForEachNode(F&& visit) const {
    for (const auto& [node, pods] : by_node_) visit(node, std::span<const PodSlot>(pods));
  }
  std::size_t node_count() const { return by_node_.size(); }
  bool empty() const { return by_node_.empty(); }

  // For Cluster.
  // ------------------------------------------------------------------------------------------------------
  struct Entry {
    NodeNameId node;
    std::size_t position = 0;
  };
  // The pod must not be nominated.
  void Append(PodSlot pod, NodeNameId node);
  // Where it was; nothing if it was not nominated.
  std::optional<Entry> Remove(PodSlot pod);
  // The inverse of Remove.
  void Reinsert(PodSlot pod, const Entry& entry);

  void AddTo(Digester& digest) const;

 private:
  absl::btree_map<NodeNameId, std::vector<PodSlot>> by_node_;
  std::vector<NodeNameId> node_of_;  // by PodSlot
};

}  // namespace berth::cluster
