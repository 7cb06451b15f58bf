#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/hash/hash.h"

#include "base/check.h"
#include "base/ids.h"
#include "base/indexed_heap.h"
#include "cluster/cluster.h"
#include "queue/event_map.h"
#include "queue/group_forest.h"
#include "queue/queueing_params.h"

namespace berth::queue {

using ItemId = base::Id<struct QueueItemTag>;
using ClassId = base::Id<struct WaitingClassTag>;

// Where a waiting pod or group is. A pod that is being tried is in none of these.
enum class Place : std::uint8_t {
  kNowhere,
  kActive,
  kBackoff,
  kErrorBackoff,   // never tried early: the last attempt met an error, not a rejection
  kUnschedulable,  // gated ones, too
  kMember,         // inside a group that is in one of the above
  kPending,        // its group is being tried
  kIncomplete,     // its group, or one above it, is not there
};

struct Item;

struct GroupMembers {
  GroupId root;
  std::vector<ItemId> pods;  // in the order in which a group cycle takes them
};

// A waiting pod, or a group of them that is tried as one.
struct Item {
  base::Versioned<cluster::PodSlot> pod;  // of a pod
  cluster::PodRecordRef record;           // of a pod, as the queue saw it last
  std::unique_ptr<GroupMembers> group;    // of a group
  QueueingParams params;
  std::uint64_t sequence = 0;  // of arrival: the last tie-break everywhere
  std::uint64_t visit = 0;     // the last narrowed event that looked at it
  std::uint64_t likeness = 0;  // of its last rejection; 0 if it changed since
  std::int32_t priority = 0;
  base::HeapHandle handle;  // in the heap of its place
  ClassId waiting_class;    // while unschedulable
  std::uint32_t class_position = 0;
  ItemId parent;  // of a member
  GroupId leaf;   // of a pod in a group
  ProfileIndex profile = kNoProfile;
  Place place = Place::kNowhere;
  bool counted_as_gated = false;

  bool is_group() const { return group != nullptr; }
  std::size_t size() const { return group ? group->pods.size() : 1; }
};

// The items, and pods among them by name. References stay good until their item is freed.
class ItemStore {
 public:
  ItemStore() : by_name_(0, NameHash{&items_}, NameEqual{&items_}) {}
  ItemStore(const ItemStore&) = delete;
  ItemStore& operator=(const ItemStore&) = delete;

  Item& operator[](ItemId id) { return items_[id.index()]; }
  const Item& operator[](ItemId id) const { return items_[id.index()]; }

  // With the record, under whose name it is found from then on. There must be no pod of that name.
  ItemId AddPod(cluster::PodRecordRef record);
  ItemId AddGroup(GroupId root);
  void Free(ItemId id);
  // The name must be the same.
  void ReplaceRecord(ItemId id, cluster::PodRecordRef record);

  // Invalid: no such pod waits.
  ItemId Find(std::string_view namespace_, std::string_view name) const;
  ItemId Find(const api::PodRecord& pod) const { return Find(pod.namespace_, pod.name); }
  std::size_t pod_count() const { return by_name_.size(); }

  // Calls visit(id, item) for each, in no useful but a reproducible order.
  template <class F>
  void ForEach(F&& visit) const {
    for (std::uint32_t i = 0; i < items_.size(); ++i) {
      if (items_[i].record || items_[i].group) visit(ItemId(i), items_[i]);
    }
  }

 private:
  struct Name {
    std::string_view namespace_;
    std::string_view name;
    bool operator==(const Name&) const = default;
  };
  using Items = std::deque<Item>;
  static Name NameOf(const Items& items, ItemId id) {
    return {items[id.index()].record->namespace_, items[id.index()].record->name};
  }
  struct NameHash {
    using is_transparent = void;
    const Items* items;
    std::size_t operator()(const Name& name) const { return absl::HashOf(name.namespace_, name.name); }
    std::size_t operator()(ItemId id) const { return (*this)(NameOf(*items, id)); }
  };
  struct NameEqual {
    using is_transparent = void;
    const Items* items;
    bool operator()(ItemId a, ItemId b) const { return a == b; }
    bool operator()(ItemId a, const Name& b) const { return NameOf(*items, a) == b; }
    bool operator()(const Name& a, ItemId b) const { return NameOf(*items, b) == a; }
  };

  ItemId Take();

  Items items_;
  std::vector<ItemId> free_;
  absl::flat_hash_set<ItemId, NameHash, NameEqual> by_name_;
  std::uint64_t last_sequence_ = 0;
};

}  // namespace berth::queue
