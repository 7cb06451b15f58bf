#include "cluster/namespaces.h"

#include <algorithm>
#include <cstdint>

namespace berth::cluster {

NamespaceTable::NamespaceTable(LabelTable& labels) : labels_(labels) {}

NamespaceId NamespaceTable::Intern(std::string_view name) {
  const NamespaceId id = names_.Intern(name);
  if (id.index() >= label_sets_.size()) label_sets_.resize(id.index() + 1);
  return id;
}

void NamespaceTable::Set(NamespaceId id, LabelSetId labels) {
  if (IsKnown(id)) {
    labels_.Release(label_sets_[id.index()]);
  } else {
    names_.Acquire(id);
  }
  label_sets_[id.index()] = labels;
}

void NamespaceTable::Unset(NamespaceId id) {
  if (!IsKnown(id)) return;
  labels_.Release(label_sets_[id.index()]);
  label_sets_[id.index()] = {};
  names_.Release(id);
}

std::vector<std::string_view> NamespaceTable::KnownNames() const {
  std::vector<std::string_view> names;
  for (std::uint32_t id = 0; id < label_sets_.size(); ++id) {
    if (label_sets_[id].IsValid()) names.push_back(names_.Get(NamespaceId(id)));
  }
  std::ranges::sort(names);
  return names;
}

void NamespaceTable::Acquire(NamespaceId id) { names_.Acquire(id); }

void NamespaceTable::Release(NamespaceId id) { names_.Release(id); }

NamespaceId NamespaceTable::Find(std::string_view name) const { return names_.Find(name); }

}  // namespace berth::cluster
