#include <algorithm>
#include <utility>
#include <variant>

#include "cycle/scheduling_cycle.h"
#include "framework/post_filter.h"

// Attempts in which extenders have a say. Between asking and hearing the cluster changes; nothing of an
// earlier step is used after a wait but names, which the engine looks up in the cluster as it is then.
namespace berth::cycle {

using framework::Status;

framework::Cycle::Subject SchedulingCycle::SubjectOf(const Attempt& attempt) const {
  const cluster::PodSlot pod = attempt.popped.pod.id;
  return {.pod = pod,
          .step = step_,
          .observer = attempt.profile.observer.get(),
          .shows_candidates = extenders_.Preempt(context_.cluster.pods().record(pod).spec->spec)};
}

std::vector<cluster::NodeRef> SchedulingCycle::NodesOf(const framework::Feasible& feasible) const {
  std::vector<cluster::NodeRef> nodes;
  nodes.reserve(feasible.rows.size());
  for (const cluster::NodeRow row : feasible.rows) nodes.push_back(context_.cluster.nodes().object(row));
  return nodes;
}

bool SchedulingCycle::StillWaits(const Attempt& attempt) const {
  const auto& pods = context_.cluster.pods();
  const cluster::PodSlot slot = attempt.popped.pod.id;
  return pods.IsCurrent(attempt.popped.pod) && pods.state(slot) == cluster::PodState::kPending &&
         !pods.terminating(slot);
}

base::Task<void> SchedulingCycle::RunAdvised(ProfileRuntime& profile, queue::PoppedPod popped,
                                             base::TimePoint started) {
  const Attempt attempt{profile, popped, started};
  const End end = co_await Consult(attempt);
  context_.metrics.ObserveAlgorithm(context_.clock().Now() - started);
  if (!end) {
    context_.queue.Done(popped.pod);
  } else if (const auto* const row = std::get_if<cluster::NodeRow>(&*end)) {
    Place(attempt, *row);
  } else {
    failures_.Handle(profile, popped, std::get<Failure>(*end), started);
  }
}

base::Task<SchedulingCycle::End> SchedulingCycle::Consult(const Attempt& attempt) {
  const cluster::NodeRow nominated = co_await ConsultAboutNominated(attempt);
  if (!StillWaits(attempt)) co_return std::nullopt;
  if (nominated.IsValid()) co_return nominated;
  co_return co_await ConsultAboutAll(attempt);
}

// Whatever goes wrong here, the search among all nodes meets it again.
base::Task<cluster::NodeRow> SchedulingCycle::ConsultAboutNominated(const Attempt& attempt) {
  const cluster::PodRecordRef pod = context_.cluster.pods().facts(attempt.popped.pod.id).record;
  if (pod->nominated_node_name.empty()) co_return cluster::NodeRow();
  framework::Engine& engine = *attempt.profile.engine;
  const framework::Engine::Found found = engine.FindNodes(SubjectOf(attempt), /*try_nominated=*/true);
  const auto* const feasible = std::get_if<framework::Feasible>(&found);
  if (feasible == nullptr || !feasible->is_nominated) co_return cluster::NodeRow();
  const base::Result<framework::Advice> advice = co_await extenders_.Filter(pod, NodesOf(*feasible));
  if (!advice || advice->allowed.empty() || !StillWaits(attempt)) co_return cluster::NodeRow();
  const framework::Engine::Found again = engine.FindNodes(SubjectOf(attempt), /*try_nominated=*/true);
  const auto* const left = std::get_if<framework::Feasible>(&again);
  if (left == nullptr || !left->is_nominated) co_return cluster::NodeRow();
  const cluster::NodeRow row = left->rows.front();
  co_return context_.cluster.nodes().name(row) == advice->allowed.front() ? row : cluster::NodeRow();
}

base::Task<SchedulingCycle::End> SchedulingCycle::ConsultAboutAll(const Attempt& attempt) {
  const cluster::PodRecordRef pod = context_.cluster.pods().facts(attempt.popped.pod.id).record;
  framework::Engine& engine = *attempt.profile.engine;
  framework::Engine::Found found = engine.FindNodes(SubjectOf(attempt), /*try_nominated=*/false);
  framework::Advice advice;
  if (const auto* const feasible = std::get_if<framework::Feasible>(&found)) {
    base::Result<framework::Advice> filtered = co_await extenders_.Filter(pod, NodesOf(*feasible));
    if (!StillWaits(attempt)) co_return std::nullopt;
    if (!filtered) co_return FailWith(Status::Error(std::move(filtered.error().message)));
    advice = *std::move(filtered);
    found = engine.FindNodes(SubjectOf(attempt), advice);
  }
  if (auto* const error = std::get_if<Status>(&found)) co_return FailWith(std::move(*error));
  if (const auto* const diagnosis = std::get_if<framework::Diagnosis>(&found)) {
    co_return co_await NothingFitsAdvised(attempt, *diagnosis);
  }
  const auto& feasible = std::get<framework::Feasible>(found);
  // With one node left there is nothing to choose.
  if (feasible.rows.size() > 1 && extenders_.Prioritize(pod->spec->spec)) {
    std::vector<cluster::NodeRef> nodes = NodesOf(feasible);
    advice.allowed.clear();
    for (const cluster::NodeRef& node : nodes) advice.allowed.push_back(node->metadata.name);
    std::ranges::sort(advice.allowed);
    advice.scores = co_await extenders_.Prioritize(pod, std::move(nodes));
    if (!StillWaits(attempt)) co_return std::nullopt;
  }
  framework::Outcome outcome = engine.SchedulePod(SubjectOf(attempt), advice);
  if (const auto* const decision = std::get_if<framework::Decision>(&outcome)) co_return decision->row;
  if (auto* const error = std::get_if<Status>(&outcome)) co_return FailWith(std::move(*error));
  co_return co_await NothingFitsAdvised(attempt, std::get<framework::Diagnosis>(outcome));
}

base::Task<SchedulingCycle::End> SchedulingCycle::NothingFitsAdvised(const Attempt& attempt,
                                                                     const framework::Diagnosis& diagnosis) {
  const framework::Profile& profile = *attempt.profile.profile;
  Failure failure = UnfitFor(diagnosis);
  if (profile.post_filter().empty()) co_return failure;
  framework::PostFilterResult result = RunPostFilter(attempt, diagnosis);
  if (result.status.IsWait() && result.preemption) {
    cluster::PodRecordRef pod = context_.cluster.pods().facts(attempt.popped.pod.id).record;
    base::Result<Extenders::Candidates> left =
        co_await extenders_.Preempt(std::move(pod), std::move(result.preemption->candidates));
    if (!StillWaits(attempt)) co_return std::nullopt;
    if (left) {
      result = framework::ResumePostFilter(profile, context_.cluster, result, *left);
    } else {
      result = {.status = Status::Error("preemption: " + left.error().message),
                .nominated_node = {},
                .preemption = framework::Preemption()};
    }
  }
  MakeRoom(attempt, std::move(result), failure);
  co_return failure;
}

}  // namespace berth::cycle
