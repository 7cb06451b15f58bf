#include "plugins/volume_zone.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>
#include <string>

#include "cluster/object_store.h"
#include "plugins/hint_objects.h"
#include "plugins/pod_signatures.h"
#include "plugins/volume_claims.h"
#include "plugins/volume_hints.h"

namespace berth::plugins {
namespace {

using framework::Code;
using framework::Hint;
using framework::HintInput;
using framework::Status;

constexpr framework::ReasonText kVolumeZoneReasons[] = {
    {Code::kUnschedulableAndUnresolvable, "node(s) had no available volume zone"},
};

// In the order in which a volume's labels are looked at. A node that lacks an old label may have the one that
// took its place.
struct PlaceLabel {
  std::string_view key;
  std::string_view successor;  // empty: there is none
};
constexpr PlaceLabel kPlaceLabels[] = {
    {kBetaZoneLabel, kZoneLabel}, {kBetaRegionLabel, kRegionLabel}, {kZoneLabel, {}}, {kRegionLabel, {}}};

// A label of a volume: nodes must have one of the values.
struct Place {
  const PlaceLabel* label;
  std::set<std::string> values;

  bool operator==(const Place&) const = default;
};

struct Places final : framework::CycleData {
  std::vector<Place> places;
};

// Empty if some piece is: then the label says nothing.
std::set<std::string> PlaceNames(std::string_view text) {
  std::set<std::string> names;
  for (const std::string_view piece : Split(text, kZoneSeparator)) {
    const std::string_view name = Trimmed(piece);
    if (name.empty()) return {};
    names.emplace(name);
  }
  return names;
}

void AppendPlaces(const api::PersistentVolume& volume, std::vector<Place>& places) {
  for (const PlaceLabel& label : kPlaceLabels) {
    const std::string* const text = volume.metadata.labels.find(label.key);
    if (text == nullptr) continue;
    std::set<std::string> names = PlaceNames(*text);
    if (!names.empty()) places.push_back({&label, std::move(names)});
  }
}

// Why a claim without a volume keeps the pod waiting; success if a volume is still to be found.
Status JudgeUnbound(const cluster::Cluster& cluster, const api::PersistentVolumeClaim& claim) {
  const std::string_view class_name = ClassOf(claim);
  if (class_name.empty()) {
    return Status::Unresolvable("PersistentVolumeClaim had no pv name and storageClass name");
  }
  if (!cluster.objects().Of<api::StorageClass>().Find(class_name)) {
    return Status::Unresolvable(NotFound("storageclass.storage.k8s.io", class_name));
  }
  const base::Result<bool> late = BindsLate(cluster, claim);
  if (!late) return Status::Unresolvable(late.error().message);
  return *late ? Status() : Status::Unresolvable("PersistentVolume had no name");
}

Status CollectPlaces(const cluster::Cluster& cluster, const api::PodRecord& pod, std::vector<Place>& places) {
  for (const std::string& name : pod.claims().volume_claim_names) {
    if (name.empty()) return Status::Unresolvable("PersistentVolumeClaim had no name");
    const ClaimRef claim = FindClaim(cluster, pod.namespace_, name);
    if (!claim) return Status::Unresolvable(NotFound("persistentvolumeclaim", name));
    if (claim->spec.volume_name.empty()) {
      if (Status status = JudgeUnbound(cluster, *claim); !status.IsSuccess()) return status;
      continue;
    }
    const VolumeRef volume = FindVolume(cluster, claim->spec.volume_name);
    if (!volume) return Status::Unresolvable(NotFound("persistentvolume", claim->spec.volume_name));
    AppendPlaces(*volume, places);
  }
  return {};
}

// The places in the ids of node labels. Values that no node has are left out.
class PlaceMatcher {
 public:
  PlaceMatcher(const cluster::LabelTable& labels, std::span<const Place> places) : labels_(labels) {
    for (const PlaceLabel& label : kPlaceLabels) keys_.push_back(labels.FindKey(label.key));
    for (const Place& place : places) {
      Condition& made = conditions_.emplace_back();
      made.key = labels.FindKey(place.label->key);
      if (!place.label->successor.empty()) made.successor = labels.FindKey(place.label->successor);
      for (const std::string& value : place.values) {
        const cluster::LabelValueId id = labels.FindValue(value);
        if (id.IsValid()) made.values.push_back(id);
      }
    }
  }

  bool Matches(cluster::LabelSetId set) const {
    // A node without any of the labels is somewhere unknown, which is allowed.
    if (std::ranges::none_of(keys_, [&](auto key) { return ValueOf(set, key).IsValid(); })) return true;
    return std::ranges::all_of(conditions_, [&](const Condition& condition) {
      cluster::LabelValueId value = ValueOf(set, condition.key);
      if (!value.IsValid()) value = ValueOf(set, condition.successor);
      return value.IsValid() && std::ranges::find(condition.values, value) != condition.values.end();
    });
  }

 private:
  struct Condition {
    cluster::LabelKeyId key;
    cluster::LabelKeyId successor;
    std::vector<cluster::LabelValueId> values;
  };

  cluster::LabelValueId ValueOf(cluster::LabelSetId set, cluster::LabelKeyId key) const {
    return key.IsValid() ? labels_.Value(set, key) : cluster::LabelValueId();
  }

  const cluster::LabelTable& labels_;
  std::vector<cluster::LabelKeyId> keys_;
  std::vector<Condition> conditions_;
};

base::Result<Hint> AfterClassCame(const HintInput& input) {
  const auto storage_class = ChangedObjectsOf<api::StorageClass>(input);
  if (!storage_class) return std::unexpected(storage_class.error());
  // Only such a class lets a claim without a volume pass.
  return QueueIf(storage_class->after->volume_binding_mode == "WaitForFirstConsumer");
}

base::Result<Hint> AfterClaimChange(const HintInput& input) {
  const auto claim = ChangedObjectsOf<api::PersistentVolumeClaim>(input);
  if (!claim) return std::unexpected(claim.error());
  return QueueIf(NamesClaim(input.record(), *claim->after, Ephemeral::kIgnore));
}

base::Result<Hint> AfterVolumeChange(const HintInput& input) {
  const auto volume = ChangedObjectsOf<api::PersistentVolume>(input);
  if (!volume) return std::unexpected(volume.error());
  if (volume->before == nullptr) return Hint::kQueue;
  std::vector<Place> before;
  std::vector<Place> after;
  AppendPlaces(*volume->before, before);
  AppendPlaces(*volume->after, after);
  return QueueIf(before != after);
}

}  // namespace

VolumeZone::VolumeZone(const framework::PluginSetup& setup)
    : waiting_(setup.cluster.UseExtension<cluster::ClaimIndex>()) {}

std::span<const framework::ReasonText> VolumeZone::Reasons() const { return kVolumeZoneReasons; }

std::unique_ptr<framework::Plan> VolumeZone::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<framework::Plan>();
  // What it reads is the pod's own: its claims, asked at every attempt.
  plan->filters = HasNamedClaims(input.spec);
  return plan;
}

framework::PreFilterResult VolumeZone::PreFilter(framework::Cycle& cycle) const {
  if (cycle.resize_deferred()) return {Status::Skip()};
  auto& data = cycle.EmplaceData<Places>(*this);
  if (Status status = CollectPlaces(cycle.cluster(), cycle.record(), data.places); !status.IsSuccess()) {
    return {std::move(status)};
  }
  return data.places.empty() ? framework::PreFilterResult{Status::Skip()} : framework::PreFilterResult{};
}

void VolumeZone::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  const auto* const data = cycle.DataOf<Places>(*this);
  if (data == nullptr) return;
  const PlaceMatcher matcher(cycle.cluster().labels(), data->places);
  const std::span<const cluster::LabelSetId> label_sets = cycle.cluster().nodes().label_set();
  nodes.RemoveIf(kOtherZone, [&](cluster::NodeRow row) { return !matcher.Matches(label_sets[row.index()]); });
}

std::vector<framework::EventRegistration> VolumeZone::EventsToRegister() const {
  using framework::EventResource;
  return {
      {.event = {EventResource::kStorageClass, framework::kAdd}, .hint = AfterClassCame, .by_template = true},
      {.event = {EventResource::kNode, framework::kAdd | framework::kUpdateNodeLabel}},
      {.event = {EventResource::kPersistentVolumeClaim, framework::kAdd | framework::kUpdate},
       .hint = AfterClaimChange,
       .pre_hint = PodsNamingTheClaim(waiting_)},
      {.event = {EventResource::kPersistentVolume, framework::kAdd | framework::kUpdate},
       .hint = AfterVolumeChange,
       .by_template = true}};
}

bool VolumeZone::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  SignVolumes(pod.record(), signature);
  return true;
}

}  // namespace berth::plugins
