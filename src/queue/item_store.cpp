#include "queue/item_store.h"

namespace berth::queue {

ItemId ItemStore::Take() {
  ItemId id;
  if (free_.empty()) {
    id = ItemId(static_cast<std::uint32_t>(items_.size()));
    items_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  items_[id.index()].sequence = ++last_sequence_;
  return id;
}

ItemId ItemStore::AddPod(cluster::PodRecordRef record) {
  const ItemId id = Take();
  items_[id.index()].record = std::move(record);
  const bool is_new = by_name_.insert(id).second;
  BERTH_CHECK(is_new);
  return id;
}

ItemId ItemStore::AddGroup(GroupId root) {
  const ItemId id = Take();
  items_[id.index()].group = std::make_unique<GroupMembers>();
  items_[id.index()].group->root = root;
  return id;
}

void ItemStore::Free(ItemId id) {
  Item& item = items_[id.index()];
  if (item.record) by_name_.erase(id);
  item = Item();
  free_.push_back(id);
}

void ItemStore::ReplaceRecord(ItemId id, cluster::PodRecordRef record) {
  Item& item = items_[id.index()];
  // The table hashes through the record, so a pod whose name changed, which no API server allows, must leave
  // it first.
  by_name_.erase(id);
  item.record = std::move(record);
  by_name_.insert(id);
}

ItemId ItemStore::Find(std::string_view namespace_, std::string_view name) const {
  const auto found = by_name_.find(Name{namespace_, name});
  return found == by_name_.end() ? ItemId() : *found;
}

}  // namespace berth::queue
