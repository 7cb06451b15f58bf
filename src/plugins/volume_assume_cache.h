#pragma once

#include <fmt/format.h>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/error.h"
#include "cluster/object_table.h"
#include "plugins/volume_claims.h"

namespace berth::plugins {

// Objects as the API server has them, with what was decided about some of them laid over: the next pod must
// not take what this one was given before the server's answer comes back.
//
// 1. What is laid over an object counts while the object is the version that it was made from. Any other
//    version, and a deletion, drops it: the server knows better.
// 2. `changed` is called after every change of what Get answers, with some version of the object.
template <class T>
class AssumeCache {
 public:
  using Ref = std::shared_ptr<const T>;

  // `kind` is its plural, for errors. The table must outlive the cache and takes an observer.
  AssumeCache(cluster::ObjectTable<T>& table, std::string_view kind, std::function<void(const T&)> changed)
      : table_(table), kind_(kind), changed_(std::move(changed)) {
    table.AddObserver([this](const Ref& before, const Ref& after) { OnChange(before, after); });
  }

  // Null: there is none.
  Ref Get(std::string_view namespace_, std::string_view name) const {
    Ref stored = table_.Find(namespace_, name);
    if (!stored || assumed_.empty()) return stored;
    const auto found = assumed_.find(KeyOf(stored->metadata));
    return found != assumed_.end() && IsSameVersion(*found->second, *stored) ? found->second : stored;
  }

  // Fails unless the object is of the version that the table has.
  base::Result<void> Assume(Ref object) {
    const Ref stored = table_.Find(object->metadata.namespace_, object->metadata.name);
    if (!stored) return base::Fail(NotFound(kind_, NameOf(*object)));
    if (!IsSameVersion(*object, *stored)) {
      return base::Fail(fmt::format("\"{}\" is out of sync (stored: {}, assume: {})", NameOf(*object),
                                    stored->metadata.resource_version, object->metadata.resource_version));
    }
    assumed_.insert_or_assign(KeyOf(object->metadata), object);
    changed_(*object);
    return {};
  }

  // Takes back what was assumed, unless that is of another version by now.
  void Restore(const T& object) {
    const auto found = assumed_.find(KeyOf(object.metadata));
    if (found == assumed_.end() || !IsSameVersion(*found->second, object)) return;
    const Ref dropped = std::move(found->second);
    assumed_.erase(found);
    changed_(*dropped);
    if (Ref stored = table_.Find(object.metadata.namespace_, object.metadata.name)) {
      restored_.emplace_back(dropped, std::move(stored));
    }
  }

  // What was taken back since this was last asked, each as it was assumed and as it is again. To pods that
  // looked at it meanwhile that is a change of which no watch will tell.
  std::vector<std::pair<Ref, Ref>> TakeRestored() { return std::exchange(restored_, {}); }

  std::size_t assumed_count() const { return assumed_.size(); }

 private:
  static bool IsSameVersion(const T& a, const T& b) {
    return a.metadata.resource_version == b.metadata.resource_version;
  }
  static std::string NameOf(const T& object) {
    return object.metadata.namespace_.empty() ? object.metadata.name : KeyOf(object.metadata);
  }

  void OnChange(const Ref& before, const Ref& after) {
    const T& object = after ? *after : *before;
    if (const auto found = assumed_.find(KeyOf(object.metadata));
        found != assumed_.end() && !(after && IsSameVersion(*found->second, *after))) {
      assumed_.erase(found);
    }
    changed_(object);
  }

  const cluster::ObjectTable<T>& table_;
  const std::string_view kind_;
  const std::function<void(const T&)> changed_;
  absl::flat_hash_map<std::string, Ref> assumed_;  // by key; looked up, never walked
  std::vector<std::pair<Ref, Ref>> restored_;
};

}  // namespace berth::plugins
