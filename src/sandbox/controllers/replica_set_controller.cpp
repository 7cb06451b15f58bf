#include "sandbox/controllers/replica_set_controller.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <tuple>

#include "sandbox/conditions.h"
#include "sandbox/document.h"
#include "sandbox/time_text.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

// A large set is filled in pieces, so that other requests are answered in between.
constexpr std::int64_t kReplicaBurst = 500;
constexpr base::Duration kNextPiece = std::chrono::milliseconds(20);

// What is deleted first sorts first.
auto DeletionRank(const WatchedPod& pod, std::int64_t siblings_on_node) {
  const int phase = pod.phase() == PodPhase::kPending ? 0 : 1;
  // A pod that became ready last, or was created last, goes first: hence the signs.
  return std::tuple(!pod.node_name().empty(), phase, pod.is_ready(), pod.deletion_cost(), -siblings_on_node,
                    -pod.ready_since().value_or(0), -pod.restarts(), -pod.created(), pod.revision().key());
}

}  // namespace

ReplicaSetController::ReplicaSetController(const ControllerContext& context, const Resource& sets)
    : context_(context),
      sets_(sets),
      component_(sets.kind == "ReplicaSet" ? "replicaset-controller" : "replication-controller"),
      queue_(context.plane, [this](const std::string& key) { Reconcile(key); }),
      subscription_(context.plane.store().Subscribe(Selection(sets), *this)) {
  context_.pods.Listen(*this);
  context_.plane.writer().ForEach(sets_, [&](const RevisionPtr& set) { Learn(set, true); });
}

ReplicaSetController::~ReplicaSetController() { context_.plane.store().Unsubscribe(subscription_); }

void ReplicaSetController::Learn(const RevisionPtr& set, bool is_new) {
  roster_.Set(*set, set->Document());
  keys_.insert_or_assign(set->uid(), set->key());
  if (is_new) to_adopt_.push_back(set->key());
  // Most changes are this controller's own reports, and each would ask for a look at every pod again.
  queue_.AddGathered(set->key(), context_.pods.OwnedBy(set->uid()).size());
}

void ReplicaSetController::OnChange(const Change& change, ChangeFrames&) {
  if (change.type == wire::WatchType::kDeleted) {
    roster_.Remove(*change.object);
    keys_.erase(change.object->uid());
    refusals_.erase(change.object->key());
    return;
  }
  Learn(change.object, change.type == wire::WatchType::kAdded);
}

void ReplicaSetController::OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) {
  for (const WatchedPodPtr& pod : {before, after}) {
    if (pod == nullptr) continue;
    const auto it = keys_.find(pod->revision().controller_uid());
    if (it != keys_.end()) queue_.AddGathered(it->second, context_.pods.OwnedBy(it->first).size());
  }
  if (after == nullptr || !after->revision().controller_uid().empty() || !after->is_active()) return;
  for (const std::string& key : roster_.Matching(after->revision())) {
    to_adopt_.push_back(key);
    queue_.Add(key);
  }
}

void ReplicaSetController::Reconcile(const std::string& key) {
  const RevisionPtr set = FindByKey(context_.plane.store(), sets_, key);
  if (set == nullptr) return;
  const json::object document = set->Document();
  const api::Selector selector = SelectorOf(sets_, document);
  if (std::erase(to_adopt_, key) > 0 && !set->is_terminating()) AdoptPods(context_, *set, selector);
  Census census = Count(*set, selector);
  if (!set->is_terminating() && Scale(*set, document, census)) census = Count(*set, selector);
  const auto refusal = refusals_.find(key);
  Report(*set, census, refusal != refusals_.end() ? refusal->second.message : "");
}

ReplicaSetController::Census ReplicaSetController::Count(const Revision& set, const api::Selector& selector) {
  Census census;
  std::vector<RevisionPtr> strangers;
  for (const auto& [key, pod] : context_.pods.OwnedBy(set.uid())) {
    if (!selector.Matches(pod->revision().labels())) {
      if (const RevisionPtr stored = FindByKey(context_.plane.store(), pod->revision().resource(), key)) {
        strangers.push_back(stored);
      }
    } else if (pod->is_active()) {
      census.active.push_back(pod);
    } else if (pod->revision().is_terminating()) {
      ++census.terminating;
    }
  }
  for (const RevisionPtr& pod : strangers) Release(context_.plane.writer(), *pod, set.uid());
  return census;
}

bool ReplicaSetController::Scale(const Revision& set, const json::object& document, const Census& census) {
  const std::int64_t wanted = FindNumber(document, {"spec", "replicas"}).value_or(1);
  const auto present = static_cast<std::int64_t>(census.active.size());
  const base::TimePoint now = context_.plane.clock().Now();
  const auto refusal = refusals_.find(set.key());
  if (refusal != refusals_.end()) {
    if (present < wanted && now < refusal->second.next_attempt) {
      queue_.AddAfter(set.key(), refusal->second.next_attempt - now);
      return false;
    }
    refusals_.erase(refusal);
  }
  if (present < wanted) {
    const std::int64_t count = std::min(wanted - present, kReplicaBurst);
    std::string refused = CreatePods(set, document, count);
    if (!refused.empty()) {
      refusals_[set.key()] = {std::move(refused), now + kRetryDelay};
      queue_.AddAfter(set.key(), kRetryDelay);
    } else if (present + count < wanted) {
      queue_.AddAfter(set.key(), kNextPiece);
    }
  } else if (present > wanted) {
    DeletePods(set, census.active, static_cast<std::size_t>(std::min(present - wanted, kReplicaBurst)));
    if (present - wanted > kReplicaBurst) queue_.AddAfter(set.key(), kNextPiece);
  }
  return present != wanted;
}

std::string ReplicaSetController::CreatePods(const Revision& set, const json::object& document,
                                             std::int64_t count) {
  json::object pod = PodFromTemplate(document, set);
  ObjectAt(pod, {"metadata"})["generateName"] = fmt::format("{}-", set.name());
  const Target target{.resource = &ResourceOf("v1", "Pod"),
                      .namespace_name = std::string(set.namespace_name())};
  for (std::int64_t i = 0; i < count; ++i) {
    const ApiResult<RevisionPtr> created = context_.plane.writer().Create(target, pod);
    if (!created) {
      const std::string message = "Error creating: " + created.error().message;
      context_.events.Record(set, {component_, "FailedCreate", message, true});
      return created.error().message;
    }
    context_.events.Record(
        set, {component_, "SuccessfulCreate", fmt::format("Created pod: {}", (*created)->name())});
  }
  return "";
}

void ReplicaSetController::DeletePods(const Revision& set, std::vector<WatchedPodPtr> pods,
                                      std::size_t count) {
  std::map<std::string_view, std::int64_t> per_node;
  for (const WatchedPodPtr& pod : pods) ++per_node[pod->node_name()];
  std::ranges::sort(pods, {}, [&](const WatchedPodPtr& pod) {
    return DeletionRank(*pod, pod->node_name().empty() ? 0 : per_node[pod->node_name()]);
  });
  pods.resize(std::min(count, pods.size()));
  for (const WatchedPodPtr& pod : pods) {
    const Revision& revision = pod->revision();
    const ApiResult<Removal> removed =
        context_.plane.writer().Delete(TargetOf(revision), {.uid = revision.uid()});
    if (!removed) continue;
    context_.events.Record(set,
                           {component_, "SuccessfulDelete", fmt::format("Deleted pod: {}", revision.name())});
  }
}

void ReplicaSetController::Report(const Revision& set, const Census& census, const std::string& failure) {
  const std::int64_t now = SecondsOf(context_.plane.clock().WallNow());
  static_cast<void>(ChangeStatus(context_.plane.writer(), set, [&](json::object& document) {
    const std::int64_t min_ready = NumberAt(document, {"spec", "minReadySeconds"});
    const json::object* labels = FindObject(document, {"spec", "template", "metadata", "labels"});
    std::int64_t ready = 0;
    std::int64_t available = 0;
    std::int64_t labelled = 0;
    for (const WatchedPodPtr& pod : census.active) {
      const bool has_all = labels == nullptr || std::ranges::all_of(*labels, [&](const auto& label) {
                             const std::string* value =
                                 pod->revision().labels().find(std::string_view(label.key()));
                             return value != nullptr && label.value() == json::string_view(*value);
                           });
      labelled += has_all ? 1 : 0;
      ready += pod->is_ready() ? 1 : 0;
      if (pod->IsAvailable(min_ready, now)) {
        ++available;
      } else if (pod->is_ready()) {
        queue_.AddAfter(set.key(), std::chrono::seconds(*pod->ready_since() + min_ready - now));
      }
    }
    json::object& status = ObjectAt(document, {"status"});
    status["replicas"] = census.active.size();
    status["fullyLabeledReplicas"] = labelled;
    status["readyReplicas"] = ready;
    status["availableReplicas"] = available;
    status["observedGeneration"] = NumberAt(document, {"metadata", "generation"});
    if (sets_.kind == "ReplicaSet")
      ObjectAt(document, {"status"})["terminatingReplicas"] = census.terminating;
    if (failure.empty()) {
      RemoveCondition(document, "ReplicaFailure");
    } else {
      SetCondition(document, {"ReplicaFailure", "True", "FailedCreate", failure},
                   context_.plane.writer().TimeText());
    }
  }));
}

}  // namespace berth::sandbox
