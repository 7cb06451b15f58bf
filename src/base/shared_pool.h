#pragma once

#include <algorithm>
#include <cstddef>

#include "absl/container/flat_hash_set.h"

namespace berth::base {

// Gives equal values one allocation for as long as somebody beside the pool uses it; those that nobody uses
// are swept, at a cost that is constant per Intern on average. For one thread.
//
// A Handle is made from a key, such as text, and counts its users: IsUnshared() says that only the pool has
// it. Hash and Equal take handles as well as keys.
template <class Handle, class Hash, class Equal>
class SharedPool {
 public:
  // The key must not be that of an empty handle, which has no users.
  template <class Key>
  Handle Intern(const Key& key) {
    if (const auto found = handles_.find(key); found != handles_.end()) return *found;
    if (handles_.size() >= sweep_at_) Sweep();
    return *handles_.insert(Handle(key)).first;
  }
  std::size_t size() const { return handles_.size(); }

 private:
  static constexpr std::size_t kSweepMin = 64;

  void Sweep() {
    absl::erase_if(handles_, [](const Handle& handle) { return handle.IsUnshared(); });
    sweep_at_ = std::max(kSweepMin, 2 * handles_.size());
  }

  absl::flat_hash_set<Handle, Hash, Equal> handles_;
  std::size_t sweep_at_ = kSweepMin;
};

}  // namespace berth::base
