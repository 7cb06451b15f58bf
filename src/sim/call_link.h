#pragma once

#include <cstdint>
#include <functional>

#include "base/random.h"
#include "base/timers.h"
#include "cluster/digest.h"
#include "core/messages.h"
#include "sandbox/control_plane.h"
#include "sim/faults.h"
#include "sim/story.h"

namespace berth::sim {

// The way of a scheduler's requests to the server, and of the answers back. Both take their time, so answers
// come in another order than that of the requests.
class CallLink {
 public:
  using Deliver = std::function<void(core::CallFinished)>;

  CallLink(sandbox::ControlPlane& plane, base::TimerQueue& timers, Deliver deliver, base::Random random)
      : plane_(plane), timers_(timers), deliver_(std::move(deliver)), random_(random) {}

  void SetFaults(const Faults& faults) { faults_ = faults; }
  void SetStory(Story& story) { story_ = &story; }
  void Start(core::ApiCall call);
  // The scheduler is gone. What reached the server was done; the answers go nowhere, and what was still on
  // the way is lost: a process that died writes no more.
  void Restart() { ++generation_; }

  // Requests under way.
  std::size_t pending_count() const { return pending_count_; }
  std::size_t bound_count() const { return bound_count_; }
  // Over every request that was made, with its time and answer.
  std::uint64_t trace() const { return trace_.value(); }

 private:
  base::Duration Delay();
  void Arrive(const core::ApiCall& call);
  // Whether it changed anything.
  base::Result<bool> Execute(const core::ApiCall& call);
  base::Result<void> Bind(const core::ApiCall& call);
  base::Result<void> PatchStatus(const core::ApiCall& call);
  base::Result<bool> Delete(const core::ApiCall& call);

  sandbox::ControlPlane& plane_;
  base::TimerQueue& timers_;
  Deliver deliver_;
  base::Random random_;
  Faults faults_;
  Story* story_ = nullptr;
  std::uint64_t generation_ = 0;
  std::size_t pending_count_ = 0;
  std::size_t bound_count_ = 0;
  cluster::Digester trace_;
};

}  // namespace berth::sim
