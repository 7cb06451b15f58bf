#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/btree_map.h"

#include "api/label_selector.h"
#include "api/storage.h"
#include "cluster/labels.h"
#include "cluster/object_table.h"

namespace berth::plugins {

using CapacityRef = std::shared_ptr<const api::CSIStorageCapacity>;

// How large a volume can be, by what the object says; nothing: it does not say.
std::optional<std::int64_t> LimitOf(const api::CSIStorageCapacity& capacity);

// What drivers say about free storage, by class and by the nodes that can reach it. For local storage there
// is an object per node with the node's own label, so a node looks at its own.
class CapacityIndex {
 public:
  // The table must outlive the index and takes an observer.
  explicit CapacityIndex(cluster::ObjectTable<api::CSIStorageCapacity>& table);

  // The first object, by namespace and name, of the class that the node can reach and in which a volume of
  // this size fits. Null: there is none.
  CapacityRef Find(std::string_view class_name, std::int64_t size, const cluster::LabelView& node) const;

 private:
  struct Entry {
    CapacityRef object;
    std::int64_t limit = 0;
    api::Selector topology;
  };
  using Key = std::pair<std::string, std::string>;  // namespace, name
  using Bucket = absl::btree_map<Key, Entry>;
  using ByValue = absl::btree_map<std::string, Bucket, std::less<>>;
  struct Class {
    absl::btree_map<std::string, ByValue, std::less<>> by_label;  // by key, then value
    Bucket others;
  };

  void Add(const CapacityRef& object);
  void Remove(const api::CSIStorageCapacity& object);

  absl::btree_map<std::string, Class, std::less<>> classes_;
};

}  // namespace berth::plugins
