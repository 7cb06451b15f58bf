#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/node_selector.h"
#include "base/change_log.h"
#include "base/ids.h"
#include "base/interner.h"
#include "cluster/cluster.h"

namespace berth::plugins {

using PlaceKey = base::Id<struct PlaceKeyTag>;      // a label that storage goes by
using PlaceValue = base::Id<struct PlaceValueTag>;  // one of its values

// The nodes with one value of one label: a host, a zone.
struct Place {
  PlaceKey key;
  PlaceValue value;

  bool operator==(const Place&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Place& place) {
    return H::combine(std::move(h), place.key, place.value);
  }
};

// Where storage changed, for those who keep what nodes can have.
enum class StorageReach : std::uint8_t { kPlace, kEverywhere, kUnknown };
using StorageLog = base::ChangeLog<Place, StorageReach>;

// Of a selector that one label with a list of values is all of, as that of local and zonal volumes is; null
// for any other.
const api::NodeSelectorRequirement* OnlyLabelOf(const api::NodeSelector& selector);

// Which node is at which place, by the labels that volumes and free storage are told by.
//
// 1. A label is followed from the first time that somebody asks, for good, and there are at most kKeysMax.
// 2. A value has the same id while a node has it or somebody holds it (Acquire). One that came back with
//    another id is news of every node that has it: their labels changed.
//
// A node that changes costs a look-up per label; a new label costs a look at all nodes.
class VolumePlaces {
 public:
  static constexpr std::size_t kKeysMax = 16;

  explicit VolumePlaces(const cluster::Cluster& cluster) : cluster_(cluster) {}

  const cluster::Cluster& cluster() const { return cluster_; }
  // Invalid: too many others are followed.
  PlaceKey Follow(std::string_view label);
  // Invalid: not followed.
  PlaceKey Find(std::string_view label) const;
  // The value is invalid if no node has it and nobody holds it.
  Place Find(PlaceKey key, std::string_view value) const { return {key, At(key).values.Find(value)}; }
  Place Acquire(PlaceKey key, std::string_view value);
  void Acquire(Place place) { keys_[place.key.index()]->values.Acquire(place.value); }
  void Release(Place place) { keys_[place.key.index()]->values.Release(place.value); }

  // By row; rows beyond its end, and those with an invalid value, do not have the label.
  std::span<const PlaceValue> column(PlaceKey key) const { return At(key).column; }
  PlaceValue ValueOf(PlaceKey key, cluster::NodeRow row) const {
    const std::vector<PlaceValue>& column = At(key).column;
    return row.index() < column.size() ? column[row.index()] : PlaceValue();
  }
  // In no order that means anything.
  std::span<const cluster::NodeRow> RowsAt(Place place) const;

  // The labels of the row changed, or whether it exists.
  void OnNodeChanged(cluster::NodeRow row);

 private:
  struct Key {
    std::string label;
    base::Interner<PlaceValue> values;
    std::vector<PlaceValue> column;                   // by row
    std::vector<std::uint32_t> position;              // by row: where it is among those of its value
    std::vector<std::vector<cluster::NodeRow>> rows;  // by PlaceValue
  };

  const Key& At(PlaceKey key) const { return *keys_[key.index()]; }
  void Load(Key& key, cluster::NodeRow row);

  const cluster::Cluster& cluster_;
  std::vector<std::unique_ptr<Key>> keys_;
};

}  // namespace berth::plugins
