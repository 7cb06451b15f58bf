#include "plugins/volume_places.h"

#include <algorithm>
#include <optional>

namespace berth::plugins {

const api::NodeSelectorRequirement* OnlyLabelOf(const api::NodeSelector& selector) {
  if (selector.node_selector_terms.size() != 1) return nullptr;
  const api::NodeSelectorTerm& term = selector.node_selector_terms.front();
  if (term.match_expressions.size() != 1 || !term.match_fields.empty()) return nullptr;
  const api::NodeSelectorRequirement& expression = term.match_expressions.front();
  return expression.operator_ == "In" && !expression.values.empty() ? &expression : nullptr;
}

PlaceKey VolumePlaces::Find(std::string_view label) const {
  const auto found = std::ranges::find_if(keys_, [&](const auto& key) { return key->label == label; });
  return found == keys_.end() ? PlaceKey() : PlaceKey(static_cast<std::uint32_t>(found - keys_.begin()));
}

PlaceKey VolumePlaces::Follow(std::string_view label) {
  if (const PlaceKey known = Find(label); known.IsValid() || keys_.size() == kKeysMax) return known;
  Key& key = *keys_.emplace_back(std::make_unique<Key>());
  key.label = label;
  cluster_.nodes().existing().ForEach(
      [&](std::size_t bit) { Load(key, cluster::NodeRow(static_cast<std::uint32_t>(bit))); });
  return PlaceKey(static_cast<std::uint32_t>(keys_.size() - 1));
}

Place VolumePlaces::Acquire(PlaceKey key, std::string_view value) {
  return {key, keys_[key.index()]->values.Intern(value)};
}

std::span<const cluster::NodeRow> VolumePlaces::RowsAt(Place place) const {
  const auto& rows = At(place.key).rows;
  if (!place.value.IsValid() || place.value.index() >= rows.size()) return {};
  return rows[place.value.index()];
}

void VolumePlaces::OnNodeChanged(cluster::NodeRow row) {
  for (const auto& key : keys_) Load(*key, row);
}

void VolumePlaces::Load(Key& key, cluster::NodeRow row) {
  const cluster::NodeTable& nodes = cluster_.nodes();
  std::optional<std::string_view> text;
  if (nodes.IsLive(row) && nodes.exists(row)) {
    text = cluster_.labels().View(nodes.label_set()[row.index()])(key.label);
  }
  if (row.index() >= key.column.size()) {
    if (!text) return;
    key.column.resize(row.index() + 1);
    key.position.resize(row.index() + 1);
  }
  PlaceValue& value = key.column[row.index()];
  if (value.IsValid()) {
    if (text && key.values.Get(value) == *text) return;
    std::vector<cluster::NodeRow>& rows = key.rows[value.index()];
    const std::uint32_t at = key.position[row.index()];
    rows[at] = rows.back();
    key.position[rows[at].index()] = at;
    rows.pop_back();
    key.values.Release(value);
    value = PlaceValue();
  }
  if (!text) return;
  value = key.values.Intern(*text);
  if (value.index() >= key.rows.size()) key.rows.resize(value.index() + 1);
  std::vector<cluster::NodeRow>& rows = key.rows[value.index()];
  key.position[row.index()] = static_cast<std::uint32_t>(rows.size());
  rows.push_back(row);
}

}  // namespace berth::plugins
