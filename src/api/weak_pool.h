#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"

namespace berth::api {

// Gives equal values one allocation, for as long as somebody uses it. The pool itself keeps nothing alive: a
// value goes away with its last user, on whatever thread that is, and its entry is swept later, at a cost
// that is constant per Intern() on average. The pool is for one thread.
template <class T>
class WeakPool {
 public:
  // `hash` is equal for equal values.
  std::shared_ptr<const T> Intern(T&& value, std::size_t hash) {
    if (const auto found = entries_.find(Key{value, hash}); found != entries_.end()) {
      // The last user may be letting go right now.
      if (std::shared_ptr<const T> shared = found->value.lock()) return shared;
    }
    if (entries_.size() >= sweep_at_) Sweep();
    // Not make_shared: its one allocation would stay until the entry is swept.
    std::shared_ptr<const T> shared(std::make_unique<const T>(std::move(value)));
    entries_.insert(Entry{hash, shared});
    return shared;
  }

  // Live entries and those not swept yet: never more than twice the most that lived at the last sweep, or a
  // few.
  std::size_t entry_count() const { return entries_.size(); }

 private:
  static constexpr std::size_t kSweepMin = 64;

  struct Entry {
    std::size_t hash;
    std::weak_ptr<const T> value;
  };
  struct Key {
    const T& value;
    std::size_t hash;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Entry& entry) const { return entry.hash; }
    std::size_t operator()(const Key& key) const { return key.hash; }
  };
  struct Equal {
    using is_transparent = void;
    // Entries are made only for values that have none.
    bool operator()(const Entry& a, const Entry& b) const {
      return !a.value.owner_before(b.value) && !b.value.owner_before(a.value);
    }
    bool operator()(const Entry& entry, const Key& key) const {
      if (entry.hash != key.hash) return false;
      const std::shared_ptr<const T> shared = entry.value.lock();
      return shared != nullptr && *shared == key.value;
    }
    bool operator()(const Key& key, const Entry& entry) const { return (*this)(entry, key); }
  };

  void Sweep() {
    absl::erase_if(entries_, [](const Entry& entry) { return entry.value.expired(); });
    sweep_at_ = std::max(kSweepMin, 2 * entries_.size());
  }

  absl::flat_hash_set<Entry, Hash, Equal> entries_;
  std::size_t sweep_at_ = kSweepMin;
};

}  // namespace berth::api
