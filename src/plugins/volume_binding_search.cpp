#include "plugins/volume_binding_search.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>

#include "absl/container/inlined_vector.h"

#include "cluster/object_store.h"
#include "plugins/resource_allocation.h"

namespace berth::plugins {
namespace {

api::NodeMatcher Compile(const api::NodeSelector& selector) { return api::NodeMatcher::Compile(selector); }

NodeLabelTerms TermsOf(const std::optional<api::VolumeNodeAffinity>& affinity,
                       const cluster::LabelTable& labels) {
  if (!affinity || !affinity->required) return {};
  return {Compile(*affinity->required), labels};
}

// The same rules as for terms of a node selector: a term that is wrong or empty matches no node.
NodeLabelTerms TermsOf(const std::vector<api::TopologySelectorTerm>& topologies,
                       const cluster::LabelTable& labels) {
  if (topologies.empty()) return {};
  api::NodeSelector selector;
  for (const api::TopologySelectorTerm& topology : topologies) {
    api::NodeSelectorTerm& term = selector.node_selector_terms.emplace_back();
    for (const api::TopologySelectorLabelRequirement& label : topology.match_label_expressions) {
      term.match_expressions.push_back({label.key, "In", label.values});
    }
  }
  return {Compile(selector), labels};
}

std::string TranslationError(const base::Error& error) {
  return fmt::format("could not translate pv: {}", error.message);
}

}  // namespace

base::Result<PodClaims> ClassifyClaims(const cluster::Cluster& cluster, const VolumeCaches& caches,
                                       const api::PodRecord& pod) {
  PodClaims claims;
  for (const PodVolume& volume : VolumesOf(pod)) {
    if (volume.kind == ClaimKind::kNone) continue;
    ClaimRef claim = caches.claims().Get(pod.namespace_, volume.claim);
    if (!claim) {
      const std::string key = KeyOf(pod.namespace_, volume.claim);
      return base::Fail(
          fmt::format("error getting PVC \"{}\": {}", key, NotFound("persistentvolumeclaims", key)));
    }
    if (volume.kind == ClaimKind::kEphemeral) {
      if (const auto owned = CheckOwner(pod, *claim); !owned) return std::unexpected(owned.error());
    }
    if (IsFullyBound(*claim)) {
      claims.bound.push_back(std::move(claim));
      continue;
    }
    const base::Result<bool> late = BindsLate(cluster, *claim);
    if (!late) return std::unexpected(late.error());
    if (*late && claim->spec.volume_name.empty()) {
      claims.late.push_back(std::move(claim));
    } else {
      claims.has_unbound = true;
    }
  }
  return claims;
}

VolumeSearch::VolumeSearch(const Sources& sources, PodClaims claims) : from_(sources) {
  for (const ClaimRef& claim : claims.bound) bound_.push_back(Prepare(*claim));
  for (ClaimRef& claim : claims.late) {
    late_.push_back(PrepareLate(std::move(claim)));
    late_.back().memo = ClassVolumes::Memo(claims.late.size());
    AppendQuestion(late_.back());
  }
  by_size_.resize(late_.size());
  std::iota(by_size_.begin(), by_size_.end(), std::size_t{0});
  std::ranges::stable_sort(by_size_, [&](std::size_t a, std::size_t b) {
    return late_[a].wish.request.Compare(late_[b].wish.request) < 0;
  });
  Refresh();
}

VolumeSearch::Bound VolumeSearch::Prepare(const api::PersistentVolumeClaim& claim) {
  Bound bound;
  const VolumeRef volume = from_.caches.volumes().Get({}, claim.spec.volume_name);
  if (!volume) {
    question_ += "missing.";
    return bound;
  }
  const cluster::LabelTable& labels = from_.cluster.labels();
  bound.exists = true;
  bound.affinity = TermsOf(volume->spec.node_affinity, labels);
  AppendQuestion(volume->spec.node_affinity);
  const std::optional<InTreePlugin> plugin = InTreePluginOf(volume->spec.persistent_volume_source);
  if (!plugin || !IsMigrated(*plugin)) {
    bound.places = PlacesOf(volume->spec.node_affinity);
    return bound;
  }
  bound.plugin = BitOf(*plugin);
  if (const auto translated = TranslateToCsi(*plugin, *volume); !translated) {
    bound.translation_error = TranslationError(translated.error());
    fmt::format_to(std::back_inserter(question_), "wrong on {}.", bound.plugin);
    return bound;
  }
  const std::optional<api::VolumeNodeAffinity> affinity = TranslateAffinity(*plugin, *volume);
  bound.translated = TermsOf(affinity, labels);
  if (bound.translated.MatchesEverything() && bound.affinity.MatchesEverything()) return bound;
  fmt::format_to(std::back_inserter(question_), "on {}:", bound.plugin);
  AppendQuestion(affinity);
  return bound;
}

VolumeSearch::Late VolumeSearch::PrepareLate(ClaimRef claim) const {
  Late late;
  late.class_name = ClassOf(*claim);
  late.selected_node = claim->metadata.annotations.find(kSelectedNode);
  if (const api::Quantity* const request = RequestOf(*claim)) late.wish.request = *request;
  if (claim->spec.selector) {
    auto selector = api::Selector::Compile(*claim->spec.selector);
    if (selector) {
      late.wish.selector = *std::move(selector);
    } else {
      late.selector_error = fmt::format("error creating internal label selector for claim: {}: {}",
                                        KeyOf(claim->metadata), selector.error().message);
    }
  }
  const cluster::ObjectStore& objects = from_.cluster.objects();
  if (!late.class_name.empty()) late.storage_class = objects.Of<api::StorageClass>().Find(late.class_name);
  if (late.storage_class) {
    late.topologies = TermsOf(late.storage_class->allowed_topologies, from_.cluster.labels());
    const auto driver = objects.Of<api::CSIDriver>().Find(late.storage_class->provisioner);
    late.tells_capacity =
        driver && driver->spec.storage_capacity.value_or(false) && RequestOf(*claim) != nullptr;
  }
  late.wish.claim_key = KeyOf(claim->metadata);
  late.wish.claim = std::move(claim);
  const ClassVolumes* const volumes = from_.caches.free_volumes().Find(late.class_name);
  late.has_meant = volumes != nullptr && volumes->HasMeantFor(late.wish.claim_key);
  return late;
}

void VolumeSearch::Refresh() {
  for (Late& late : late_) {
    late.volumes = from_.caches.free_volumes().Find(late.class_name);
    late.memo.Clear();
  }
}

bool VolumeSearch::FitsEverywhere() const {
  return HasAll() && std::ranges::all_of(bound_, [](const Bound& bound) {
           return bound.exists && bound.affinity.MatchesEverything() && bound.translation_error.empty() &&
                  bound.translated.MatchesEverything();
         });
}

base::Result<VolumeConflicts> VolumeSearch::JudgeBound(cluster::NodeRow row) const {
  const cluster::LabelTable& labels = from_.cluster.labels();
  const cluster::LabelSetId set = from_.cluster.nodes().label_set()[row.index()];
  const InTreePlugins migrated = from_.csi_nodes.Migrated(row);
  for (const Bound& bound : bound_) {
    if (!bound.exists) return kNoVolume;
    const bool translate = (bound.plugin & migrated) != 0;
    if (translate && !bound.translation_error.empty()) return base::Fail(bound.translation_error);
    if (!(translate ? bound.translated : bound.affinity).Matches(labels, set)) return kNodeConflict;
  }
  return VolumeConflicts{0};
}

base::Result<VolumeConflicts> VolumeSearch::Judge(cluster::NodeRow row, VolumeChoice* choice) {
  if (choice != nullptr) choice->clear();
  base::Result<VolumeConflicts> conflicts = JudgeBound(row);
  if (!conflicts || late_.empty()) return conflicts;
  to_provision_.clear();
  taken_.clear();
  for (const Late& late : late_) {
    if (late.selected_node == nullptr) continue;
    // A volume is being made for another node; nothing else matters.
    if (*late.selected_node != from_.cluster.nodes().name(row)) {
      return static_cast<VolumeConflicts>(*conflicts | kBindConflict);
    }
    to_provision_.push_back(&late);
  }
  for (const std::size_t position : by_size_) {
    Late& late = late_[position];
    if (late.selected_node != nullptr) continue;
    if (!late.selector_error.empty()) return base::Fail(late.selector_error);
    std::optional<VolumeFit> fit;
    if (late.volumes != nullptr) fit = late.volumes->Match(late.wish, row, taken_, late.memo);
    if (!fit) {
      to_provision_.push_back(&late);
      continue;
    }
    if (late_.size() > 1) taken_.push_back(*fit->volume);
    if (choice != nullptr) choice->bindings.push_back({&late.wish, fit->volume, fit->size.bytes()});
  }
  const base::Result<VolumeConflicts> provisioned = Provision(row, choice);
  if (!provisioned) return provisioned;
  return static_cast<VolumeConflicts>(*conflicts | *provisioned);
}

base::Result<VolumeConflicts> VolumeSearch::Provision(cluster::NodeRow row, VolumeChoice* choice) const {
  const cluster::LabelTable& labels = from_.cluster.labels();
  const cluster::LabelSetId set = from_.cluster.nodes().label_set()[row.index()];
  for (const Late* const late : to_provision_) {
    const api::PersistentVolumeClaim& claim = *late->wish.claim;
    if (late->class_name.empty()) {
      return base::Fail(fmt::format("no class for claim \"{}\"", KeyOf(claim.metadata)));
    }
    if (!late->storage_class) {
      return base::Fail(fmt::format("failed to find storage class \"{}\"", late->class_name));
    }
    const std::string& provisioner = late->storage_class->provisioner;
    if (provisioner.empty() || provisioner == kNoProvisioner || !late->topologies.Matches(labels, set)) {
      if (choice != nullptr) choice->provisions.clear();
      return kBindConflict;
    }
    const CapacityRef* capacity = nullptr;
    if (late->tells_capacity) {
      capacity = from_.caches.capacities().Find(late->class_name, late->wish.request.Value(), row);
      if (capacity == nullptr) {
        if (choice != nullptr) choice->provisions.clear();
        return kNoSpace;
      }
    }
    if (choice != nullptr) choice->provisions.push_back({&late->wish, capacity});
  }
  return VolumeConflicts{0};
}

std::int64_t ScoreOf(const VolumeChoice& choice, std::span<const framework::ShapePoint> shape) {
  struct Use {
    std::string_view class_name;
    std::int64_t requested = 0;
    std::int64_t capacity = 0;
  };
  absl::InlinedVector<Use, 4> uses;
  const auto use_of = [&](std::string_view class_name) -> Use& {
    const auto found = std::ranges::find(uses, class_name, &Use::class_name);
    return found != uses.end() ? *found : uses.emplace_back(Use{class_name});
  };
  // Volumes that exist say more than storage of which a part will be taken: with one of them only they count.
  if (choice.bindings.size() == 1) {
    const VolumeChoice::Static& only = choice.bindings.front();
    uses.push_back({{}, only.wish->request.Value(), only.capacity});
  } else {
    for (const VolumeChoice::Static& binding : choice.bindings) {
      Use& use = use_of((*binding.volume)->spec.storage_class_name);
      use.requested = WrappingAdd(use.requested, binding.wish->request.Value());
      use.capacity = WrappingAdd(use.capacity, binding.capacity);
    }
  }
  if (choice.bindings.empty()) {
    for (const VolumeChoice::Dynamic& provision : choice.provisions) {
      if (provision.capacity == nullptr) continue;
      Use& use = use_of(ClassOf(*provision.wish->claim));
      use.requested = WrappingAdd(use.requested, provision.wish->request.Value());
      const auto& capacity = (*provision.capacity)->capacity;
      use.capacity = capacity ? capacity->Value() : 0;
    }
  }
  if (uses.empty()) return 0;
  std::int64_t sum = 0;
  for (const Use& use : uses) {
    std::int64_t utilization = 100;
    if (use.capacity != 0 && use.requested <= use.capacity) {
      // In 128 bits: a hundred times 100 PB is more than 64 bits hold.
      utilization = static_cast<std::int64_t>(static_cast<__int128>(use.requested) * 100 / use.capacity);
    }
    sum += ShapeScore(shape, utilization);
  }
  return static_cast<std::int64_t>(std::round(static_cast<double>(sum) / static_cast<double>(uses.size())));
}

base::Result<void> CheckAffinity(const api::PersistentVolume& volume, InTreePlugins migrated,
                                 const cluster::LabelView& node) {
  std::optional<api::VolumeNodeAffinity> affinity = volume.spec.node_affinity;
  const std::optional<InTreePlugin> plugin = InTreePluginOf(volume.spec.persistent_volume_source);
  if (plugin && (BitOf(*plugin) & migrated) != 0) affinity = TranslateAffinity(*plugin, volume);
  if (!affinity || !affinity->required) return {};
  const base::Result<bool> matches = Compile(*affinity->required).Match("", node);
  if (!matches) return std::unexpected(matches.error());
  if (!*matches) return base::Fail("no matching NodeSelectorTerms");
  return {};
}

}  // namespace berth::plugins
