#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <span>
#include <string_view>
#include <utility>

#include "plugins/volume_binding_search.h"

// What the claims of a pod ask for, and which nodes have another answer when storage changes.
namespace berth::plugins {
namespace {

// Texts one after the other, so that no two lists of them look the same.
void AppendPiece(std::string& text, std::string_view piece) {
  fmt::format_to(std::back_inserter(text), "{}:{}", piece.size(), piece);
}

template <class Requirements>
void AppendRequirements(std::string& text, const Requirements& requirements) {
  for (const auto& requirement : requirements) {
    AppendPiece(text, requirement.key);
    AppendPiece(text, requirement.operator_);
    for (const std::string& value : requirement.values) AppendPiece(text, value);
    text += ',';
  }
  text += ';';
}

// Fewer nodes than this are looked at sooner than what they share.
constexpr std::size_t kFewNodes = 8;

}  // namespace

void VolumeSearch::AppendQuestion(const std::optional<api::VolumeNodeAffinity>& affinity) {
  if (!affinity || !affinity->required) return;
  for (const api::NodeSelectorTerm& term : affinity->required->node_selector_terms) {
    AppendRequirements(question_, term.match_expressions);
    AppendRequirements(question_, term.match_fields);
  }
  question_ += '.';
}

void VolumeSearch::AppendQuestion(const Late& late) {
  const api::PersistentVolumeClaimSpec& spec = late.wish.claim->spec;
  AppendPiece(question_, late.class_name);
  AppendPiece(question_, late.wish.request.Canonical());
  AppendPiece(question_, late.selected_node == nullptr ? std::string_view() : *late.selected_node);
  AppendPiece(question_, spec.volume_mode.value_or(""));
  AppendPiece(question_, spec.volume_attributes_class_name.value_or(""));
  for (const std::string& mode : spec.access_modes) AppendPiece(question_, mode);
  question_ += late.tells_capacity ? '!' : ';';
  if (spec.selector) {
    for (const auto& [key, value] : spec.selector->match_labels) {
      AppendPiece(question_, key);
      AppendPiece(question_, value);
    }
    AppendRequirements(question_, spec.selector->match_expressions);
  }
  if (late.storage_class) {
    AppendPiece(question_, late.storage_class->provisioner);
    for (const api::TopologySelectorTerm& topology : late.storage_class->allowed_topologies) {
      for (const api::TopologySelectorLabelRequirement& label : topology.match_label_expressions) {
        AppendPiece(question_, label.key);
        for (const std::string& value : label.values) AppendPiece(question_, value);
        question_ += ',';
      }
      question_ += ';';
    }
  }
  // Nobody follows these, so they are good for as long as no volume changes.
  if (late.has_meant) {
    AppendPiece(question_, late.wish.claim->metadata.uid);
    fmt::format_to(std::back_inserter(question_), "{} at {}", late.wish.claim_key,
                   from_.caches.free_volumes().version());
  }
  question_ += '.';
}

void VolumeSearch::CatchUp(StorageSeen& seen) const {
  seen.smallest.clear();
  seen.volumes = from_.caches.free_volumes().log().version();
  seen.capacities = from_.caches.capacities().log().version();
  seen.migrations = from_.csi_nodes.migration_log().version();
}

bool VolumeSearch::RowsSince(StorageSeen& seen, const std::function<void(cluster::NodeRow)>& visit) {
  bool are_told = true;
  const auto follow = [&](const StorageLog& log, std::uint64_t version, auto is_news) {
    const bool is_covered = log.Since(version, [&](Place place, StorageReach reach) {
      if (!are_told || !is_news(place, reach)) return;
      are_told = reach == StorageReach::kPlace;
      if (!are_told) return;
      for (const cluster::NodeRow row : from_.caches.places().RowsAt(place)) visit(row);
    });
    are_told = are_told && is_covered;
  };
  if (!late_.empty()) {
    follow(from_.caches.free_volumes().log(), seen.volumes,
           [&](Place place, StorageReach reach) { return IsNews(seen, place, reach); });
  }
  if (std::ranges::any_of(late_, &Late::tells_capacity)) {
    follow(from_.caches.capacities().log(), seen.capacities, [](Place, StorageReach) { return true; });
  }
  if (!bound_.empty()) {
    const bool is_covered = from_.csi_nodes.migration_log().Since(
        seen.migrations, [&](cluster::NodeRow row, std::uint32_t) { visit(row); });
    are_told = are_told && is_covered;
  }
  // What was not looked at is not known any more.
  if (!are_told) seen.smallest.clear();
  seen.volumes = from_.caches.free_volumes().log().version();
  seen.capacities = from_.caches.capacities().log().version();
  seen.migrations = from_.csi_nodes.migration_log().version();
  return are_told;
}

bool VolumeSearch::IsNews(StorageSeen& seen, Place place, StorageReach reach) {
  if (reach == StorageReach::kUnknown) return true;
  const bool is_shared =
      reach == StorageReach::kEverywhere || from_.caches.places().RowsAt(place).size() > kFewNodes;
  // Of several claims one may take what another would.
  if (!is_shared || late_.size() != 1) {
    if (!seen.smallest.empty()) seen.smallest.erase(place);
    return true;
  }
  Late& late = late_.front();
  late.volumes = from_.caches.free_volumes().Find(late.class_name);
  std::optional<VolumeFit> fit;
  if (late.volumes != nullptr) {
    fit = reach == StorageReach::kEverywhere ? late.volumes->SmallestEverywhere(late.wish, late.memo)
                                             : late.volumes->SmallestAt(late.wish, place, late.memo);
  }
  if (fit && !fit->size.is_exact()) {
    seen.smallest.erase(place);
    return true;
  }
  constexpr std::int64_t kNothing = -1;
  const std::int64_t bytes = fit ? fit->size.bytes() : kNothing;
  const auto [known, is_new] = seen.smallest.try_emplace(place, bytes);
  return is_new || std::exchange(known->second, bytes) != bytes;
}

bool VolumeSearch::LeaveCandidates(base::Bitset& rows) const {
  const auto keep = [&](std::span<const cluster::NodeRow> kept) {
    std::vector<cluster::NodeRow> left;
    for (const cluster::NodeRow row : kept) {
      if (row.IsValid() && row.index() < rows.size() && rows.Test(row.index())) left.push_back(row);
    }
    rows.ClearAll();
    for (const cluster::NodeRow row : left) rows.Set(row.index());
  };
  for (const Late& late : late_) {
    if (late.selected_node == nullptr) continue;
    const cluster::NodeRow row = from_.cluster.nodes().Find(*late.selected_node);
    keep({&row, 1});
    return true;
  }
  for (const Bound& bound : bound_) {
    if (bound.places.size() != 1) continue;
    keep(from_.caches.places().RowsAt(bound.places.front()));
    return true;
  }
  return false;
}

std::vector<Place> VolumeSearch::PlacesOf(const std::optional<api::VolumeNodeAffinity>& affinity) const {
  if (!affinity || !affinity->required) return {};
  const api::NodeSelectorRequirement* const label = OnlyLabelOf(*affinity->required);
  const PlaceKey key = label == nullptr ? PlaceKey() : from_.caches.places().Find(label->key);
  if (!key.IsValid()) return {};
  std::vector<Place> places;
  places.reserve(label->values.size());
  for (const std::string& value : label->values) places.push_back(from_.caches.places().Find(key, value));
  return places;
}

}  // namespace berth::plugins
