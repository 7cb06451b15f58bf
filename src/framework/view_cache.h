#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "framework/cycle.h"
#include "framework/plan_cache.h"
#include "framework/profile.h"
#include "framework/view.h"

namespace berth::framework {

struct ViewOptions {
  std::size_t memory_bytes_max = std::size_t{256} << 20;
};

// The views of one profile. A cache: any view may be gone at any time between two attempts.
//
// A view is made when a key comes for the second time: most keys of one-off pods never do, and judging all
// rows without keeping the columns costs less memory traffic. Which keys were seen is remembered in a small
// ring.
class ViewCache {
 public:
  ViewCache(const Profile& profile, const ViewOptions& options) : profile_(profile), options_(options) {}

  // Null: no view for this key yet. A key seen lately gets one, at the cost of those used longest ago. A view
  // that was made with other plans is made anew.
  View* Use(const ViewKey& key, Cycle& cycle, const std::shared_ptr<PlanSet>& plans);
  void Drop(const ViewKey& key);
  // With the plans, before RejectionTable::Reset.
  void clear();
  std::size_t size() const { return by_key_.size(); }
  std::size_t MemoryBytes() const { return memory_bytes_; }

 private:
  struct Entry {
    ViewKey key;
    std::unique_ptr<View> view;
    std::size_t memory_bytes = 0;
  };
  using Entries = std::list<Entry>;  // used last first

  void DropOldest();

  const Profile& profile_;
  const ViewOptions options_;
  Entries entries_;
  absl::flat_hash_map<ViewKey, Entries::iterator> by_key_;  // looked up, never walked
  std::vector<std::size_t> seen_;  // hashes of keys; a false hit makes a view too early, nothing worse
  std::size_t next_seen_ = 0;
  std::size_t memory_bytes_ = 0;
};

}  // namespace berth::framework
