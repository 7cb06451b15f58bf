#include "queue/waiting_index.h"

#include "base/check.h"

namespace berth::queue {
namespace {

// Below this a sweep is not worth its walk.
constexpr std::size_t kEmptyClassesMin = 64;

}  // namespace

ClassId WaitingIndex::Find(const ClassKey& key) {
  const auto found = by_key_.find(key);
  if (found != by_key_.end()) return found->second;
  ClassId id;
  if (free_.empty()) {
    id = ClassId(static_cast<std::uint32_t>(classes_.size()));
    classes_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  classes_[id.index()].key = key;
  by_key_.emplace(key, id);
  ++empty_count_;
  if (key.always) always_.push_back(id);
  (key.unschedulable | key.pending).ForEach([&](PluginId plugin) {
    const auto index = static_cast<std::size_t>(plugin);
    if (index >= by_plugin_.size()) by_plugin_.resize(index + 1);
    by_plugin_[index].push_back(id);
  });
  return id;
}

void WaitingIndex::Insert(ItemStore& items, ItemId id, const ClassKey& key) {
  const ClassId class_id = Find(key);
  Class& at = classes_[class_id.index()];
  if (at.items.empty()) --empty_count_;
  items[id].waiting_class = class_id;
  items[id].class_position = static_cast<std::uint32_t>(at.items.size());
  at.items.push_back(id);
}

void WaitingIndex::Remove(ItemStore& items, ItemId id) {
  Item& item = items[id];
  Class& at = classes_[item.waiting_class.index()];
  BERTH_DCHECK(at.items[item.class_position] == id);
  const ItemId last = at.items.back();
  at.items[item.class_position] = last;
  items[last].class_position = item.class_position;
  at.items.pop_back();
  item.waiting_class = ClassId();
  if (!at.items.empty()) return;
  ++empty_count_;
  if (empty_count_ >= kEmptyClassesMin && empty_count_ * 2 > by_key_.size()) Sweep();
}

void WaitingIndex::Sweep() {
  const auto is_empty = [this](ClassId id) { return classes_[id.index()].items.empty(); };
  std::erase_if(always_, is_empty);
  // house: hash-order: an array, by plugin
  for (std::vector<ClassId>& ids : by_plugin_) std::erase_if(ids, is_empty);
  for (std::uint32_t i = 0; i < classes_.size(); ++i) {
    const ClassId id(i);
    if (!is_empty(id)) continue;
    const auto found = by_key_.find(classes_[i].key);
    // Slots that were free before have keys of nobody.
    if (found == by_key_.end() || found->second != id) continue;
    by_key_.erase(found);
    classes_[i] = Class();
    free_.push_back(id);
  }
  empty_count_ = 0;
}

}  // namespace berth::queue
