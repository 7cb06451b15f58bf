#include "queue/group_forest.h"

#include <algorithm>

#include "base/log.h"

namespace berth::queue {

GroupId GroupForest::Acquire(GroupKey key) {
  const GroupId id = table_.Intern(std::move(key));
  if (id.index() >= nodes_.size()) nodes_.resize(id.index() + 1);
  return id;
}

GroupId GroupForest::Set(const api::PodGroup& group) {
  static const std::optional<std::string> kNoParent;
  return SetNode({GroupKind::kPodGroup, group.metadata.namespace_, group.metadata.name}, group.metadata,
                 group.spec.priority, composites_ ? group.spec.parent_composite_pod_group_name : kNoParent);
}

GroupId GroupForest::Set(const api::CompositePodGroup& group) {
  return SetNode({GroupKind::kComposite, group.metadata.namespace_, group.metadata.name}, group.metadata,
                 group.spec.priority, group.spec.parent_composite_pod_group_name);
}

GroupId GroupForest::SetNode(GroupKey key, const api::ObjectMeta& meta, std::optional<std::int32_t> priority,
                             const std::optional<std::string>& parent) {
  const GroupId id = Acquire(std::move(key));
  if (NodeOf(id).present) {
    table_.Release(id);
  } else {
    NodeOf(id).present = true;
    if (parent) {
      const GroupId above = Acquire({GroupKind::kComposite, meta.namespace_, *parent});
      NodeOf(id).parent = above;
      NodeOf(above).children.push_back(id);
    }
  }
  Node& node = NodeOf(id);
  node.priority = priority.value_or(0);
  node.created = meta.creation_timestamp;
  return id;
}

void GroupForest::Remove(GroupId group) {
  Node& node = NodeOf(group);
  if (!node.present) return;
  node.present = false;
  if (const GroupId parent = node.parent; parent.IsValid()) {
    node.parent = GroupId();
    std::erase(NodeOf(parent).children, group);
    table_.Release(parent);
  }
  table_.Release(group);
}

GroupId GroupForest::Root(GroupId group) const {
  // A ring has no topmost group, so a walk of more steps than there are groups is in one.
  for (std::size_t steps = 0; steps <= nodes_.size(); ++steps) {
    const Node& node = NodeOf(group);
    if (!node.present) return GroupId();
    if (!node.parent.IsValid()) return group;
    group = node.parent;
  }
  BERTH_LOG_ERROR(nullptr, "Cycle in the hierarchy of composite pod groups",
                  {"compositePodGroup", base::LogObject{key(group).namespace_, key(group).name}});
  return GroupId();
}

bool GroupForest::IsOlder(GroupId a, GroupId b) const {
  if (NodeOf(a).created != NodeOf(b).created) return NodeOf(a).created < NodeOf(b).created;
  return key(a).name < key(b).name;
}

// A root is no part of a ring, and neither is what hangs below it.
std::vector<GroupId> GroupForest::Leaves(GroupId root) const {
  std::vector<GroupId> leaves;
  std::vector<GroupId> rest = {root};
  while (!rest.empty()) {
    const GroupId group = rest.back();
    rest.pop_back();
    if (!IsPresent(group)) continue;
    if (key(group).kind == GroupKind::kPodGroup) {
      leaves.push_back(group);
      continue;
    }
    std::vector<GroupId> children = NodeOf(group).children;
    std::ranges::sort(children, [this](GroupId a, GroupId b) { return IsOlder(b, a); });
    rest.insert(rest.end(), children.begin(), children.end());
  }
  return leaves;
}

void GroupForest::Release(GroupId group) { table_.Release(group); }

GroupId GroupForest::Find(const GroupKey& key) const { return table_.Find(key); }

}  // namespace berth::queue
