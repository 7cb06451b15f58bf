#include "cluster/pod_classes.h"

#include "base/check.h"

namespace berth::cluster {

PodClassTable::PodClassTable(LabelTable& labels, NamespaceTable& namespaces)
    : labels_(labels), namespaces_(namespaces) {}

PodClassId PodClassTable::Intern(PodClass pod_class) {
  const PodClassId id = classes_.Intern(pod_class);
  if (classes_.References(id) == 1) {
    AddToLists(id);
  } else {
    labels_.Release(pod_class.labels);
    namespaces_.Release(pod_class.namespace_);
  }
  return id;
}

bool PodClassTable::Release(PodClassId id) {
  if (classes_.References(id) > 1) {
    classes_.Release(id);
    return false;
  }
  RemoveFromLists(id);
  const PodClass pod_class = classes_.Get(id);
  classes_.Release(id);
  labels_.Release(pod_class.labels);
  namespaces_.Release(pod_class.namespace_);
  return true;
}

std::span<const PodClassId> PodClassTable::Find(const Probe& probe) const {
  const auto found = by_probe_.find(probe);
  if (found == by_probe_.end()) return {};
  return {found->second.data(), found->second.size()};
}

Probe PodClassTable::ProbeAt(PodClassId id, std::size_t which) const {
  const PodClass& pod_class = Get(id);
  if (which == 0) return {pod_class.namespace_, {}, {}};
  const Label& label = labels_.Labels(pod_class.labels)[which - 1];
  return {pod_class.namespace_, label.key, label.value};
}

void PodClassTable::AddToLists(PodClassId id) {
  while (positions_.size() <= id.index()) positions_.Grow();
  const std::size_t count = ProbeCount(id);
  auto& positions = positions_[id.index()];
  positions.resize(count);
  for (std::size_t which = 0; which < count; ++which) {
    ClassList& list = by_probe_[ProbeAt(id, which)];
    positions[which] = static_cast<std::uint32_t>(list.size());
    list.push_back(id);
  }
}

void PodClassTable::RemoveFromLists(PodClassId id) {
  const std::size_t count = ProbeCount(id);
  for (std::size_t which = 0; which < count; ++which) {
    const Probe probe = ProbeAt(id, which);
    const auto found = by_probe_.find(probe);
    ClassList& list = found->second;
    const std::uint32_t position = positions_[id.index()][which];
    BERTH_DCHECK(list[position] == id);
    const PodClassId moved = list.back();
    list[position] = moved;
    list.pop_back();
    if (moved != id) {
      // The same label may be at another place in the class that moved.
      std::size_t other = 0;
      while (ProbeAt(moved, other) != probe) ++other;
      positions_[moved.index()][other] = position;
    }
    if (list.empty()) by_probe_.erase(found);
  }
  positions_[id.index()].clear();
}

}  // namespace berth::cluster
