#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/clock.h"
#include "cluster/cluster.h"
#include "queue/pre_enqueue_runner.h"

namespace berth::queue {

// What is to be done for a pod whose rejection, or the end of it, is worth telling.
struct RejectionReport {
  enum class Kind : std::uint8_t {
    kWrite,  // PodScheduled=False, reason NotReadyForScheduling, with the message; ends with OnEnd
    kClear,  // remove PodScheduled if its reason is still NotReadyForScheduling; ends with OnEnd
    kEvent,  // a Warning event with that reason and the message, alone
  };
  Kind kind;
  base::Versioned<cluster::PodSlot> pod;
  std::string message = {};
  bool with_event = false;    // of kWrite: the event goes with the patch, when it is made
  base::Duration delay = {};  // of kWrite and kClear: to be made so much later
  std::uint64_t sequence = 0;
};

// Decides what of that which PreEnqueue plugins say is news (KEP-5501). When and whether it is written is the
// dispatcher's business: it delays, merges, and drops what the pod shows already.
//
// 1. The same words are not told twice in a row, nor those that the pod showed when it was first rejected
// here.
// 2. A pod that passes is told so if it was rejected here, or if its status still says that it was, by an
//    earlier process.
// 3. A report that failed is told again after a while, without its event: that was told with the first try.
//
// Every call is O(1). A failed report never touches the queue.
class RejectionReports final : public PreEnqueueObserver {
 public:
  using PodRef = base::Versioned<cluster::PodSlot>;

  // Enabled: the gate, and calls that do not hold up the queue. False: nothing is kept and nothing comes out.
  RejectionReports(bool enabled, const cluster::Cluster& cluster) : enabled_(enabled), cluster_(cluster) {}

  void OnRejected(PodRef pod, const GateVerdict& verdict) override;
  void OnPassed(PodRef pod) override;
  // Before the pod leaves the cluster, or when it has a node.
  void OnDeleted(PodRef pod) { states_.erase(pod); }

  // While it is silent it follows what happens, and nothing comes out: another process tells. Then what may
  // not have been told meanwhile does.
  void SetSilent(bool silent);

  // What has become news since the last call, in order.
  std::vector<RejectionReport> Take() { return std::exchange(reports_, {}); }

  enum class End : std::uint8_t {
    kTold,        // written, or the pod says so already
    kSuperseded,  // something else was to be said first
    kFailed,
  };
  // Of a write or clear.
  void OnEnd(const RejectionReport& report, End end);

  std::size_t pod_count() const { return states_.size(); }

 private:
  struct State {
    std::string last;  // what the pod was told last, or is about to be
    bool seeded = false;
    bool untold = false;                                    // it was silent when that became news
    std::uint64_t sequence = 0;                             // of the last report
    base::Duration delay = framework::ReportModel().delay;  // of the plugin that rejected last
  };

  const api::PodCondition* ConditionOf(PodRef pod) const;
  void Write(PodRef pod, State& state, framework::ReportModel::EventAt event_at);
  void Clear(PodRef pod, State& state);

  const bool enabled_;
  bool silent_ = false;
  const cluster::Cluster& cluster_;
  absl::flat_hash_map<PodRef, State> states_;
  std::vector<RejectionReport> reports_;
  std::uint64_t last_sequence_ = 0;
};

}  // namespace berth::queue
