#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "base/clock.h"
#include "base/random.h"
#include "cluster/digest.h"
#include "core/messages.h"
#include "net/http_client.h"
#include "sandbox/control_plane.h"
#include "sim/faults.h"
#include "sim/story.h"

namespace berth::sim {

// The way of what plugins write to claims and volumes, and of the answers back: the client code of a real
// process, on a connection that takes its time, refuses requests, and now and then loses the answer to one
// that was done.
class WriteLink {
 public:
  using Deliver = std::function<void(core::WriteFinished)>;

  WriteLink(sandbox::ControlPlane& plane, Deliver deliver, base::Random random);
  ~WriteLink();
  WriteLink(const WriteLink&) = delete;
  WriteLink& operator=(const WriteLink&) = delete;

  void SetFaults(const Faults& faults) { faults_ = faults; }
  void SetStory(Story& story) { story_ = &story; }
  void Start(cycle::StartedWrite write);
  // The scheduler is gone, and with it everything that had not reached the server.
  void Restart();

  std::optional<base::TimePoint> NextDeadline() const;
  // No later than NextDeadline(), and after every Start.
  void RunDue();

  // Requests that the server has done.
  std::size_t done_count() const { return done_count_; }
  // Over every request that reached the server, with its time and answer.
  std::uint64_t trace() const { return trace_.value(); }

 private:
  class PlaneTransport;
  class Process;

  base::Duration Delay();
  net::ClientResponse Arrive(const net::ClientRequest& request);

  sandbox::ControlPlane& plane_;
  Deliver deliver_;
  base::Random random_;
  Faults faults_;
  Story* story_ = nullptr;
  std::size_t done_count_ = 0;
  cluster::Digester trace_;
  std::unique_ptr<Process> process_;
};

}  // namespace berth::sim
