#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

#include "base/chunked_vector.h"
#include "base/interner.h"
#include "cluster/ids.h"
#include "cluster/labels.h"
#include "cluster/namespaces.h"

namespace berth::cluster {

// Where to look for pods, or for selectors that could match a pod: a namespace and a label pair, a namespace
// and a label key, or a namespace alone. Invalid parts stand for "any".
struct Probe {
  NamespaceId namespace_;
  LabelKeyId key;
  LabelValueId value;

  bool operator==(const Probe&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Probe& p) {
    return H::combine(std::move(h), p.namespace_, p.key, p.value);
  }
};

// Label set and namespace: pods that agree in both are the same to every selector. Ten thousand pods of a
// Deployment are one class, so a selector is evaluated for them once.
struct PodClass {
  LabelSetId labels;
  NamespaceId namespace_;

  bool operator==(const PodClass&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const PodClass& c) {
    return H::combine(std::move(h), c.labels, c.namespace_);
  }
};

// The classes of the pods in the table, findable by namespace and by namespace and label pair.
//
// 1. A class lives while a pod is in it, and holds its label set and namespace.
// 2. by_probe_ lists every class under (namespace, any, any) and under (namespace, key, value) of each of its
// labels;
//    positions_ says where, so that a class leaves in O(labels^2) at most, without a search of the lists.
class PodClassTable {
 public:
  PodClassTable(LabelTable& labels, NamespaceTable& namespaces);

  // Takes over the caller's references to both; gives one to the id.
  PodClassId Intern(PodClass pod_class);
  void Acquire(PodClassId id) { classes_.Acquire(id); }
  // True when the class is gone.
  bool Release(PodClassId id);

  const PodClass& Get(PodClassId id) const { return classes_.Get(id); }
  base::Versioned<PodClassId> Version(PodClassId id) const { return classes_.Version(id); }
  bool IsCurrent(base::Versioned<PodClassId> id) const { return classes_.IsCurrent(id); }
  // With a namespace; with key and value or with neither.
  std::span<const PodClassId> Find(const Probe& probe) const;
  std::size_t slot_count() const { return classes_.slot_count(); }
  bool empty() const { return classes_.empty() && by_probe_.empty(); }

 private:
  using ClassList = absl::InlinedVector<PodClassId, 2>;

  // The probe under which the class is listed: 0 is the namespace, then its labels in order.
  Probe ProbeAt(PodClassId id, std::size_t which) const;
  std::size_t ProbeCount(PodClassId id) const { return labels_.Labels(Get(id).labels).size() + 1; }
  void AddToLists(PodClassId id);
  void RemoveFromLists(PodClassId id);

  LabelTable& labels_;
  NamespaceTable& namespaces_;
  base::InternTable<PodClassId, PodClass> classes_;
  absl::flat_hash_map<Probe, ClassList> by_probe_;
  // By PodClassId, then by number of the probe. There may be as many as pods, with few labels each.
  base::ChunkedVector<absl::InlinedVector<std::uint32_t, 4>> positions_;
};

}  // namespace berth::cluster
