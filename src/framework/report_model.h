#pragma once

#include <cstdint>
#include <string>

#include "base/clock.h"
#include "framework/queue_points.h"

namespace berth::framework {

// How the rejections of a PreEnqueue plugin get into the pod's status (KEP-5501). The proposal knows five
// ways; the last of them is the one that it chose, and what a plugin gets that asks for nothing else.
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

// Beside PreEnqueuePoint, for a plugin that reports in another way than the default. Found by the queue among
// the bases of the object that is the plugin's PreEnqueuePoint.
class ReportPoint {
 public:
  virtual ~ReportPoint() = default;
  // Asked once, at start.
  virtual ReportModel HowToReport() const = 0;
  // What users are to read of the rejection that PreEnqueue has just answered, if the model takes it from
  // here.
  virtual std::string MessageFor(const WaitingPod&) const { return {}; }
};

}  // namespace berth::framework
