#pragma once

#include <span>
#include <string>

#include "base/clock.h"
#include "base/random.h"
#include "cycle/attempt_trace.h"

namespace berth::server {

struct OtlpResource {
  std::string service = "kube-scheduler";
  std::string version = {};
  std::string instance = {};
};

// Attempts as the body of a request to an OTLP/HTTP receiver (ExportTraceServiceRequest as JSON): a trace for
// each attempt, one span for the whole of it and one below that for each extension point.
//
// `wall_offset` is what to add to the core's time to get that of the wall.
std::string WriteOtlp(std::span<const cycle::AttemptTrace> traces, const OtlpResource& resource,
                      base::Duration wall_offset, base::Random& random);

}  // namespace berth::server
