#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"
#include "queue/scheduling_queue.h"
#include "support/builders.h"

namespace berth::queue::test {

using berth::test::MakePod;
using berth::test::PodBuilder;
using framework::ClusterEvent;
using framework::EventResource;
using framework::Hint;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

using HintAnswer = std::function<base::Result<Hint>(const framework::HintInput&)>;
using PreHintAnswer = std::function<base::Result<framework::PreHint>(const framework::PreHintInput&)>;

// One wish of a plugin to hear of an event. No answer: a registration without a hint, which always queues.
struct Wish {
  ClusterEvent event;
  HintAnswer hint = nullptr;
  PreHintAnswer pre_hint = nullptr;
  bool by_template = false;
};

struct PluginSpec {
  std::string name;
  std::vector<Wish> wishes = {};
  // Not there: the plugin has no PreEnqueue.
  std::function<framework::Status(const api::PodRecord&)> gate = nullptr;
};

HintAnswer Says(Hint hint);
inline HintAnswer SaysQueue() { return Says(Hint::kQueue); }
inline HintAnswer SaysSkip() { return Says(Hint::kQueueSkip); }
HintAnswer Fails();
PreHintAnswer Names(std::vector<std::string> pods);
PreHintAnswer AllPods();
// Rejects the pods with the label gate=<the plugin's word>.
std::function<framework::Status(const api::PodRecord&)> RejectsLabel(std::string word,
                                                                     std::string message = "no");

inline constexpr ClusterEvent kNodeAdd{EventResource::kNode, framework::kAdd};
inline constexpr ClusterEvent kNodeUpdate{EventResource::kNode, framework::kUpdateNodeLabel};
inline constexpr ClusterEvent kAssignedPodAdd{EventResource::kAssignedPod, framework::kAdd};
inline constexpr ClusterEvent kAssignedPodDelete{EventResource::kAssignedPod, framework::kDelete};
inline constexpr ClusterEvent kPvAdd{EventResource::kPersistentVolume, framework::kAdd};
inline constexpr ClusterEvent kClaimUpdate{EventResource::kResourceClaim, framework::kUpdate};
inline constexpr ClusterEvent kTargetPodUpdate{EventResource::kTargetPod, framework::kUpdate};

api::Pod GroupPod(std::string name, std::string group);
api::PodGroup Group(std::string name, std::int32_t priority = 0);

// A queue with a cluster, a clock and made-up plugins. Pods are told apart by their names and are in the
// namespace "default"; the profile is "default-scheduler". Time starts at a whole second.
class QueueHarness {
 public:
  explicit QueueHarness(std::vector<PluginSpec> plugins = {}, QueueOptions options = {},
                        PreEnqueueObserver* observer = nullptr,
                        std::vector<QueueProfile::PreEnqueue> more_gates = {});
  ~QueueHarness();

  // As the core does it: the cluster first, then the queue.
  void Add(api::Pod pod);
  void Update(api::Pod pod);
  void Delete(const std::string& name);
  // The name of the pod or "group:" and the name of the group; empty if nothing can be popped.
  std::string Pop();
  void Reject(const std::string& name, const std::vector<std::string>& plugins,
              const std::vector<std::string>& pending = {}, std::uint64_t likeness = 0);
  void Fail(const std::string& name) { Reject(name, {}); }
  // Adds a pod that is tried first, and has it rejected: it waits for an event of these plugins.
  void Park(const std::string& name, const std::vector<std::string>& plugins);
  void Done(const std::string& name) { queue->Done(popped.at(name).pod); }
  void Notify(const ClusterEvent& event, const SchedulingQueue::PreCheck& check = nullptr);
  // Everybody, hints or no hints.
  void Wildcard() { queue->Notify(framework::kUnschedulableTimeout, {}, {}); }
  void Activate(const std::string& name);
  void Advance(base::Duration by) { clock.Advance(by); }
  base::Result<void> GroupTried(const std::string& group, GroupOutcome outcome);

  cluster::PodSlot Slot(const std::string& name) const { return slots.at(name); }
  Place Where(const std::string& name) const { return queue->WhereIs(Slot(name)); }
  const QueueingParams& Params(const std::string& name) const;
  bool IsGated(const std::string& name) const { return Params(name).gated(); }
  std::vector<std::string> List(Place place) const;
  int HintCalls(const std::string& plugin) const;
  double Gauge(std::string_view family, std::initializer_list<std::string_view> labels);
  double Counter(std::string_view family, std::initializer_list<std::string_view> labels);

  base::VirtualClock clock;
  base::MetricRegistry registry;
  QueueMetrics metrics{registry};
  cluster::Cluster cluster;
  std::unique_ptr<SchedulingQueue> queue;
  std::map<std::string, cluster::PodSlot> slots;
  std::map<std::string, PoppedPod> popped;
  std::map<std::string, PoppedEntity> popped_groups;
  std::string error;                    // of the last Reject
  std::vector<std::string> hint_calls;  // "plugin pod"
  std::vector<std::string> pre_enqueue_calls;

 private:
  class Gate;
  cluster::PodRecordRef Record(api::Pod pod);

  api::SharedParts shared_;
  std::vector<std::unique_ptr<Gate>> gates_;
};

}  // namespace berth::queue::test
