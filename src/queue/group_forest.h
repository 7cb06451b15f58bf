#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod_group.h"
#include "base/ids.h"
#include "base/interner.h"

namespace berth::queue {

using GroupId = base::Id<struct QueueGroupTag>;

enum class GroupKind : std::uint8_t { kPodGroup, kComposite };

struct GroupKey {
  GroupKind kind = GroupKind::kPodGroup;
  std::string namespace_;
  std::string name;

  bool operator==(const GroupKey&) const = default;
  template <class H>
  friend H AbslHashValue(H state, const GroupKey& key) {
    return H::combine(std::move(state), key.kind, key.namespace_, key.name);
  }
};

// Pod groups and the composite groups above them, as far as they were seen.
//
// 1. A node is known while its object is there, a child names it as parent, or somebody holds a reference.
// 2. Links from children are kept before the parent is there. They do not change with updates.
class GroupForest {
 public:
  // Without composites every pod group is a root.
  explicit GroupForest(bool composites) : composites_(composites) {}

  GroupId Acquire(GroupKey key);
  void Release(GroupId group);
  const GroupKey& key(GroupId group) const { return table_.Get(group); }
  // Invalid: neither seen nor referred to.
  GroupId Find(const GroupKey& key) const;

  // Add and update alike.
  GroupId Set(const api::PodGroup& group);
  GroupId Set(const api::CompositePodGroup& group);
  // No effect if it is not there. Its id is good as long as somebody holds it.
  void Remove(GroupId group);

  bool IsPresent(GroupId group) const { return nodes_[group.index()].present; }
  std::int32_t priority(GroupId group) const { return nodes_[group.index()].priority; }
  // The topmost group above, or the group itself. Invalid: one on the way is not there, or they form a ring.
  GroupId Root(GroupId group) const;
  // The pod groups below a root, in the order in which a group cycle takes them: by age, then name.
  std::vector<GroupId> Leaves(GroupId root) const;
  // Slots are below this.
  std::size_t slot_count() const { return nodes_.size(); }

 private:
  struct Node {
    bool present = false;
    std::int32_t priority = 0;
    api::Time created;
    GroupId parent;  // a reference; invalid: none
    std::vector<GroupId> children;
  };

  GroupId SetNode(GroupKey key, const api::ObjectMeta& meta, std::optional<std::int32_t> priority,
                  const std::optional<std::string>& parent);
  Node& NodeOf(GroupId group) { return nodes_[group.index()]; }
  const Node& NodeOf(GroupId group) const { return nodes_[group.index()]; }
  bool IsOlder(GroupId a, GroupId b) const;

  const bool composites_;
  base::InternTable<GroupId, GroupKey> table_;
  std::vector<Node> nodes_;  // by GroupId
};

}  // namespace berth::queue
