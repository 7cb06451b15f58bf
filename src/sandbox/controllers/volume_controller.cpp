#include "sandbox/controllers/volume_controller.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/controllers/volume_matching.h"
#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kVolumeComponent = "persistentvolume-controller";
constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";
constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
constexpr std::string_view kProvisioner = "volume.kubernetes.io/storage-provisioner";

bool IsBound(const json::object& claim) { return TextAt(claim, {"status", "phase"}) == "Bound"; }

// The claim that the volume names; empty if it names none.
std::string ClaimKeyOf(const json::object& volume) {
  const json::object* reference = FindObject(volume, {"spec", "claimRef"});
  if (reference == nullptr) return "";
  return fmt::format("{}/{}", TextAt(*reference, {"namespace"}), TextAt(*reference, {"name"}));
}

}  // namespace

VolumeController::VolumeController(const ControllerContext& context, Options options)
    : context_(context),
      options_(options),
      claims_(ResourceOf("v1", "PersistentVolumeClaim")),
      volumes_(ResourceOf("v1", "PersistentVolume")),
      classes_(ResourceOf("storage.k8s.io/v1", "StorageClass")),
      claim_queue_(context.plane, [this](const std::string& key) { LookAtClaim(key); }),
      volume_queue_(context.plane, [this](const std::string& name) { LookAtVolume(name); }) {
  for (const Resource* resource : {&claims_, &volumes_, &classes_}) {
    subscriptions_.push_back(context_.plane.store().Subscribe(Selection(*resource), *this));
  }
  const auto learn = [&](const RevisionPtr& object) {
    const Change change{wire::WatchType::kAdded, object->version(), object, nullptr};
    if (&object->resource() == &claims_) {
      LearnClaim(change);
    } else {
      LearnVolume(change);
    }
  };
  context_.plane.writer().ForEach(volumes_, learn);
  context_.plane.writer().ForEach(claims_, learn);
}

VolumeController::~VolumeController() {
  for (const SubscriptionId id : subscriptions_) context_.plane.store().Unsubscribe(id);
}

void VolumeController::OnChange(const Change& change, ChangeFrames&) {
  if (&change.object->resource() == &claims_) {
    LearnClaim(change);
  } else if (&change.object->resource() == &volumes_) {
    LearnVolume(change);
  } else if (const auto it = pending_.find(change.object->name()); it != pending_.end()) {
    for (const std::string& key : it->second) claim_queue_.Add(key);
  }
}

void VolumeController::LearnClaim(const Change& change) {
  const json::object claim = change.object->Document();
  const std::string& key = change.object->key();
  const std::string name(TextAt(claim, {"spec", "storageClassName"}));
  if (change.previous != nullptr) {
    for (auto& [known, keys] : pending_) keys.erase(key);
  }
  if (change.type == wire::WatchType::kDeleted) {
    provisioned_at_.erase(change.object->uid());
    const std::string volume(TextAt(claim, {"spec", "volumeName"}));
    if (!volume.empty()) volume_queue_.Add(volume);
    return;
  }
  if (!IsBound(claim)) pending_[name].insert(key);
  claim_queue_.Add(key);
}

void VolumeController::LearnVolume(const Change& change) {
  const json::object volume = change.object->Document();
  const std::string name(change.object->name());
  const std::string class_name(TextAt(volume, {"spec", "storageClassName"}));
  if (change.previous != nullptr) {
    for (auto& [known, names] : free_) names.erase(name);
    const std::string claim = ClaimKeyOf(change.previous->Document());
    if (const auto it = pointing_.find(claim); it != pointing_.end()) {
      it->second.erase(name);
      if (it->second.empty()) pointing_.erase(it);
    }
  }
  const json::object* reference = FindObject(volume, {"spec", "claimRef"});
  if (reference != nullptr) claim_queue_.Add(ClaimKeyOf(volume));
  if (change.type == wire::WatchType::kDeleted) return;
  if (reference != nullptr) pointing_[ClaimKeyOf(volume)].insert(name);
  volume_queue_.Add(name);
  if (reference != nullptr || change.object->is_terminating()) return;
  free_[class_name].insert(name);
  const auto waiting = pending_.find(class_name);
  if (waiting == pending_.end()) return;
  for (const std::string& key : waiting->second) claim_queue_.Add(key);
}

void VolumeController::LookAtClaim(const std::string& key) {
  const RevisionPtr claim = FindByKey(context_.plane.store(), claims_, key);
  if (claim == nullptr || claim->is_terminating()) return;
  const json::object document = claim->Document();
  const std::string_view volume_name = TextAt(document, {"spec", "volumeName"});
  if (volume_name.empty()) {
    FindVolumeFor(*claim, document);
    return;
  }
  const RevisionPtr volume = context_.plane.store().Find(volumes_, "", volume_name);
  if (IsBound(document)) {
    if (volume == nullptr || !PointsAt(volume->Document(), document)) SetPhase(*claim, "Lost");
    return;
  }
  // Asked for by name: it has to be free, or meant for this claim.
  if (volume == nullptr) return;
  const json::object found = volume->Document();
  if (FindObject(found, {"spec", "claimRef"}) == nullptr || PointsAt(found, document)) Bind(*claim, *volume);
}

void VolumeController::FindVolumeFor(const Revision& claim, const json::object& document) {
  const RevisionPtr class_revision =
      context_.plane.store().Find(classes_, "", TextAt(document, {"spec", "storageClassName"}));
  const json::object storage_class = class_revision != nullptr ? class_revision->Document() : json::object();
  const bool waits = TextAt(storage_class, {"volumeBindingMode"}) == "WaitForFirstConsumer";
  const bool has_node = !TextAt(document, {"metadata", "annotations", kSelectedNode}).empty();
  // A volume that points at the claim wins; then, unless a pod has to come first, the smallest that fits.
  RevisionPtr match = PointingAt(claim.key(), document);
  if (match == nullptr && !waits) match = BestMatch(document);
  if (match != nullptr) {
    Bind(claim, *match);
    return;
  }
  const std::string_view provisioner = TextAt(storage_class, {"provisioner"});
  if (waits && !has_node) return;
  if (provisioner.empty() || provisioner == kNoProvisioner) return;
  if (!Provision(claim, document, storage_class)) claim_queue_.AddAfter(claim.key(), kRetryDelay);
}

RevisionPtr VolumeController::PointingAt(const std::string& key, const json::object& claim) const {
  const auto it = pointing_.find(key);
  if (it == pointing_.end()) return nullptr;
  for (const std::string& name : it->second) {
    RevisionPtr volume = context_.plane.store().Find(volumes_, "", name);
    if (volume != nullptr && PointsAt(volume->Document(), claim)) return volume;
  }
  return nullptr;
}

RevisionPtr VolumeController::BestMatch(const json::object& document) const {
  RevisionPtr best;
  json::object best_document;
  const auto it = free_.find(TextAt(document, {"spec", "storageClassName"}));
  if (it == free_.end()) return best;
  for (const std::string& name : it->second) {
    const RevisionPtr volume = context_.plane.store().Find(volumes_, "", name);
    if (volume == nullptr) continue;
    json::object candidate = volume->Document();
    if (!CanServe(candidate, document)) continue;
    if (best != nullptr && !IsSmaller(candidate, best_document)) continue;
    best = volume;
    best_document = std::move(candidate);
  }
  return best;
}

// True if the volume is made, or will be when its time has come, or is for others to make.
bool VolumeController::Provision(const Revision& claim, const json::object& document,
                                 const json::object& storage_class) {
  const std::string provisioner(TextAt(storage_class, {"provisioner"}));
  const base::TimePoint now = context_.plane.clock().Now();
  const auto [it, is_new] = provisioned_at_.try_emplace(claim.uid(), now + options_.provision_delay);
  if (is_new) {
    const std::string message = fmt::format(
        "Waiting for a volume to be created either by the external provisioner '{}' or manually by the "
        "system "
        "administrator. If volume creation is delayed, please verify that the provisioner is running and "
        "correctly registered.",
        provisioner);
    context_.events.Record(claim, {kVolumeComponent, "ExternalProvisioning", message});
    static_cast<void>(ChangeObject(context_.plane.writer(), claim, [&](json::object& changed) {
      ObjectAt(changed, {"metadata", "annotations"})[kProvisioner] = provisioner;
    }));
  }
  if (!options_.provisions) return true;
  if (it->second > now) {
    claim_queue_.AddAfter(claim.key(), it->second - now);
    return true;
  }
  const RevisionPtr node = context_.plane.store().Find(
      ResourceOf("v1", "Node"), "", TextAt(document, {"metadata", "annotations", kSelectedNode}));
  const json::object node_document = node != nullptr ? node->Document() : json::object();
  const ApiResult<RevisionPtr> made = context_.plane.writer().Create(
      {.resource = &volumes_}, MakeVolume({.claim = document,
                                           .storage_class = storage_class,
                                           .node = node != nullptr ? &node_document : nullptr}));
  if (!made) {
    context_.events.Record(claim, {provisioner, "ProvisioningFailed", made.error().message, true});
    return false;
  }
  context_.events.Record(claim, {provisioner, "ProvisioningSucceeded",
                                 fmt::format("Successfully provisioned volume {}", (*made)->name())});
  return true;  // its arrival calls for the binding
}

void VolumeController::Bind(const Revision& claim, const Revision& volume) {
  ObjectWriter& writer = context_.plane.writer();
  const json::object asked = claim.Document();
  ApiResult<RevisionPtr> bound = ChangeObject(writer, volume, [&](json::object& document) {
    if (FindObject(document, {"spec", "claimRef"}) == nullptr) {
      ObjectAt(document, {"metadata", "annotations"})[kBoundByController] = "yes";
    }
    if (TextAt(document, {"spec", "claimRef", "uid"}).empty()) SetClaimRef(document, asked);
  });
  if (bound) SetPhase(**bound, "Bound");
  if (!bound) return;
  const json::object given = (*bound)->Document();
  bound = ChangeObject(writer, claim, [&](json::object& document) {
    json::object& annotations = ObjectAt(document, {"metadata", "annotations"});
    annotations[kBindCompleted] = "yes";
    if (TextAt(document, {"spec", "volumeName"}).empty()) annotations[kBoundByController] = "yes";
    ObjectAt(document, {"spec"})["volumeName"] = volume.name();
  });
  if (!bound) return;
  static_cast<void>(ChangeStatus(writer, **bound, [&](json::object& document) {
    json::object& status = ObjectAt(document, {"status"});
    status["phase"] = "Bound";
    for (const std::string_view key : {"accessModes", "capacity"}) {
      if (const json::value* value = FindValue(given, {"spec", key})) status[key] = *value;
    }
  }));
}

void VolumeController::LookAtVolume(const std::string& name) {
  const RevisionPtr volume = context_.plane.store().Find(volumes_, "", name);
  if (volume == nullptr || volume->is_terminating()) return;
  const json::object document = volume->Document();
  const json::object* reference = FindObject(document, {"spec", "claimRef"});
  if (reference == nullptr || TextAt(*reference, {"uid"}).empty()) {
    SetPhase(*volume, "Available");
    return;
  }
  const RevisionPtr claim =
      context_.plane.store().Find(claims_, TextAt(*reference, {"namespace"}), TextAt(*reference, {"name"}));
  if (claim != nullptr && claim->uid() == TextAt(*reference, {"uid"})) return;
  SetPhase(*volume, "Released");
  if (TextAt(document, {"spec", "persistentVolumeReclaimPolicy"}) != "Delete") return;
  static_cast<void>(context_.plane.writer().Delete(TargetOf(*volume), {.uid = volume->uid()}));
}

void VolumeController::SetPhase(const Revision& object, std::string_view phase) {
  static_cast<void>(ChangeStatus(context_.plane.writer(), object, [&](json::object& document) {
    ObjectAt(document, {"status"})["phase"] = phase;
  }));
}

}  // namespace berth::sandbox
