#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/pod_record.h"
#include "base/clock.h"
#include "base/metrics.h"
#include "dispatch/dispatcher.h"

namespace berth::dispatch::test {

inline api::PodCondition Scheduled(std::string_view reason, std::string_view message = "m") {
  api::PodCondition condition;
  condition.type = api::kPodScheduled;
  condition.status = "False";
  condition.reason = reason;
  condition.message = message;
  return condition;
}

// A pod as the API server last showed it.
inline cluster::PodRecordRef Pod(std::string_view uid, std::string_view nominated_node = {},
                                 std::vector<api::PodCondition> conditions = {}) {
  api::PodRecord record;
  record.name = std::string("pod-") + std::string(uid);
  record.namespace_ = "a";
  record.uid = uid;
  record.nominated_node_name = nominated_node;
  record.SetConditions(std::move(conditions));
  return std::make_shared<const api::PodRecord>(std::move(record));
}

// A dispatcher under a virtual clock, and what became of each call that was named when it was added.
struct Harness {
  explicit Harness(const DispatcherOptions& options = {})
      : dispatcher(options, {.clock = clock, .metrics = metrics}) {}

  using End = std::pair<std::string, CallEnd>;

  bool Add(std::string name, Call call, base::Duration delay = {}) {
    call.on_finish = [this, name = std::move(name)](const CallOutcome& outcome) {
      ends.emplace_back(name, outcome.end);
    };
    return dispatcher.Add(std::move(call), delay).has_value();
  }
  bool Patch(std::string name, cluster::PodRecordRef pod, api::PodStatusChange change,
             base::Duration delay = {}) {
    return Add(std::move(name),
               {.type = CallType::kPodStatusPatch, .pod = std::move(pod), .change = std::move(change)},
               delay);
  }
  bool Bind(std::string name, cluster::PodRecordRef pod, std::string node) {
    return Add(std::move(name),
               {.type = CallType::kPodBinding, .pod = std::move(pod), .node = std::move(node), .change = {}});
  }
  // Everything that can start now, in order.
  std::vector<Dispatcher::Started> StartAll() {
    std::vector<Dispatcher::Started> started;
    while (auto next = dispatcher.Start()) started.push_back(*std::move(next));
    return started;
  }
  void Succeed(const Dispatcher::Started& started) { dispatcher.Finish(started.id, {}); }
  void Fail(const Dispatcher::Started& started) { dispatcher.Finish(started.id, base::Fail("refused")); }
  std::string Exposition() const { return registry.Text(); }

  base::VirtualClock clock;
  base::MetricRegistry registry;
  DispatchMetrics metrics{registry};
  Dispatcher dispatcher;
  std::vector<End> ends;
};

}  // namespace berth::dispatch::test
