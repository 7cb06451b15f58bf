#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/timers.h"
#include "core/messages.h"
#include "sandbox/control_plane.h"
#include "sim/faults.h"

namespace berth::sim {

// A program outside that has a say in where pods go, at the other end of a slow line. What it thinks of a pod
// and a node follows from their names and never changes, so that a pod which it refuses everywhere may wait,
// and any other may not.
class ExtenderLink {
 public:
  using Deliver = std::function<void(core::ExtenderFinished)>;

  ExtenderLink(sandbox::ControlPlane& plane, base::TimerQueue& timers, Deliver deliver, base::Random random)
      : plane_(plane), timers_(timers), deliver_(std::move(deliver)), random_(random) {}

  // How the scheduler knows it.
  static cycle::ExtenderSpec Spec(bool ignorable);
  static cycle::ExtenderAnswer Answer(const cycle::ExtenderCall& call);
  static bool Likes(const api::PodRecord& pod, std::string_view node);
  // What it thinks of pods with this label.
  static bool LikesApp(const std::string& app, std::string_view node);

  void SetFaults(const Faults& faults) { faults_ = faults; }
  void Ask(cycle::ExtenderCall call);
  // The scheduler is gone: answers go nowhere.
  void Restart() { ++generation_; }
  std::uint64_t asked_count() const { return asked_count_; }

 private:
  sandbox::ControlPlane& plane_;
  base::TimerQueue& timers_;
  Deliver deliver_;
  base::Random random_;
  Faults faults_;
  std::uint64_t generation_ = 0;
  std::uint64_t asked_count_ = 0;
};

}  // namespace berth::sim
