#include "framework/view_cache.h"

#include <algorithm>

#include "absl/hash/hash.h"

namespace berth::framework {
namespace {

constexpr std::size_t kSeenMax = 512;

}  // namespace

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

bool ViewCache::WasSeen(const ViewKey& key) {
  const std::size_t hash = absl::HashOf(key);
  if (std::ranges::find(seen_, hash) != seen_.end()) return true;
  if (seen_.size() < kSeenMax) {
    seen_.push_back(hash);
  } else {
    seen_[next_seen_] = hash;
    next_seen_ = (next_seen_ + 1) % kSeenMax;
  }
  return false;
}

void ViewCache::Insert(const ViewKey& key, std::unique_ptr<View> view) {
  Drop(key);
  entries_.push_front({key, std::move(view), 0});
  by_key_[key] = entries_.begin();
  Weigh(entries_.front());
  while (memory_bytes_ > options_.memory_bytes_max && entries_.size() > 1) Erase(std::prev(entries_.end()));
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
  next_seen_ = 0;
  memory_bytes_ = 0;
}

}  // namespace berth::framework
