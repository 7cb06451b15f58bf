#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "base/timers.h"
#include "net/http_server.h"
#include "sandbox/api_server.h"
#include "sandbox/object_writer.h"
#include "sandbox/store.h"

namespace berth::sandbox {

// A cluster's control plane in one object: the store, its API, and the timers that drive both. Without
// sockets and without a clock of its own, so that it runs in a simulation as it does behind a port.
//
// The owner calls RunDue() no later than NextDeadline(), and again after every call into it.
class ControlPlane {
 public:
  struct Options {
    Store::Options store = {};
    ApiServer::Options api = {};
    std::uint64_t seed = 1;  // of uids and generated names
  };

  ControlPlane(const base::Clock& clock, Options options);
  ControlPlane(const ControlPlane&) = delete;
  ControlPlane& operator=(const ControlPlane&) = delete;

  Store& store() { return store_; }
  ObjectWriter& writer() { return writer_; }
  ApiServer& api() { return api_; }
  base::TimerQueue& timers() { return timers_; }
  const base::Clock& clock() const { return clock_; }

  std::optional<base::TimePoint> NextDeadline() const { return timers_.NextDeadline(); }
  void RunDue() { timers_.RunDue(clock_.Now()); }

  // Creates the objects of a manifest, YAML or JSON, in its order. Stops at the first that is refused.
  base::Result<std::size_t> Load(std::string_view manifest);

 private:
  void CreateBuiltIns();

  const base::Clock& clock_;
  base::TimerQueue timers_;
  Store store_;
  ObjectWriter writer_;
  ApiServer api_;
};

}  // namespace berth::sandbox
