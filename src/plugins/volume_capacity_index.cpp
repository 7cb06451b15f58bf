#include "plugins/volume_capacity_index.h"

#include <optional>

namespace berth::plugins {
namespace {

// The one pair of labels that the topology is; nothing if it is anything else.
std::optional<std::pair<std::string, std::string>> OnlyLabelOf(const api::LabelSelector& topology) {
  if (topology.match_labels.size() != 1 || !topology.match_expressions.empty()) return std::nullopt;
  return *topology.match_labels.begin();
}

}  // namespace

std::optional<std::int64_t> LimitOf(const api::CSIStorageCapacity& capacity) {
  if (capacity.maximum_volume_size) return capacity.maximum_volume_size->Value();
  if (capacity.capacity) return capacity.capacity->Value();
  return std::nullopt;
}

CapacityIndex::CapacityIndex(cluster::ObjectTable<api::CSIStorageCapacity>& table) {
  table.AddObserver([this](const CapacityRef& before, const CapacityRef& after) {
    if (before) Remove(*before);
    if (after) Add(after);
  });
}

void CapacityIndex::Add(const CapacityRef& object) {
  const std::optional<std::int64_t> limit = LimitOf(*object);
  if (!limit || !object->node_topology) return;
  auto topology = api::Selector::Compile(*object->node_topology);
  if (!topology) return;  // reaches no node
  Class& in = classes_[object->storage_class_name];
  const auto label = OnlyLabelOf(*object->node_topology);
  Bucket& bucket = label ? in.by_label[label->first][label->second] : in.others;
  bucket.insert_or_assign(Key{object->metadata.namespace_, object->metadata.name},
                          Entry{object, *limit, *std::move(topology)});
}

void CapacityIndex::Remove(const api::CSIStorageCapacity& object) {
  const auto in = classes_.find(object.storage_class_name);
  if (in == classes_.end() || !object.node_topology) return;
  const Key key{object.metadata.namespace_, object.metadata.name};
  in->second.others.erase(key);
  if (const auto label = OnlyLabelOf(*object.node_topology)) {
    const auto by_value = in->second.by_label.find(label->first);
    if (by_value != in->second.by_label.end()) {
      if (const auto bucket = by_value->second.find(label->second); bucket != by_value->second.end()) {
        bucket->second.erase(key);
        if (bucket->second.empty()) by_value->second.erase(bucket);
      }
      if (by_value->second.empty()) in->second.by_label.erase(by_value);
    }
  }
  if (in->second.others.empty() && in->second.by_label.empty()) classes_.erase(in);
}

CapacityRef CapacityIndex::Find(std::string_view class_name, std::int64_t size,
                                const cluster::LabelView& node) const {
  const auto in = classes_.find(class_name);
  if (in == classes_.end()) return nullptr;
  const Key* best_key = nullptr;
  CapacityRef best;
  const auto consider = [&](const Bucket& bucket) {
    for (const auto& [key, entry] : bucket) {
      if (best_key != nullptr && *best_key < key) return;
      if (entry.limit < size || !entry.topology.Matches(node)) continue;
      best_key = &key;
      best = entry.object;
      return;
    }
  };
  for (const auto& [key, by_value] : in->second.by_label) {
    const std::optional<std::string_view> value = node(key);
    if (!value) continue;
    if (const auto bucket = by_value.find(*value); bucket != by_value.end()) consider(bucket->second);
  }
  consider(in->second.others);
  return best;
}

}  // namespace berth::plugins
