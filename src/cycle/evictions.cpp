#include "cycle/evictions.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <utility>

#include "base/log.h"
#include "base/task_group.h"
#include "cycle/nominations.h"

namespace berth::cycle {
namespace {

api::PodCondition PreemptedCondition(std::string_view scheduler_name, const api::PodRecord& victim) {
  api::PodCondition condition;
  condition.type = framework::kDisruptionTarget;
  condition.status = "True";
  condition.reason = framework::kPreemptionByScheduler;
  condition.message = fmt::format("{}: preempting to accommodate a higher priority pod", scheduler_name);
  condition.observed_generation = victim.generation;
  return condition;
}

}  // namespace

Evictions::Evictions(const CycleContext& context, WaitingPods& waiting, PreBindingPods& pre_binding)
    : context_(context),
      waiting_(waiting),
      pre_binding_(pre_binding),
      ongoing_(context.cluster.UseExtension<framework::OngoingPreemptions>()),
      deletions_(context.dispatcher, context.executor),
      tasks_(context.executor) {}

bool Evictions::IsToGo(PodRef victim) const {
  const auto& pods = context_.cluster.pods();
  return pods.IsCurrent(victim) && !pods.terminating(victim.id);
}

void Evictions::Start(Order order) {
  std::erase_if(order.victims, [&](PodRef victim) { return !IsToGo(victim); });
  if (order.victims.empty()) return;
  ongoing_.Begin(order.preemptor);
  ClearLowerNominations(order);
  tasks_.Spawn(Run(std::move(order)));
}

base::Task<void> Evictions::Run(Order order) {
  const base::TimePoint began = context_.clock().Now();
  const PodRef last = order.victims.back();
  bool failed = co_await EvictOthers(order);
  bool in_memory = false;
  if (!failed) {
    ongoing_.SetLastVictim(order.preemptor, last);
    const End end = co_await Evict(order, last);
    failed = end == End::kFailed;
    in_memory = end == End::kInMemory;
    if (end == End::kDeleted) co_await WaitUntilSeen(last);
  }
  ongoing_.End(order.preemptor);
  context_.metrics.ObserveEvictions(!failed, context_.clock().Now() - began);
  const bool will_be_heard_of = context_.cluster.pods().IsCurrent(last);
  if (failed || in_memory || !will_be_heard_of || WasHeldBack(order)) TryAgain(order.preemptor);
}

base::Task<void> Evictions::WaitUntilSeen(PodRef victim) {
  if (!IsToGo(victim)) co_return;
  base::Event& seen = unseen_.try_emplace(victim, context_.executor).first->second;
  co_await seen.WaitFor();
}

void Evictions::NoticeChange(PodRef pod) {
  const auto found = unseen_.find(pod);
  if (found == unseen_.end() || IsToGo(pod)) return;
  found->second.Set();
  unseen_.erase(found);
}

base::Task<bool> Evictions::EvictOthers(const Order& order) {
  bool failed = false;
  base::TaskGroup group(context_.executor);
  for (std::size_t i = 0; i + 1 < order.victims.size(); ++i) {
    group.Spawn(EvictBeside(order, order.victims[i], failed));
  }
  co_await group.WaitForAll();
  co_return failed;
}

base::Task<void> Evictions::EvictBeside(const Order& order, PodRef victim, bool& failed) {
  const End end = co_await Evict(order, victim);
  if (end == End::kFailed) failed = true;
}

bool Evictions::WasHeldBack(const Order& order) const {
  if (!context_.cluster.pods().IsCurrent(order.preemptor)) return false;
  const queue::QueueingParams* const params = context_.queue.Find(order.preemptor.id);
  return params != nullptr && params->gating == context_.queue.plugins().Intern(order.plugin);
}

base::Task<Evictions::End> Evictions::Evict(const Order& order, PodRef victim) {
  if (!IsToGo(victim)) co_return End::kGone;
  const cluster::PodRecordRef record = context_.cluster.pods().facts(victim.id).record;
  if (StopBinding(order, *record)) {
    Tell(order, record, /*in_memory=*/true);
    co_await WaitUntilStopped(record->uid);
    co_return End::kInMemory;
  }
  const dispatch::CallOutcome outcome =
      co_await deletions_.Delete(record, PreemptedCondition(order.scheduler_name, *record));
  if (outcome.end == dispatch::CallEnd::kSucceeded) {
    Tell(order, record, /*in_memory=*/false);
    co_return End::kDeleted;
  }
  if (!outcome.IsFailure()) co_return End::kGone;
  BERTH_LOG_ERROR(outcome.message, "Could not evict a pod to make room",
                  {"pod", base::LogObject{record->namespace_, record->name}},
                  {"preemptor", base::LogObject{order.record->namespace_, order.record->name}},
                  {"node", order.node});
  co_return End::kFailed;
}

bool Evictions::StopBinding(const Order& order, const api::PodRecord& victim) {
  return waiting_.Preempt(victim.uid, order.plugin, "preempted") ||
         pre_binding_.Cancel(victim.uid, "preempted by " + order.plugin);
}

base::Task<void> Evictions::WaitUntilStopped(std::string uid) {
  if (!pre_binding_.Contains(uid)) co_return;
  const auto stopped = std::make_shared<base::Event>(context_.executor);
  pre_binding_.CallAtEnd(uid, [stopped] { stopped->Set(); });
  co_await stopped->WaitFor();
}

void Evictions::Tell(const Order& order, const cluster::PodRecordRef& victim, bool in_memory) const {
  BERTH_LOG(2, "Preemptor Pod preempted victim Pod",
            {"preemptor", base::LogObject{order.record->namespace_, order.record->name}},
            {"victim", base::LogObject{victim->namespace_, victim->name}}, {"node", order.node});
  context_.events.Record({.pod = victim,
                          .reporter = order.scheduler_name,
                          .type = "Normal",
                          .reason = "Preempted",
                          .action = "Preempting",
                          .note = fmt::format("Preempted by pod {} on node {}{}", order.record->uid,
                                              order.node, in_memory ? " (in kube-scheduler memory)." : ""),
                          .related = order.record});
}

void Evictions::ClearLowerNominations(const Order& order) const {
  cluster::Cluster& cluster = context_.cluster;
  const cluster::NodeRow row = cluster.nodes().Find(order.node);
  if (!row.IsValid()) return;
  const std::int32_t priority = cluster.pods().priority(order.preemptor.id);
  std::vector<cluster::PodSlot> lower;
  for (const cluster::PodSlot pod : cluster.NominatedTo(row)) {
    if (cluster.pods().priority(pod) < priority) lower.push_back(pod);
  }
  for (const cluster::PodSlot pod : lower) {
    cluster.ClearNomination(pod);
    dispatch::Call call{
        .type = dispatch::CallType::kPodStatusPatch, .pod = cluster.pods().facts(pod).record, .change = {}};
    call.change.nominated_node_name = std::string();
    call.on_finish = RestoreUnlessCleared(cluster, cluster.pods().Version(pod));
    static_cast<void>(context_.dispatcher.Add(std::move(call)));
  }
}

void Evictions::TryAgain(PodRef preemptor) const {
  const auto& pods = context_.cluster.pods();
  if (!pods.IsCurrent(preemptor) || pods.state(preemptor.id) != cluster::PodState::kPending) return;
  context_.queue.Activate({&preemptor.id, 1});
}

}  // namespace berth::cycle
