#pragma once

#include <functional>
#include <memory>
#include <optional>

#include "client/api_client.h"

#include "base/clock.h"
#include "base/executor.h"
#include "base/random.h"
#include "core/messages.h"
#include "sandbox/control_plane.h"
#include "shell/object_requests.h"

namespace berth::bench {

// The writes of a scheduler to volumes and claims, as requests to a control plane in the same thread. They
// are the requests that the scheduler's process makes, but for the network, and take no time.
class LocalWrites {
 public:
  using Deliver = std::function<void(core::WriteFinished)>;

  // `plane` outlives it.
  LocalWrites(sandbox::ControlPlane& plane, Deliver deliver, base::Random random);
  ~LocalWrites();
  LocalWrites(const LocalWrites&) = delete;
  LocalWrites& operator=(const LocalWrites&) = delete;

  void Start(cycle::StartedWrite write);
  // Does what can be done now.
  void Run() { executor_.RunReady(); }
  // When there is more to do: a write that conflicted waits before it is made again.
  std::optional<base::TimePoint> NextDeadline() const { return executor_.NextDeadline(); }

 private:
  class Transport;
  class Nobody;

  base::Task<void> Execute(cycle::StartedWrite write);

  Deliver deliver_;
  base::Executor executor_;
  std::unique_ptr<Transport> transport_;
  std::unique_ptr<Nobody> nobody_;
  std::unique_ptr<client::ApiClient> client_;
  std::unique_ptr<shell::ObjectRequests> requests_;
  // Last: the tasks refer to the rest.
  std::unique_ptr<base::TaskSet> tasks_;
};

}  // namespace berth::bench
