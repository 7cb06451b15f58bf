#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"

namespace berth::cluster {

// The objects of one kind, by namespace and name. Objects are immutable and shared.
template <class T>
class ObjectTable {
 public:
  using Ref = std::shared_ptr<const T>;
  // Called after each change. Null before: the object came; null after: it is gone.
  using Observer = std::function<void(const Ref& before, const Ref& after)>;

  // For an index that is kept in step; it lives as long as the table.
  void AddObserver(Observer observer) { observers_.push_back(std::move(observer)); }

  // Add and update alike. Returns what was there.
  Ref Set(Ref object) {
    const Key key = KeyOf(*object);
    Ref before = Take(key);
    const auto [at, inserted] = objects_.emplace(key, std::move(object));
    Changed(before, at->second);
    return before;
  }

  // Returns what was there.
  Ref Remove(std::string_view namespace_, std::string_view name) {
    Ref before = Take({namespace_, name});
    if (before) Changed(before, nullptr);
    return before;
  }

  // Null: there is none. Cluster-wide kinds have no namespace.
  Ref Find(std::string_view namespace_, std::string_view name) const {
    const auto found = objects_.find(Key{namespace_, name});
    return found == objects_.end() ? nullptr : found->second;
  }
  Ref Find(std::string_view name) const { return Find({}, name); }

  // Calls visit(object) for each, ascending by namespace, then name.
  template <class F>
  void ForEach(F&& visit) const {
    for (const auto& [key, object] : objects_) visit(object);
  }

  std::size_t size() const { return objects_.size(); }
  bool empty() const { return objects_.empty(); }
  // Grows with every change.
  std::uint64_t version() const { return version_; }

 private:
  // Views of the object's own names: it is held beside them.
  using Key = std::pair<std::string_view, std::string_view>;
  static Key KeyOf(const T& object) { return {object.metadata.namespace_, object.metadata.name}; }

  Ref Take(Key key) {
    const auto found = objects_.find(key);
    if (found == objects_.end()) return nullptr;
    Ref object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  void Changed(const Ref& before, const Ref& after) {
    ++version_;
    for (const Observer& observer : observers_) observer(before, after);
  }

  absl::btree_map<Key, Ref> objects_;
  std::uint64_t version_ = 0;
  std::vector<Observer> observers_;
};

}  // namespace berth::cluster
