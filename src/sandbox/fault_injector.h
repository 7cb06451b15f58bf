#pragma once

#include <memory>
#include <string_view>

#include "base/random.h"
#include "base/timers.h"
#include "net/http_server.h"
#include "sandbox/control_plane.h"
#include "sandbox/exchange.h"
#include "sandbox/fault_plan.h"

namespace berth::sandbox {

// Stands between the port and the API, and lets requests fail as real servers and networks let them: late,
// with errors, with watches that break off or fall silent. What it does follows from the seed and from the
// order of requests. Requests that are not about resources (discovery, health) pass.
class FaultInjector {
 public:
  FaultInjector(ControlPlane& plane, FaultPlan plan);
  ~FaultInjector();
  FaultInjector(const FaultInjector&) = delete;
  FaultInjector& operator=(const FaultInjector&) = delete;

  void Handle(const net::Request& request, std::unique_ptr<Exchange> exchange, bool trusted);

 private:
  // True if the request was answered with an error in place of the API.
  bool Refuses(const net::Request& request, std::string_view verb, Exchange& exchange);
  std::unique_ptr<Exchange> Unreliable(std::unique_ptr<Exchange> exchange);
  base::Duration Delay(std::string_view verb);
  void CompactLater();

  ControlPlane& plane_;
  const FaultPlan plan_;
  base::Random random_;
  base::TimerQueue::TimerId compaction_;
};

}  // namespace berth::sandbox
