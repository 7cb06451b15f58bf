#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/interner.h"
#include "cluster/ids.h"
#include "cluster/labels.h"

namespace berth::cluster {

// Namespaces that exist, and names that pods or selectors mention before the namespace is seen or after it is
// gone.
class NamespaceTable {
 public:
  explicit NamespaceTable(LabelTable& labels);

  // With a reference for the caller.
  NamespaceId Intern(std::string_view name);
  void Acquire(NamespaceId id);
  void Release(NamespaceId id);

  // The Namespace object came or changed (takes over the caller's reference to its labels), or went.
  void Set(NamespaceId id, LabelSetId labels);
  void Unset(NamespaceId id);

  NamespaceId Find(std::string_view name) const;
  std::string_view Name(NamespaceId id) const { return names_.Get(id); }
  bool IsKnown(NamespaceId id) const { return label_sets_[id.index()].IsValid(); }
  // Invalid while the namespace is not known; LabelTable::View takes that for no labels.
  LabelSetId label_set(NamespaceId id) const { return label_sets_[id.index()]; }

  // Calls visit(id) for every name in the table, known or not, ascending by id.
  template <class F>
  void ForEach(F&& visit) const {
    for (std::uint32_t id = 0; id < names_.slot_count(); ++id) {
      if (names_.IsLive(NamespaceId(id))) visit(NamespaceId(id));
    }
  }
  // The names of known namespaces, sorted.
  std::vector<std::string_view> KnownNames() const;
  bool empty() const { return names_.empty(); }

 private:
  LabelTable& labels_;
  base::Interner<NamespaceId> names_;  // a known namespace holds one reference to its own name
  std::vector<LabelSetId> label_sets_;
};

}  // namespace berth::cluster
