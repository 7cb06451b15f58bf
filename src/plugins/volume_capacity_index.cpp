#include "plugins/volume_capacity_index.h"

namespace berth::plugins {

std::optional<std::int64_t> LimitOf(const api::CSIStorageCapacity& capacity) {
  if (capacity.maximum_volume_size) return capacity.maximum_volume_size->Value();
  if (capacity.capacity) return capacity.capacity->Value();
  return std::nullopt;
}

CapacityIndex::CapacityIndex(cluster::ObjectTable<api::CSIStorageCapacity>& table, VolumePlaces& places)
    : places_(places) {
  table.AddObserver([this](const CapacityRef& before, const CapacityRef& after) {
    if (before) Remove(*before);
    if (after) Add(after);
  });
}

Place CapacityIndex::PlaceOf(const api::LabelSelector& topology) {
  if (topology.match_labels.size() != 1 || !topology.match_expressions.empty()) return {};
  const auto& [label, value] = *topology.match_labels.begin();
  const PlaceKey key = places_.Follow(label);
  return key.IsValid() ? places_.Acquire(key, value) : Place();
}

void CapacityIndex::Add(const CapacityRef& object) {
  const std::optional<std::int64_t> limit = LimitOf(*object);
  if (!limit || !object->node_topology) return;
  auto topology = api::Selector::Compile(*object->node_topology);
  if (!topology) return;  // reaches no node
  Class& in = classes_[object->storage_class_name];
  Entry entry{object, *limit, {}};
  Key key{object->metadata.namespace_, object->metadata.name};
  // Held as long as the object is here.
  const Place place = PlaceOf(*object->node_topology);
  if (!place.key.IsValid()) {
    entry.topology = *std::move(topology);
    in.others.insert_or_assign(std::move(key), std::move(entry));
    log_.Append({}, StorageReach::kUnknown);
    return;
  }
  std::unique_ptr<Bucket>& bucket = in.by_label[place.key][place.value];
  if (bucket == nullptr) bucket = std::make_unique<Bucket>();
  bucket->insert_or_assign(std::move(key), std::move(entry));
  log_.Append(place, StorageReach::kPlace);
}

void CapacityIndex::Remove(const api::CSIStorageCapacity& object) {
  const auto in = classes_.find(object.storage_class_name);
  if (in == classes_.end() || !object.node_topology) return;
  Class& of_class = in->second;
  const Key key{object.metadata.namespace_, object.metadata.name};
  if (of_class.others.erase(key) > 0) log_.Append({}, StorageReach::kUnknown);
  const Place place = PlaceOf(*object.node_topology);
  if (place.key.IsValid()) {
    if (const auto by_value = of_class.by_label.find(place.key); by_value != of_class.by_label.end()) {
      const auto bucket = by_value->second.find(place.value);
      if (bucket != by_value->second.end() && bucket->second->erase(key) > 0) {
        log_.Append(place, StorageReach::kPlace);
        if (bucket->second->empty()) by_value->second.erase(bucket);
        places_.Release(place);  // what Add holds
      }
      if (by_value->second.empty()) of_class.by_label.erase(by_value);
    }
    places_.Release(place);
  }
  if (of_class.others.empty() && of_class.by_label.empty()) classes_.erase(in);
}

const CapacityRef* CapacityIndex::Find(std::string_view class_name, std::int64_t size,
                                       cluster::NodeRow row) const {
  const auto in = classes_.find(class_name);
  if (in == classes_.end()) return nullptr;
  const Bucket::value_type* best = nullptr;
  const auto consider = [&](const Bucket& bucket, auto reaches) {
    for (const auto& candidate : bucket) {
      if (best != nullptr && best->first < candidate.first) return;
      if (candidate.second.limit < size || !reaches(candidate.second)) continue;
      best = &candidate;
      return;
    }
  };
  for (const auto& [key, by_value] : in->second.by_label) {
    const PlaceValue value = places_.ValueOf(key, row);
    if (!value.IsValid()) continue;
    if (const auto bucket = by_value.find(value); bucket != by_value.end()) {
      consider(*bucket->second, [](const Entry&) { return true; });
    }
  }
  if (!in->second.others.empty()) {
    const cluster::Cluster& cluster = places_.cluster();
    const auto labels = cluster.labels().View(cluster.nodes().label_set()[row.index()]);
    consider(in->second.others, [&](const Entry& entry) { return entry.topology->Matches(labels); });
  }
  return best == nullptr ? nullptr : &best->second.object;
}

}  // namespace berth::plugins
