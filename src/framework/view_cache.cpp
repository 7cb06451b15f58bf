#include "framework/view_cache.h"

#include <algorithm>
#include <utility>

#include "absl/hash/hash.h"

namespace berth::framework {

std::size_t ViewBudget(std::size_t node_count) {
  constexpr std::size_t kBytesPerNode = 16 << 10;
  constexpr std::size_t kMin = std::size_t{256} << 20;
  constexpr std::size_t kMax = std::size_t{2} << 30;
  return std::clamp(node_count * kBytesPerNode, kMin, kMax);
}

View* ViewCache::Find(const ViewKey& key, const PlanSet& plans) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) return nullptr;
  const Entries::iterator entry = found->second;
  if (entry->view->plans().get() != &plans) {
    Erase(entry);
    return nullptr;
  }
  entries_.splice(entries_.begin(), entries_, entry);
  Weigh(*entry);
  return entry->view.get();
}

bool ViewCache::WasSeen(const ViewKey& key) { return seen_.Add(absl::HashOf(key)); }

void ViewCache::Insert(const ViewKey& key, std::unique_ptr<View> view, std::size_t node_count) {
  Drop(key);
  entries_.push_front({key, std::move(view), 0});
  by_key_[key] = entries_.begin();
  Weigh(entries_.front());
  const std::size_t budget = options_.memory_bytes_max.value_or(ViewBudget(node_count));
  while (memory_bytes_ > budget && entries_.size() > 1) Erase(std::prev(entries_.end()));
}

void ViewCache::Weigh(Entry& entry) {
  memory_bytes_ -= entry.memory_bytes;
  entry.memory_bytes = entry.view->MemoryBytes();
  memory_bytes_ += entry.memory_bytes;
}

void ViewCache::Erase(Entries::iterator entry) {
  memory_bytes_ -= entry->memory_bytes;
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

void ViewCache::Drop(const ViewKey& key) {
  if (const auto found = by_key_.find(key); found != by_key_.end()) Erase(found->second);
}

void ViewCache::clear() {
  entries_.clear();
  by_key_.clear();
  seen_.clear();
  memory_bytes_ = 0;
}

}  // namespace berth::framework
