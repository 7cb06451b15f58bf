#pragma once

#include <array>
#include <memory>

#include "base/metrics.h"
#include "dispatch/call.h"

namespace berth::dispatch {

// The dispatcher's metrics. Names in the registry must be free.
class DispatchMetrics {
 public:
  explicit DispatchMetrics(base::MetricRegistry& registry);

  void AddPending(CallType type, int sign);
  void ObserveExecution(CallType type, bool succeeded, double seconds);

 private:
  struct Series {
    std::shared_ptr<base::Gauge> pending = {};
    std::array<std::shared_ptr<base::Counter>, 2> executed = {};    // failed, succeeded
    std::array<std::shared_ptr<base::Histogram>, 2> duration = {};  // the same
  };
  std::array<Series, kCallTypeCount> by_type_;
};

}  // namespace berth::dispatch
