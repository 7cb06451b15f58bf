#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/clock.h"
#include "cluster/cluster.h"
#include "queue/pre_enqueue_runner.h"

namespace berth::queue {

// How the rejections of a PreEnqueue plugin get into the pod's status (KEP-5501). The proposals know five
// ways; the last is the contract.
struct ReportModel {
  enum class Source : std::uint8_t { kStatus, kResult };  // the status' own words, or a message beside it
  enum class EventAt : std::uint8_t { kEnqueue, kExecution };

  Source source = Source::kStatus;
  bool opt_out_on_empty = false;  // an empty message means: do not report
  base::Duration delay = std::chrono::seconds(5);
  bool seed_from_pod = true;  // what the pod's condition says already is not reported again
  EventAt event_at = EventAt::kExecution;

  static ReportModel ExplicitImmediate() {
    return {Source::kResult, true, base::Duration::zero(), false, EventAt::kEnqueue};
  }
  static ReportModel ExplicitDelayed() { return {.source = Source::kResult, .opt_out_on_empty = true}; }
  static ReportModel ImplicitDelayedOptOut() { return {.opt_out_on_empty = true}; }
  static ReportModel ImplicitImmediate() { return {.delay = base::Duration::zero()}; }
  static ReportModel ImplicitDelayed() { return {}; }
};

// What is to be done for a pod whose rejection, or the end of it, is worth telling.
struct RejectionReport {
  enum class Kind : std::uint8_t {
    kWrite,  // PodScheduled=False, reason NotReadyForScheduling, with the message; answered by OnResult
    kClear,  // remove PodScheduled if its reason is still NotReadyForScheduling; answered by OnResult
    kEvent,  // a Warning event with that reason and the message, alone
  };
  Kind kind;
  base::Versioned<cluster::PodSlot> pod;
  std::string message;
  bool with_event = false;  // of kWrite: the event goes with the patch, once it is stored
};

// Turns what PreEnqueue plugins say into changes of the pods' conditions.
//
// 1. At most one report per pod is pending, and it says what was said last; its deadline is that of the
// first.
// 2. A report that would not change what is known of the pod is dropped when it is due, with its event.
// 3. While a report of a pod is being executed, the next one waits.
//
// 4. A report that failed is pending again, without its event: that was told with the first try.
//
// Every call is O(1). A failed report never touches the queue.
class RejectionReports final : public PreEnqueueObserver {
 public:
  struct Options {
    // The gate, and calls that do not hold up the queue. False: nothing is kept and nothing comes out.
    bool enabled = true;
    ReportModel model = {};
    std::map<std::string, ReportModel, std::less<>> by_plugin = {};  // where it differs
  };
  using PodRef = base::Versioned<cluster::PodSlot>;

  RejectionReports(Options options, const cluster::Cluster& cluster, const base::Clock& clock)
      : options_(std::move(options)), cluster_(cluster), clock_(clock) {}

  // A rejection without a message beside the status.
  void OnRejected(PodRef pod, const framework::Status& status) override { OnRejected(pod, status, ""); }
  void OnRejected(PodRef pod, const framework::Status& status, std::string_view result_message);
  void OnPassed(PodRef pod) override;

  // Another patch of the PodScheduled condition was sent: it says more than a pending report.
  void OnStatusPatched(PodRef pod) { DropPending(pod); }
  void OnBinding(PodRef pod) { DropPending(pod); }
  // Before the pod leaves the cluster.
  void OnDeleted(PodRef pod) { states_.erase(pod); }

  // Nothing: there is nothing to wait for.
  std::optional<base::TimePoint> NextDeadline() const;
  // What is to be done now.
  std::vector<RejectionReport> TakeDue();
  // The end of a write or clear. One that failed is tried again after a while, unless something newer is to
  // be told by then.
  void OnResult(const RejectionReport& report, bool stored);

  std::size_t pod_count() const { return states_.size(); }

 private:
  struct Pending {
    bool clear = false;
    bool with_event = false;
    std::string message;
    base::TimePoint deadline;
  };
  struct State {
    std::string last;  // what the pod was told last, or is about to be
    bool seeded = false;
    bool executing = false;
    base::Duration delay{};  // of the plugin that rejected last
    std::optional<Pending> pending = {};
  };
  struct Deadline {
    base::TimePoint time;
    PodRef pod;
  };

  const ReportModel& ModelOf(std::string_view plugin) const;
  const api::PodCondition* ConditionOf(PodRef pod) const;
  bool WouldChange(PodRef pod, const Pending& pending) const;
  void Enqueue(PodRef pod, State& state, Pending pending);
  void TakeDueOf(std::deque<Deadline>& deadlines, std::vector<RejectionReport>& due);
  void DropPending(PodRef pod);

  const Options options_;
  const cluster::Cluster& cluster_;
  const base::Clock& clock_;
  absl::flat_hash_map<PodRef, State> states_;
  // Each in order, since its delay is constant. Entries of reports that were dropped or taken are passed
  // over.
  std::deque<Deadline> immediate_;
  std::deque<Deadline> delayed_;
  std::vector<RejectionReport> events_;
};

}  // namespace berth::queue
