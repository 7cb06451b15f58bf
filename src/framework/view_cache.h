#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"

#include "framework/plan.h"
#include "framework/plan_cache.h"
#include "framework/seen_keys.h"
#include "framework/view.h"

namespace berth::framework {

// Pods that cannot be told apart by any kept column of the profile.
struct ViewKey {
  PlanKey plans;
  bool resize_deferred = false;
  Scope scope;

  bool operator==(const ViewKey&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const ViewKey& k) {
    return H::combine(std::move(h), k.plans, k.resize_deferred, k.scope);
  }
};

struct ViewOptions {
  // 0: nothing is kept. Nothing: as the number of nodes says, see ViewBudget.
  std::optional<std::size_t> memory_bytes_max = std::nullopt;
};

// What views may take in a cluster of so many nodes: room for the views of about a thousand templates, at
// least 256 MiB and at most 2 GiB.
std::size_t ViewBudget(std::size_t node_count);

// The views of one profile. A cache: any view may be gone at any time between two attempts.
//
// A view is kept when its key comes for the second time: most keys of one-off pods never do.
class ViewCache {
 public:
  explicit ViewCache(const ViewOptions& options) : options_(options) {}

  // Null: there is none, or it was made with other plans. The one that is found counts as used.
  View* Find(const ViewKey& key, const PlanSet& plans);
  // Whether the key was seen lately; from now on it was.
  bool WasSeen(const ViewKey& key);
  // The views that were used longest ago go, until it fits; this one stays in any case.
  void Insert(const ViewKey& key, std::unique_ptr<View> view, std::size_t node_count);
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

  void Erase(Entries::iterator entry);
  void Weigh(Entry& entry);

  const ViewOptions options_;
  Entries entries_;
  absl::flat_hash_map<ViewKey, Entries::iterator> by_key_;  // looked up, never walked
  SeenKeys seen_;
  std::size_t memory_bytes_ = 0;
};

}  // namespace berth::framework
