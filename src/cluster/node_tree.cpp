#include "cluster/node_tree.h"

#include <algorithm>

namespace berth::cluster {

void NodeTree::Add(NodeRow row, std::string_view zone_key) {
  if (row.index() >= places_.size()) places_.resize(row.index() + 1);
  if (places_[row.index()].zone.IsValid()) return;
  const ZoneId id = zone_keys_.Intern(zone_key);
  if (id.index() >= zones_.size()) zones_.resize(id.index() + 1);
  Zone& zone = zones_[id.index()];
  if (zone_keys_.References(id) == 1) zone_order_.push_back(id);
  places_[row.index()] = {id, static_cast<std::uint32_t>(zone.rows.size())};
  zone.rows.push_back(row);
  ++size_;
  ++version_;
}

void NodeTree::Remove(NodeRow row) {
  if (row.index() >= places_.size() || !places_[row.index()].zone.IsValid()) return;
  const Place place = places_[row.index()];
  places_[row.index()] = {};
  Zone& zone = zones_[place.zone.index()];
  zone.rows[place.position] = {};
  ++zone.gaps;
  --size_;
  ++version_;
  if (zone_keys_.Release(place.zone)) {
    zone = {};
    std::erase(zone_order_, place.zone);
  } else if (zone.gaps * 2 > zone.rows.size()) {
    Compact(zone);
  }
}

void NodeTree::Update(NodeRow row, std::string_view zone_key) {
  if (row.index() < places_.size() && places_[row.index()].zone.IsValid()) {
    if (zone_keys_.Get(places_[row.index()].zone) == zone_key) return;
    Remove(row);
  }
  Add(row, zone_key);
}

std::span<const NodeRow> NodeTree::Order() const {
  if (order_version_ == version_) return order_;
  order_.clear();
  order_.reserve(size_);
  std::vector<std::size_t> next(zone_order_.size());
  while (order_.size() < size_) {
    for (std::size_t i = 0; i < zone_order_.size(); ++i) {
      const std::vector<NodeRow>& rows = zones_[zone_order_[i].index()].rows;
      while (next[i] < rows.size() && !rows[next[i]].IsValid()) ++next[i];
      if (next[i] < rows.size()) order_.push_back(rows[next[i]++]);
    }
  }
  order_version_ = version_;
  return order_;
}

void NodeTree::Compact(Zone& zone) {
  std::erase(zone.rows, NodeRow());
  zone.gaps = 0;
  for (std::uint32_t position = 0; position < zone.rows.size(); ++position) {
    places_[zone.rows[position].index()].position = position;
  }
}

std::string ZoneKey(const api::StringMap& labels) {
  const auto first_of = [&](std::string_view older, std::string_view newer) -> std::string_view {
    if (const std::string* value = labels.find(older)) return *value;
    const std::string* value = labels.find(newer);
    return value != nullptr ? std::string_view(*value) : std::string_view();
  };
  const std::string_view region =
      first_of("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region");
  const std::string_view zone =
      first_of("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone");
  if (region.empty() && zone.empty()) return "";
  std::string key(region);
  key += ':';
  key += '\0';
  key += ':';
  key += zone;
  return key;
}

}  // namespace berth::cluster
