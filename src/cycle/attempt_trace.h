#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "cluster/pod_table.h"

namespace berth::cycle {

// A stretch of an attempt: one extension point.
struct TraceSpan {
  std::string_view name;  // a constant
  base::TimePoint begin;
  base::TimePoint end;
  std::string_view status;  // a constant: Success, Unschedulable, …
};

// When an attempt did what, for those who follow single pods. Made for a sample of the attempts only.
struct AttemptTrace {
  cluster::PodRecordRef pod;
  std::string profile;
  std::int32_t attempt = 0;  // 1 is the pod's first
  std::string node = {};     // empty: none was found
  std::string_view result;   // scheduled, unschedulable or error
  std::string message = {};  // why it is not scheduled
  base::TimePoint begin;
  base::TimePoint end;
  std::vector<TraceSpan> spans = {};
};

// Around one extension point; does nothing for an attempt that is not traced.
class TracedSpan {
 public:
  TracedSpan(AttemptTrace* trace, std::string_view name, const base::Clock& clock)
      : trace_(trace),
        name_(name),
        clock_(clock),
        began_(trace == nullptr ? base::TimePoint() : clock.Now()) {}
  ~TracedSpan() {
    if (trace_ != nullptr) trace_->spans.push_back({name_, began_, clock_.Now(), status_});
  }
  TracedSpan(const TracedSpan&) = delete;
  TracedSpan& operator=(const TracedSpan&) = delete;

  void SetStatus(std::string_view status) { status_ = status; }

 private:
  AttemptTrace* const trace_;
  const std::string_view name_;
  const base::Clock& clock_;
  const base::TimePoint began_;
  std::string_view status_ = "Success";
};

}  // namespace berth::cycle
