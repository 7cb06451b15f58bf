#include "sandbox/controllers/rollout_state.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <fmt/format.h>

#include "api/time.h"
#include "sandbox/conditions.h"
#include "sandbox/controllers/workload.h"
#include "sandbox/document.h"
#include "sandbox/time_text.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

RolloutLimits LimitsOf(const json::object& deployment) {
  RolloutLimits limits{.replicas = FindNumber(deployment, {"spec", "replicas"}).value_or(1)};
  if (TextAt(deployment, {"spec", "strategy", "type"}) == "Recreate") return limits;
  const auto share = [&](std::string_view which, bool round_up) {
    const json::value* value = FindValue(deployment, {"spec", "strategy", "rollingUpdate", which});
    return CountOf({.value = value,
                    .total = limits.replicas,
                    .round_up = round_up,
                    .fallback = round_up ? (limits.replicas + 3) / 4 : limits.replicas / 4});
  };
  limits.surge = share("maxSurge", true);
  limits.unavailable = share("maxUnavailable", false);
  // With neither, nothing could ever move.
  if (limits.surge == 0 && limits.unavailable == 0) limits.unavailable = 1;
  limits.unavailable = std::min(limits.unavailable, limits.replicas);
  return limits;
}

RolloutSet MakeSet(const RevisionPtr& revision) {
  RolloutSet set{.revision = revision, .document = ShareDocument(*revision)};
  set.size.replicas = FindNumber(*set.document, {"spec", "replicas"}).value_or(1);
  set.size.available = NumberAt(*set.document, {"status", "availableReplicas"});
  set.size.max_replicas = NumberNoted(*set.document, kMaxReplicas);
  set.number = NumberNoted(*set.document, kRevision);
  return set;
}

std::int64_t Total(const RolloutState& state, Path path) {
  std::int64_t total = 0;
  for (const RolloutSet& set : state.sets) total += NumberAt(*set.document, path);
  return total;
}

// Deployments say when a condition was last confirmed, too.
void SetDated(json::object& document, const ConditionWish& wish, const std::string& now,
              bool confirm = false) {
  const bool changed = SetCondition(document, wish, now);
  if (!changed && !confirm) return;
  for (json::value& entry : ArrayAt(document, {"status", "conditions"})) {
    if (entry.is_object() && TextAt(entry.get_object(), {"type"}) == wish.type) {
      entry.get_object()["lastUpdateTime"] = now;
    }
  }
}

struct Counts {
  std::int64_t replicas = 0;
  std::int64_t updated = 0;
  std::int64_t ready = 0;
  std::int64_t available = 0;
};

Counts CountsIn(const json::object& document) {
  return {NumberAt(document, {"status", "replicas"}), NumberAt(document, {"status", "updatedReplicas"}),
          NumberAt(document, {"status", "readyReplicas"}),
          NumberAt(document, {"status", "availableReplicas"})};
}

bool IsProgress(const Counts& before, const Counts& after) {
  return after.updated > before.updated ||
         after.replicas - after.updated < before.replicas - before.updated || after.ready > before.ready ||
         after.available > before.available;
}

// True while the deadline runs.
bool FillProgress(const RolloutState& state, const Counts& before, json::object& document, std::int64_t now) {
  const std::string time = api::FormatTime({now});
  const std::string subject = state.new_set() != nullptr
                                  ? fmt::format("ReplicaSet \"{}\"", state.new_set()->revision->name())
                                  : fmt::format("Deployment \"{}\"", state.deployment->name());
  if (!state.created.empty()) {
    const std::string message = fmt::format("Created new replica set \"{}\"", state.created);
    SetDated(document, {"Progressing", "True", "NewReplicaSetCreated", message}, time);
    return true;
  }
  const json::object* current = FindCondition(document, "Progressing");
  const std::string reason(current != nullptr ? TextAt(*current, {"reason"}) : "");
  if (state.is_paused()) {
    SetDated(document, {"Progressing", "Unknown", "DeploymentPaused", "Deployment is paused"}, time);
    return false;
  }
  if (reason == "DeploymentPaused") {
    SetDated(document, {"Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed"}, time);
    return true;
  }
  const Counts after = CountsIn(document);
  if (after.replicas == after.updated && reason == "NewReplicaSetAvailable") return false;
  if (IsComplete(document, state.replicas())) {
    const std::string message = subject + " has successfully progressed.";
    SetDated(document, {"Progressing", "True", "NewReplicaSetAvailable", message}, time, true);
    return false;
  }
  if (current == nullptr || IsProgress(before, after)) {
    SetDated(document, {"Progressing", "True", "ReplicaSetUpdated", subject + " is progressing."}, time,
             true);
    return true;
  }
  if (reason == "ProgressDeadlineExceeded") return false;
  const std::int64_t deadline = FindNumber(document, {"spec", "progressDeadlineSeconds"}).value_or(600);
  if (SecondsAt(*current, {"lastUpdateTime"}).value_or(now) + deadline > now) return true;
  const std::string message = subject + " has timed out progressing.";
  SetDated(document, {"Progressing", "False", "ProgressDeadlineExceeded", message}, time);
  return false;
}

}  // namespace

SharedDocument ShareDocument(const Revision& object) {
  return std::make_shared<const json::object>(object.Document());
}

bool RolloutState::is_paused() const { return FlagAt(*document, {"spec", "paused"}); }
bool RolloutState::is_recreate() const {
  return TextAt(*document, {"spec", "strategy", "type"}) == "Recreate";
}

std::int64_t NumberNoted(const json::object& document, std::string_view annotation) {
  const std::string_view text = TextAt(document, {"metadata", "annotations", annotation});
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

json::object BareTemplate(const json::object& workload) {
  const json::object* found = FindObject(workload, {"spec", "template"});
  json::object bare = found != nullptr ? *found : json::object();
  if (json::object* labels = FindObject(bare, {"metadata", "labels"})) {
    labels->erase(kTemplateHash);
    if (labels->empty()) RemoveAt(bare, {"metadata", "labels"});
  }
  return bare;
}

RolloutState MakeRolloutState(const RevisionPtr& deployment, const std::vector<RevisionPtr>& sets) {
  RolloutState state{.deployment = deployment, .document = ShareDocument(*deployment)};
  state.limits = LimitsOf(*state.document);
  for (const RevisionPtr& set : sets) {
    if (!set->is_terminating()) state.sets.push_back(MakeSet(set));
  }
  std::ranges::sort(state.sets, {}, [](const RolloutSet& set) {
    return std::pair(SecondsAt(*set.document, {"metadata", "creationTimestamp"}).value_or(0),
                     set.revision->key());
  });
  const json::object wanted = BareTemplate(*state.document);
  for (std::size_t i = 0; i < state.sets.size(); ++i) {
    state.sets[i].size.created_order = static_cast<std::int64_t>(i);
    if (!state.newest && BareTemplate(*state.sets[i].document) == wanted) state.newest = i;
  }
  return state;
}

bool IsComplete(const json::object& deployment, std::int64_t replicas) {
  const Counts counts = CountsIn(deployment);
  return counts.updated == replicas && counts.replicas == replicas && counts.available == replicas &&
         NumberAt(deployment, {"status", "observedGeneration"}) >=
             NumberAt(deployment, {"metadata", "generation"});
}

std::optional<std::int64_t> FillDeploymentStatus(const RolloutState& state, json::object& document,
                                                 std::int64_t now) {
  const Counts before = CountsIn(document);
  const std::int64_t available = Total(state, {"status", "availableReplicas"});
  json::object& status = ObjectAt(document, {"status"});
  status["observedGeneration"] = NumberAt(document, {"metadata", "generation"});
  status["replicas"] = Total(state, {"status", "replicas"});
  status["updatedReplicas"] =
      state.new_set() != nullptr ? NumberAt(*state.new_set()->document, {"status", "replicas"}) : 0;
  status["readyReplicas"] = Total(state, {"status", "readyReplicas"});
  status["availableReplicas"] = available;
  status["unavailableReplicas"] = std::max<std::int64_t>(Total(state, {"spec", "replicas"}) - available, 0);
  status["terminatingReplicas"] = Total(state, {"status", "terminatingReplicas"});
  const std::string time = api::FormatTime({now});
  if (available >= state.replicas() - state.limits.unavailable) {
    SetDated(document,
             {"Available", "True", "MinimumReplicasAvailable", "Deployment has minimum availability."}, time);
  } else {
    SetDated(document,
             {"Available", "False", "MinimumReplicasUnavailable",
              "Deployment does not have minimum availability."},
             time);
  }
  RemoveCondition(document, "ReplicaFailure");
  if (state.new_set() != nullptr) {
    if (const json::object* failure = FindCondition(*state.new_set()->document, "ReplicaFailure")) {
      SetDated(document,
               {"ReplicaFailure", TextAt(*failure, {"status"}), TextAt(*failure, {"reason"}),
                TextAt(*failure, {"message"})},
               time);
    }
  }
  if (!FillProgress(state, before, document, now)) return std::nullopt;
  const json::object* progressing = FindCondition(document, "Progressing");
  const std::int64_t deadline = FindNumber(document, {"spec", "progressDeadlineSeconds"}).value_or(600);
  return std::max<std::int64_t>(SecondsAt(*progressing, {"lastUpdateTime"}).value_or(now) + deadline - now,
                                1);
}

}  // namespace berth::sandbox
