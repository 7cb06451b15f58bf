#include "sandbox/controllers/deployment_controller.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>

#include "sandbox/controllers/rollout_state.h"
#include "sandbox/document.h"
#include "sandbox/text_parts.h"
#include "sandbox/time_text.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kDeploymentComponent = "deployment-controller";
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// Annotations go along with the template (`kubectl rollout history` shows the change-cause), except those
// that describe the Deployment itself.
void CopyAnnotations(const json::object& deployment, json::object& set) {
  const json::object* annotations = FindObject(deployment, {"metadata", "annotations"});
  if (annotations == nullptr) return;
  for (const json::key_value_pair& entry : *annotations) {
    const std::string_view key(entry.key().data(), entry.key().size());
    if (key == kLastApplied || key.starts_with("deployment.kubernetes.io/")) continue;
    ObjectAt(set, {"metadata", "annotations"})[key] = entry.value();
  }
}

void NoteSizes(const RolloutLimits& limits, json::object& set) {
  json::object& annotations = ObjectAt(set, {"metadata", "annotations"});
  annotations[kDesiredReplicas] = std::to_string(limits.replicas);
  annotations[kMaxReplicas] = std::to_string(limits.replicas + limits.surge);
}

// A set that comes back by a rollback remembers what number it had.
void NoteRevision(std::int64_t number, json::object& set) {
  json::object& annotations = ObjectAt(set, {"metadata", "annotations"});
  const std::string before(TextAt(annotations, {kRevision}));
  if (!before.empty()) {
    std::string history(TextAt(annotations, {kRevisionHistory}));
    if (!history.empty()) history += ',';
    annotations[kRevisionHistory] = history + before;
  }
  annotations[kRevision] = std::to_string(number);
}

std::vector<SetSize> SizesOf(const RolloutState& state, bool with_new) {
  std::vector<SetSize> sizes;
  for (std::size_t i = 0; i < state.sets.size(); ++i) {
    if (with_new || i != state.newest) sizes.push_back(state.sets[i].size);
  }
  return sizes;
}

// The counterpart: sizes that a plan has changed, in the same order.
void TakeSizes(RolloutState& state, std::span<const SetSize> sizes, bool with_new) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < state.sets.size(); ++i) {
    if (with_new || i != state.newest) state.sets[i].size.replicas = sizes[next++].replicas;
  }
}

std::int64_t AllReplicas(const RolloutState& state) {
  std::int64_t all = 0;
  for (const RolloutSet& set : state.sets) all += set.size.replicas;
  return all;
}

// Somebody changed spec.replicas: the sets were sized for another number.
bool WasResized(const RolloutState& state) {
  return std::ranges::any_of(state.sets, [&](const RolloutSet& set) {
    return set.size.replicas > 0 &&
           !TextAt(*set.document, {"metadata", "annotations", kDesiredReplicas}).empty() &&
           NumberNoted(*set.document, kDesiredReplicas) != state.replicas();
  });
}

}  // namespace

DeploymentController::DeploymentController(const ControllerContext& context)
    : context_(context),
      deployments_(ResourceOf("apps/v1", "Deployment")),
      sets_(ResourceOf("apps/v1", "ReplicaSet")),
      queue_(context.plane, [this](const std::string& key) { Reconcile(key); }),
      subscription_(context.plane.store().Subscribe(Selection(deployments_), *this)),
      sets_subscription_(context.plane.store().Subscribe(Selection(sets_), *this)) {
  context_.plane.writer().ForEach(deployments_, [&](const RevisionPtr& deployment) {
    roster_.Set(*deployment, deployment->Document());
    keys_.insert_or_assign(deployment->uid(), deployment->key());
    queue_.Add(deployment->key());
  });
}

DeploymentController::~DeploymentController() {
  context_.plane.store().Unsubscribe(subscription_);
  context_.plane.store().Unsubscribe(sets_subscription_);
}

void DeploymentController::OnChange(const Change& change, ChangeFrames&) {
  const Revision& object = *change.object;
  const bool is_gone = change.type == wire::WatchType::kDeleted;
  if (&object.resource() == &sets_) {
    const auto it = keys_.find(object.controller_uid());
    if (it != keys_.end()) queue_.Add(it->second);
    if (is_gone || !object.controller_uid().empty()) return;
    for (const std::string& key : roster_.Matching(object)) queue_.Add(key);
    return;
  }
  if (is_gone) {
    roster_.Remove(object);
    keys_.erase(object.uid());
    return;
  }
  roster_.Set(object, object.Document());
  keys_.insert_or_assign(object.uid(), object.key());
  queue_.Add(object.key());
}

void DeploymentController::Reconcile(const std::string& key) {
  const RevisionPtr deployment = FindByKey(context_.plane.store(), deployments_, key);
  if (deployment == nullptr) return;
  RolloutState state = Look(deployment);
  if (!deployment->is_terminating()) Step(state);
  Report(state);
}

RolloutState DeploymentController::Look(const RevisionPtr& deployment) {
  if (!deployment->is_terminating()) {
    AdoptOrphans(*deployment, SelectorOf(deployments_, deployment->Document()));
  }
  return MakeRolloutState(deployment, context_.owners.ManagedBy(deployment->uid(), sets_));
}

// ReplicaSets are few, so that a look at those of the namespace is cheap.
void DeploymentController::AdoptOrphans(const Revision& deployment, const api::Selector& selector) {
  if (selector.matches_everything()) return;
  const ApiResult<Selection> nearby = Selection::Make(sets_, {.namespace_name = deployment.namespace_name()});
  const std::expected<Store::Page, TooOld> page = context_.plane.store().List(*nearby);
  for (const RevisionPtr& set : page->items) {
    if (!set->controller_uid().empty() || set->is_terminating()) continue;
    if (selector.Matches(set->labels())) Adopt(context_.plane.writer(), *set, deployment);
  }
}

void DeploymentController::Step(RolloutState& state) {
  if (state.is_paused() || WasResized(state)) {
    Resize(state);
  } else if (state.is_recreate()) {
    Recreate(state);
  } else {
    Roll(state);
  }
}

bool DeploymentController::EnsureNewSet(RolloutState& state) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < state.sets.size(); ++i) {
    if (i != state.newest) last = std::max(last, state.sets[i].number);
  }
  if (state.newest) {
    RolloutSet& set = *state.new_set();
    if (set.number <= last) {
      const ApiResult<RevisionPtr> noted =
          ChangeObject(context_.plane.writer(), *set.revision, [&](json::object& document) {
            CopyAnnotations(*state.document, document);
            NoteRevision(last + 1, document);
          });
      if (!noted) return false;
      set.number = last + 1;
      set.revision = *noted;
      set.document = ShareDocument(**noted);
    }
  } else if (!CreateNewSet(state)) {
    return false;
  }
  const std::string number = std::to_string(std::max(state.new_set()->number, last + 1));
  if (TextAt(*state.document, {"metadata", "annotations", kRevision}) != number) {
    const ApiResult<RevisionPtr> noted = ChangeObject(
        context_.plane.writer(), *state.deployment,
        [&](json::object& document) { ObjectAt(document, {"metadata", "annotations"})[kRevision] = number; });
    if (noted) state.deployment = *noted;
  }
  return true;
}

bool DeploymentController::CreateNewSet(RolloutState& state) {
  std::int64_t last = 0;
  for (const RolloutSet& set : state.sets) last = std::max(last, set.number);
  const std::string hash =
      HashName(BareTemplate(*state.document), NumberAt(*state.document, {"status", "collisionCount"}));
  json::object set;
  ObjectAt(set, {"metadata"})["name"] = fmt::format("{}-{}", state.deployment->name(), hash);
  SetController(set, *state.deployment);
  CopyAnnotations(*state.document, set);
  NoteSizes(state.limits, set);
  NoteRevision(last + 1, set);
  json::object& spec = ObjectAt(set, {"spec"});
  spec["template"] = BareTemplate(*state.document);
  if (const json::object* selector = FindObject(*state.document, {"spec", "selector"}))
    spec["selector"] = *selector;
  spec["replicas"] = GrowNewSet(state.limits, 0, state.is_recreate() ? 0 : AllReplicas(state));
  if (const json::value* seconds = FindValue(*state.document, {"spec", "minReadySeconds"})) {
    spec["minReadySeconds"] = *seconds;
  }
  ObjectAt(set, {"spec", "template", "metadata", "labels"})[kTemplateHash] = hash;
  ObjectAt(set, {"spec", "selector", "matchLabels"})[kTemplateHash] = hash;
  const json::object labels = *FindObject(set, {"spec", "template", "metadata", "labels"});
  ObjectAt(set, {"metadata"})["labels"] = labels;
  const std::int64_t size = NumberAt(set, {"spec", "replicas"});
  const ApiResult<RevisionPtr> created = context_.plane.writer().Create(
      {.resource = &sets_, .namespace_name = std::string(state.deployment->namespace_name())},
      std::move(set));
  if (!created) {
    // Another object has the name: the next attempt makes another one.
    if (created.error().reason == "AlreadyExists") {
      static_cast<void>(ChangeStatus(context_.plane.writer(), *state.deployment, [](json::object& document) {
        const std::int64_t collisions = NumberAt(document, {"status", "collisionCount"}) + 1;
        ObjectAt(document, {"status"})["collisionCount"] = collisions;
      }));
    }
    queue_.AddAfter(state.deployment->key(), kRetryDelay);
    return false;
  }
  context_.events.Record(*state.deployment,
                         {kDeploymentComponent, "ScalingReplicaSet",
                          fmt::format("Scaled up replica set {} from 0 to {}", (*created)->name(), size)});
  const std::string name((*created)->name());
  state = MakeRolloutState(state.deployment, context_.owners.ManagedBy(state.deployment->uid(), sets_));
  state.created = name;
  return state.newest.has_value();
}

bool DeploymentController::ApplySizes(RolloutState& state) {
  bool changed = false;
  for (RolloutSet& set : state.sets) {
    const std::int64_t before = FindNumber(*set.document, {"spec", "replicas"}).value_or(1);
    const std::int64_t wanted = set.size.replicas;
    json::object noted = *set.document;
    NoteSizes(state.limits, noted);
    const bool is_active = wanted > 0 || before > 0;
    if (before == wanted && (!is_active || noted == *set.document)) continue;
    const ApiResult<RevisionPtr> scaled =
        ChangeObject(context_.plane.writer(), *set.revision, [&](json::object& document) {
          NoteSizes(state.limits, document);
          ObjectAt(document, {"spec"})["replicas"] = wanted;
        });
    if (!scaled) continue;
    set.revision = *scaled;
    set.document = ShareDocument(**scaled);
    changed = true;
    if (before == wanted) continue;
    context_.events.Record(*state.deployment, {kDeploymentComponent, "ScalingReplicaSet",
                                               fmt::format("Scaled {} replica set {} from {} to {}",
                                                           wanted > before ? "up" : "down",
                                                           set.revision->name(), before, wanted)});
  }
  return changed;
}

void DeploymentController::Recreate(RolloutState& state) {
  bool is_clear = true;
  for (std::size_t i = 0; i < state.sets.size(); ++i) {
    if (i == state.newest) continue;
    state.sets[i].size.replicas = 0;
    // Until its last pod is gone, not only told to go.
    is_clear = is_clear && context_.pods.OwnedBy(state.sets[i].revision->uid()).empty();
  }
  if (ApplySizes(state) || !is_clear) return;
  if (!EnsureNewSet(state)) return;
  state.new_set()->size.replicas = state.replicas();
  if (!ApplySizes(state) && IsComplete(*state.document, state.replicas())) Prune(state);
}

void DeploymentController::Roll(RolloutState& state) {
  if (!EnsureNewSet(state)) return;
  SetSize& newest = state.new_set()->size;
  newest.replicas = newest.replicas > state.replicas()
                        ? state.replicas()
                        : GrowNewSet(state.limits, newest.replicas, AllReplicas(state));
  if (ApplySizes(state)) return;
  std::vector<SetSize> old_sets = SizesOf(state, false);
  if (ShrinkOldSets(state.limits, state.new_set()->size, old_sets)) {
    TakeSizes(state, old_sets, false);
    ApplySizes(state);
    return;
  }
  if (IsComplete(*state.document, state.replicas())) Prune(state);
}

// The number of replicas changed, or the rollout is paused: no set is replaced, the present ones are sized.
void DeploymentController::Resize(RolloutState& state) {
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < state.sets.size(); ++i) {
    if (state.sets[i].size.replicas > 0) active.push_back(i);
  }
  const RolloutSet* newest = state.new_set();
  if (active.size() <= 1) {
    const std::size_t only = !active.empty() ? active.front() : state.newest.value_or(state.sets.size() - 1);
    if (only < state.sets.size()) state.sets[only].size.replicas = state.replicas();
  } else if (newest != nullptr && newest->size.replicas == state.replicas() &&
             newest->size.available == state.replicas()) {
    for (std::size_t i = 0; i < state.sets.size(); ++i) {
      if (i != state.newest) state.sets[i].size.replicas = 0;
    }
  } else if (!state.is_recreate()) {
    std::vector<SetSize> sizes = SizesOf(state, true);
    ScaleInProportion(state.limits, NumberAt(*state.document, {"status", "replicas"}), sizes);
    TakeSizes(state, sizes, true);
  }
  ApplySizes(state);
}

// Old sets are kept for rollbacks, as many as the Deployment says.
void DeploymentController::Prune(const RolloutState& state) {
  std::vector<const RolloutSet*> empty;
  for (std::size_t i = 0; i < state.sets.size(); ++i) {
    const RolloutSet& set = state.sets[i];
    if (i == state.newest || set.size.replicas != 0 || NumberAt(*set.document, {"status", "replicas"}) != 0)
      continue;
    empty.push_back(&set);
  }
  const std::int64_t limit = FindNumber(*state.document, {"spec", "revisionHistoryLimit"}).value_or(10);
  const std::int64_t surplus = static_cast<std::int64_t>(empty.size()) - limit;
  if (surplus <= 0) return;
  std::ranges::sort(empty, {}, &RolloutSet::number);
  for (const RolloutSet* set : std::span(empty).first(static_cast<std::size_t>(surplus))) {
    static_cast<void>(context_.plane.writer().Delete(TargetOf(*set->revision), {}));
  }
}

void DeploymentController::Report(RolloutState& state) {
  const std::int64_t now = SecondsOf(context_.plane.clock().WallNow());
  static_cast<void>(ChangeStatus(context_.plane.writer(), *state.deployment, [&](json::object& document) {
    const std::optional<std::int64_t> deadline = FillDeploymentStatus(state, document, now);
    if (deadline) queue_.AddAfter(state.deployment->key(), std::chrono::seconds(*deadline));
  }));
}

}  // namespace berth::sandbox
