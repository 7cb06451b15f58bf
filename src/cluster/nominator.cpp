#include "cluster/nominator.h"

#include <algorithm>

#include "base/check.h"

namespace berth::cluster {

std::span<const PodSlot> Nominator::ForNode(NodeNameId node) const {
  const auto found = by_node_.find(node);
  return found == by_node_.end() ? std::span<const PodSlot>() : std::span<const PodSlot>(found->second);
}

void Nominator::Append(PodSlot pod, NodeNameId node) { Reinsert(pod, {node, ForNode(node).size()}); }

std::optional<Nominator::Entry> Nominator::Remove(PodSlot pod) {
  const NodeNameId node = NodeOf(pod);
  if (!node.IsValid()) return std::nullopt;
  const auto found = by_node_.find(node);
  std::vector<PodSlot>& pods = found->second;
  const auto place = std::ranges::find(pods, pod);
  const Entry entry{node, static_cast<std::size_t>(place - pods.begin())};
  pods.erase(place);
  if (pods.empty()) by_node_.erase(found);
  node_of_[pod.index()] = {};
  return entry;
}

void Nominator::Reinsert(PodSlot pod, const Entry& entry) {
  BERTH_DCHECK(!NodeOf(pod).IsValid());
  if (pod.index() >= node_of_.size()) node_of_.resize(pod.index() + 1);
  node_of_[pod.index()] = entry.node;
  std::vector<PodSlot>& pods = by_node_[entry.node];
  pods.insert(pods.begin() + static_cast<std::ptrdiff_t>(entry.position), pod);
}

void Nominator::AddTo(Digester& digest) const {
  for (const auto& [node, pods] : by_node_) {
    digest.Add(node.value());
    for (const PodSlot pod : pods) digest.Add(pod.value());
  }
}

}  // namespace berth::cluster
