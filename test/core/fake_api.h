#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/pod_record.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "core/scheduler.h"
#include "support/builders.h"

namespace berth::core::test {

inline berth::test::NodeBuilder Node(std::string name, std::string_view cpu = "1") {
  return berth::test::MakeNode(std::move(name)).Cpu(cpu).Memory("8Gi").Hostname();
}
inline berth::test::PodBuilder Pod(std::string name, std::string_view cpu = "1") {
  return berth::test::MakePod(std::move(name)).SchedulerName("default-scheduler").Cpu(cpu);
}
inline berth::test::PodBuilder Pod(std::string name, std::int32_t priority, std::string_view cpu = "1") {
  return Pod(std::move(name), cpu).Priority(priority);
}

// An API server of pods and nodes in a few lines, with a scheduler on it under a virtual clock. Writes are
// answered when the test says so, and what they change is seen a step later, as over a watch. A pod that is
// deleted is gone at once, or, if it is to take its time, says that it is going until the test ends it.
class FakeApi {
 public:
  explicit FakeApi(SchedulerOptions options = {}) {
    options.engine.verify_views = true;
    scheduler_ = *Scheduler::Make(options, clock_, metrics_);
  }

  void SetGraceful(bool graceful) { is_graceful_ = graceful; }

  Scheduler& scheduler() { return *scheduler_; }
  std::string metrics() const { return metrics_.Text(); }
  const std::vector<cycle::AttemptTrace>& traces() const { return traces_; }
  bool exists(const std::string& name) const { return pods_.contains(name); }
  base::VirtualClock& clock() { return clock_; }
  std::vector<ApiCall>& waiting_calls() { return calls_; }
  // Those that wait for an answer, which is the test's to give from here on.
  std::vector<ApiCall> TakeCalls() { return std::exchange(calls_, {}); }
  std::vector<ApiCall> TakeCalls(dispatch::CallType type) {
    std::vector<ApiCall> taken;
    std::erase_if(calls_, [&](const ApiCall& call) {
      if (call.type != type) return false;
      taken.push_back(call);
      return true;
    });
    return taken;
  }
  std::vector<cycle::PodEvent>& events() { return events_; }
  std::vector<cycle::ExtenderCall>& questions() { return questions_; }
  // Who answers the questions of extended attempts; without, they wait for the test.
  using Extender = std::function<base::Result<cycle::ExtenderAnswer>(const cycle::ExtenderCall&)>;
  void SetExtender(Extender extender) { extender_ = std::move(extender); }
  // Nobody answers them but the test.
  std::vector<cycle::StartedWrite>& writes() { return writes_; }
  void Answer(const cycle::StartedWrite& write, base::Result<cluster::AnyObject> result) {
    inputs_.push_back(WriteFinished{write.id, std::move(result)});
  }
  const api::PodRecord& pod(const std::string& name) const { return *pods_.at(name); }
  std::string node_of(const std::string& name) const { return pods_.at(name)->node_name; }

  void Create(const berth::test::NodeBuilder& node) { inputs_.push_back(NodeSeen{node.Ref()}); }
  void DeleteNode(std::string name) { inputs_.push_back(NodeGone{std::move(name)}); }
  void Create(const berth::test::PodBuilder& pod) { Store(*pod.Record()); }
  // A pod as another scheduler left it.
  void CreateRecord(api::PodRecord record) { Store(std::move(record)); }
  void Create(api::PodDisruptionBudget budget) {
    inputs_.push_back(ObjectSeen{std::make_shared<const api::PodDisruptionBudget>(std::move(budget))});
  }
  // Any other object came or changed, or is gone.
  template <class T>
  void See(const T& object) {
    inputs_.push_back(ObjectSeen{std::make_shared<const T>(object)});
  }
  template <class T>
  void Forget(const T& object) {
    inputs_.push_back(ObjectGone{std::make_shared<const T>(object)});
  }
  void DeletePod(const std::string& name) {
    const auto found = pods_.find(name);
    inputs_.push_back(PodGone{found->second->namespace_, name, found->second->uid});
    pods_.erase(found);
  }
  // Replaces what the function changes.
  template <class F>
  void Change(const std::string& name, F&& change) {
    api::PodRecord record = *pods_.at(name);
    change(record);
    Store(std::move(record));
  }

  // One step with what has happened; calls wait for an answer.
  void Step() {
    Outputs outputs;
    const std::vector<Input> inputs = std::exchange(inputs_, {});
    scheduler_->Step(inputs, outputs);
    std::ranges::move(outputs.calls, std::back_inserter(calls_));
    std::ranges::move(outputs.events, std::back_inserter(events_));
    std::ranges::move(outputs.questions, std::back_inserter(questions_));
    std::ranges::move(outputs.traces, std::back_inserter(traces_));
    std::ranges::move(outputs.writes, std::back_inserter(writes_));
  }
  // Answers all calls, as an API server would.
  void AnswerAll() {
    for (ApiCall& call : std::exchange(calls_, {})) Answer(call);
    if (!extender_) return;
    for (cycle::ExtenderCall& call : std::exchange(questions_, {})) Answer(call, extender_(call));
  }
  void AnswerPatches() {
    for (const ApiCall& call : TakeCalls(dispatch::CallType::kPodStatusPatch)) Answer(call);
    Step();
  }
  void Answer(const cycle::ExtenderCall& call, base::Result<cycle::ExtenderAnswer> answer) {
    inputs_.push_back(ExtenderFinished{call.id, std::move(answer)});
  }
  void Answer(const ApiCall& call) {
    CallFinished finished{.id = call.id, .result = {}};
    if (call.type == dispatch::CallType::kPodDeletion && !IsThere(call)) {
      finished.had_effect = false;
    } else {
      finished.result = Execute(call);
    }
    inputs_.push_back(std::move(finished));
  }
  // Says that it is done; the test does it, later.
  void AnswerOnly(const ApiCall& call) { inputs_.push_back(CallFinished{.id = call.id, .result = {}}); }
  // It is done, but the watch is behind.
  void AnswerUnseen(const ApiCall& call) {
    std::vector<Input> before = std::exchange(inputs_, {});
    Answer(call);
    std::erase_if(inputs_, [](const Input& input) { return std::holds_alternative<PodSeen>(input); });
    inputs_.insert(inputs_.begin(), before.begin(), before.end());
  }
  void Refuse(const ApiCall& call, std::string message) {
    inputs_.push_back(CallFinished{call.id, base::Fail(std::move(message))});
  }
  // Until nothing happens any more at this time.
  void Settle() {
    do {
      Step();
      AnswerAll();
    } while (!inputs_.empty() || scheduler_->HasWork());
  }
  // Lets time pass in steps, as long as the scheduler asks for it.
  void Run(base::Duration duration) {
    const base::TimePoint end = clock_.Now() + duration;
    Settle();
    while (true) {
      const auto next = scheduler_->NextDeadline();
      if (!next || *next > end) break;
      if (*next > clock_.Now()) clock_.SetTo(*next);
      Settle();
    }
    clock_.SetTo(end);
    Settle();
  }

  std::vector<std::string> NotesFor(const std::string& reason) const {
    std::vector<std::string> notes;
    for (const auto& event : events_) {
      if (event.reason == reason) notes.push_back(event.note);
    }
    return notes;
  }
  const api::PodCondition* Condition(const std::string& name) const {
    const auto& conditions = pods_.at(name)->conditions();
    const auto found = std::ranges::find(conditions, api::kPodScheduled, &api::PodCondition::type);
    return found == conditions.end() ? nullptr : &*found;
  }
  // What the pod's condition says; empty without one.
  std::string ReasonOf(const std::string& name) const {
    return Condition(name) == nullptr ? "" : Condition(name)->reason;
  }
  std::string MessageOf(const std::string& name) const {
    return Condition(name) == nullptr ? "" : Condition(name)->message;
  }
  // The node that the scheduler keeps a place on for it; empty without.
  std::string NominationOf(const std::string& name) const {
    const auto& cluster = scheduler_->cluster();
    const auto node = cluster.nominator().NodeOf(cluster.pods().Find("default", name));
    return node.IsValid() ? std::string(cluster.nodes().NameText(node)) : "";
  }
  queue::Place PlaceOf(const std::string& name) const {
    const cluster::PodSlot pod = scheduler_->cluster().pods().Find("default", name);
    return pod.IsValid() ? scheduler_->queue().WhereIs(pod) : queue::Place::kNowhere;
  }

 private:
  void Store(api::PodRecord record) {
    record.resource_version = std::to_string(++version_);
    auto stored = std::make_shared<const api::PodRecord>(std::move(record));
    pods_[stored->name] = stored;
    inputs_.push_back(PodSeen{stored});
  }

  bool IsThere(const ApiCall& call) const {
    const auto found = pods_.find(call.pod->name);
    return found != pods_.end() && found->second->uid == call.pod->uid;
  }

  base::Result<void> Execute(const ApiCall& call) {
    if (!IsThere(call)) return base::Fail("not found");
    api::PodRecord record = *pods_.at(call.pod->name);
    if (call.type == dispatch::CallType::kPodBinding) {
      if (!record.node_name.empty())
        return base::Fail("pod " + record.name + " is already assigned to a node");
      record.node_name = call.node;
      record.nominated_node_name = "";
    } else {
      std::vector<api::PodCondition> conditions = record.conditions();
      for (const api::PodCondition& condition : call.change.conditions) {
        std::erase_if(conditions, [&](const auto& old) { return old.type == condition.type; });
        conditions.push_back(condition);
      }
      if (call.change.remove_not_ready) std::erase_if(conditions, api::IsNotReadyForScheduling);
      record.SetConditions(std::move(conditions));
      // As the patch is made: what the caller takes for the pod's own value already is not in it.
      const auto& nominated = call.change.nominated_node_name;
      if (nominated && *nominated != call.nomination) record.nominated_node_name = *nominated;
    }
    const bool deletes = call.type == dispatch::CallType::kPodDeletion;
    if (deletes) record.deletion_timestamp = api::Time{.unix_seconds = 1};
    Store(std::move(record));
    if (deletes && !is_graceful_) DeletePod(call.pod->name);
    return {};
  }

  base::VirtualClock clock_;
  base::MetricRegistry metrics_;
  std::unique_ptr<Scheduler> scheduler_;
  std::map<std::string, cluster::PodRecordRef> pods_;
  std::vector<Input> inputs_;
  std::vector<ApiCall> calls_;
  std::vector<cycle::PodEvent> events_;
  std::vector<cycle::ExtenderCall> questions_;
  Extender extender_;
  std::vector<cycle::AttemptTrace> traces_;
  std::vector<cycle::StartedWrite> writes_;
  int version_ = 0;
  bool is_graceful_ = false;
};

}  // namespace berth::core::test
