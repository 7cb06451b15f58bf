#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"

#include "api/label_selector.h"
#include "api/storage.h"
#include "cluster/object_table.h"
#include "plugins/volume_places.h"

namespace berth::plugins {

using CapacityRef = std::shared_ptr<const api::CSIStorageCapacity>;

// How large a volume can be, by what the object says; nothing: it does not say.
std::optional<std::int64_t> LimitOf(const api::CSIStorageCapacity& capacity);

// What drivers say about free storage, by class and by the nodes that can reach it. For local storage there
// is an object per node with the node's own label, so a node looks at its own.
class CapacityIndex {
 public:
  // The table and the places must outlive the index; the table takes an observer.
  CapacityIndex(cluster::ObjectTable<api::CSIStorageCapacity>& table, VolumePlaces& places);

  // The first object, by namespace and name, of the class that the node can reach and in which a volume of
  // this size fits. Null: there is none. Good until an object changes.
  const CapacityRef* Find(std::string_view class_name, std::int64_t size, cluster::NodeRow row) const;
  // Where free storage changed.
  const StorageLog& log() const { return log_; }

 private:
  struct Entry {
    CapacityRef object;
    std::int64_t limit = 0;
    std::optional<api::Selector> topology;  // nothing: the bucket says it
  };
  using Key = std::pair<std::string, std::string>;  // namespace, name
  using Bucket = absl::btree_map<Key, Entry>;
  // Looked up, never walked.
  using ByValue = absl::flat_hash_map<PlaceValue, std::unique_ptr<Bucket>>;
  struct Class {
    absl::btree_map<PlaceKey, ByValue> by_label;
    Bucket others;
  };
  static constexpr std::size_t kLogCapacity = 1 << 12;

  void Add(const CapacityRef& object);
  void Remove(const api::CSIStorageCapacity& object);
  // Invalid: no single label tells it.
  Place PlaceOf(const api::LabelSelector& topology);

  VolumePlaces& places_;
  StorageLog log_{kLogCapacity};
  absl::btree_map<std::string, Class, std::less<>> classes_;
};

}  // namespace berth::plugins
