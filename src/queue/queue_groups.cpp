#include <algorithm>
#include <tuple>

#include "framework/cycle.h"
#include "queue/scheduling_queue.h"

// Pods that are tried together. A waiting member is, by the root of its tree: incomplete without one, pending
// while the root is being tried, else inside the root's entity.
namespace berth::queue {

bool SchedulingQueue::IsGroupMember(const api::PodRecord& pod) const {
  if (!options_.generic_workload || !pod.spec->spec.scheduling_group) return false;
  // A pod that has its node waits for that node alone.
  return !(options_.deferred_resize && framework::IsResizeDeferred(pod));
}

// A member without the name of its group waits for a group that cannot come.
GroupKey SchedulingQueue::LeafOf(const api::PodRecord& member) const {
  return {GroupKind::kPodGroup, member.namespace_,
          member.spec->spec.scheduling_group->pod_group_name.value_or("")};
}

GroupId SchedulingQueue::RootOf(const api::PodRecord& member) const {
  const GroupId leaf = forest_.Find(LeafOf(member));
  return leaf.IsValid() ? forest_.Root(leaf) : GroupId();
}

SchedulingQueue::GroupState& SchedulingQueue::StateOf(GroupId group) {
  if (group.index() >= groups_.size()) groups_.resize(group.index() + 1);
  return groups_[group.index()];
}

// Invalid: the pod is an entity itself, or is in none.
ItemId SchedulingQueue::EntityOf(const Item& pod) const {
  return pod.place == Place::kMember ? pod.parent : ItemId();
}

ItemId SchedulingQueue::NewPod(PodRef pod, const cluster::PodRecordRef& record) {
  const ItemId id = items_.AddPod(record);
  Item& item = items_[id];
  item.pod = pod;
  item.priority = cluster_.pods().priority(pod.id);
  item.profile = events_->FindProfile(record->spec->spec.scheduler_name);
  if (IsGroupMember(*record)) item.leaf = forest_.Acquire(LeafOf(*record));
  return id;
}

namespace {

// What puts an entity back where it was.
Strategy StrategyOf(Place place) {
  switch (place) {
    case Place::kActive:
      return Strategy::kImmediately;
    case Place::kUnschedulable:
      return Strategy::kSkip;
    default:
      return Strategy::kAfterBackoff;
  }
}

}  // namespace

void SchedulingQueue::AddMember(ItemId pod) {
  const GroupId root = forest_.Root(items_[pod].leaf);
  if (!root.IsValid()) {
    File(pod, Place::kIncomplete);
    return;
  }
  if (const ItemId entity = StateOf(root).entity; entity.IsValid()) {
    const Strategy strategy = StrategyOf(items_[entity].place);
    Detach(entity);
    Join(entity, pod);
    Requeue(entity, {.label = added_, .strategy = strategy});
    return;
  }
  if (StateOf(root).in_flight) {
    File(pod, Place::kPending);
    return;
  }
  const ItemId entity = items_.AddGroup(forest_.Acquire(forest_.key(root)));
  StateOf(root).entity = entity;
  Item& group = items_[entity];
  group.priority = forest_.priority(root);
  group.params.timestamp = items_[pod].params.timestamp;
  group.params.initial_attempt = items_[pod].params.initial_attempt;
  Join(entity, pod);
  MoveToActive(entity, {.label = added_});
}

// By leaf of the tree, then the ones to be tried first: higher priority, more attempts, earlier, by name.
void SchedulingQueue::Join(ItemId group, ItemId pod) {
  Item& item = items_[pod];
  item.parent = group;
  item.place = Place::kMember;
  const GroupMembers& members = *items_[group].group;
  const bool is_tree = forest_.key(members.root).kind == GroupKind::kComposite;
  const std::vector<GroupId> leaves = is_tree ? forest_.Leaves(members.root) : std::vector<GroupId>();
  const auto key = [&](ItemId id) {
    const Item& at = items_[id];
    return std::tuple(is_tree ? std::ranges::find(leaves, at.leaf) - leaves.begin() : 0,
                      -std::int64_t{at.priority}, -at.params.attempts, at.params.timestamp,
                      std::string_view(at.record->name));
  };
  std::vector<ItemId>& pods = items_[group].group->pods;
  pods.insert(std::ranges::upper_bound(pods, key(pod), {}, key), pod);
}

void SchedulingQueue::Leave(ItemId group, ItemId pod) {
  std::erase(items_[group].group->pods, pod);
  items_[pod].parent = ItemId();
  items_[pod].place = Place::kNowhere;
}

void SchedulingQueue::RequeueGroup(ItemId group) {
  const Strategy strategy = StrategyOf(items_[group].place);
  Detach(group);
  Requeue(group, {.label = added_, .strategy = strategy});
}

void SchedulingQueue::FreeGroup(ItemId group) {
  const GroupId root = items_[group].group->root;
  StateOf(root).entity = ItemId();
  items_.Free(group);
  forest_.Release(root);
}

void SchedulingQueue::DeleteMember(ItemId pod) {
  const ItemId entity = EntityOf(items_[pod]);
  if (!entity.IsValid()) {
    Detach(pod);
    Forget(pod);
    return;
  }
  // A group that the pod alone kept out is looked at again; its gate would not tell that it is open.
  const bool was_gate = items_[pod].params.gated();
  const Place place = items_[entity].place;
  const Strategy strategy =
      place == Place::kUnschedulable && was_gate ? Strategy::kAfterBackoff : StrategyOf(place);
  Detach(entity);
  Leave(entity, pod);
  Forget(pod);
  if (items_[entity].group->pods.empty()) {
    FreeGroup(entity);
  } else {
    Requeue(entity, {.label = added_, .strategy = strategy});
  }
}

void SchedulingQueue::OnGroupSet(GroupId group) {
  const GroupId root = forest_.Root(group);
  if (!root.IsValid()) return;
  if (const ItemId entity = StateOf(root).entity; entity.IsValid()) Resift(entity);
  std::vector<ItemId> pods;
  for (const GroupId leaf : forest_.Leaves(root)) {
    const std::vector<ItemId>& incomplete = StateOf(leaf).incomplete;
    pods.insert(pods.end(), incomplete.begin(), incomplete.end());
  }
  std::ranges::sort(pods, {}, [this](ItemId id) { return items_[id].sequence; });
  for (const ItemId pod : pods) {
    Detach(pod);
    AddMember(pod);
  }
}

void SchedulingQueue::RemovePodGroup(const GroupKey& key) {
  const GroupId group = forest_.Find(key);
  if (!group.IsValid() || !forest_.IsPresent(group)) return;
  const GroupId root = forest_.Root(group);
  if (!root.IsValid()) {
    forest_.Remove(group);
    return;
  }
  // They may lose their last other holder below.
  forest_.Acquire(forest_.key(root));
  std::vector<GroupId> leaves = forest_.Leaves(group);
  for (const GroupId leaf : leaves) forest_.Acquire(forest_.key(leaf));
  forest_.Remove(group);
  MoveRootlessToIncomplete(root, leaves);
  for (const GroupId leaf : leaves) forest_.Release(leaf);
  forest_.Release(root);
}

void SchedulingQueue::MoveRootlessToIncomplete(GroupId root, std::span<const GroupId> leaves) {
  const ItemId entity = StateOf(root).entity;
  if (!entity.IsValid()) {
    for (const GroupId leaf : leaves) {
      const std::vector<ItemId> pending = StateOf(leaf).pending;
      for (const ItemId pod : pending) {
        Detach(pod);
        File(pod, Place::kIncomplete);
      }
    }
    return;
  }
  const Strategy strategy = StrategyOf(items_[entity].place);
  Detach(entity);
  const std::vector<ItemId> members = items_[entity].group->pods;
  for (const ItemId pod : members) {
    if (std::ranges::find(leaves, items_[pod].leaf) == leaves.end()) continue;
    Leave(entity, pod);
    File(pod, Place::kIncomplete);
  }
  if (items_[entity].group->pods.empty()) {
    FreeGroup(entity);
  } else {
    Requeue(entity, {.label = updated_, .strategy = strategy});
  }
}

}  // namespace berth::queue
