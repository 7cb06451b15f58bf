#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/random.h"
#include "base/timers.h"
#include "core/scheduler.h"
#include "sandbox/control_plane.h"
#include "sandbox/fake_kubelet.h"
#include "sim/call_link.h"
#include "sim/extender_link.h"
#include "sim/faults.h"
#include "sim/kept_places.h"
#include "sim/promises.h"
#include "sim/story.h"
#include "sim/watch_link.h"
#include "sim/workload.h"
#include "sim/worlds.h"
#include "sim/write_link.h"

namespace berth::sim {

struct SimulationOptions {
  std::uint64_t seed = 1;
  int actions = 120;
  bool has_worlds = false;        // volumes and devices too
  std::ostream* story = nullptr;  // where to tell what happens, if anywhere
};

struct SimulationResult {
  Violations violations;    // the first ones; empty: every promise was kept
  std::uint64_t trace = 0;  // equal for equal seeds: over all requests, and the state at the end
  std::size_t bound = 0;
  std::size_t restarts = 0;
  std::size_t questions = 0;  // to an extender
  std::size_t kept_places = 0;
  std::size_t volumes_bound = 0;
  std::size_t claims_allocated = 0;  // with devices
  std::string setting;               // what was drawn, for whoever reads of a failure
  std::vector<std::string> objects;  // nodes and pods on the server when everything had come to rest
};

// A scheduler on a control plane, with users, machines and an unreliable network, in one thread and virtual
// time. Everything follows from the seed.
//
// First everything goes wrong that the seed wants to go wrong, and what must never happen is looked for. Then
// the faults end, and what must happen in the end has to: every pod that fits is bound.
class Simulation {
 public:
  explicit Simulation(const SimulationOptions& options);

  SimulationResult Run();

 private:
  void StartScheduler();
  void Misbehave();
  void EndFaults();
  // What must hold when everything has come to rest.
  void CheckAtRest();
  // With an extender, in the empty cluster: something happens while it thinks about a pod, and nothing after
  // it.
  void PlayEncores();
  void RunFor(base::Duration duration);
  // The next time at which something happens.
  base::TimePoint NextTime(base::TimePoint end) const;
  bool IsSchedulerDue() const;
  void StepScheduler();
  // A scheduler that starts from what the server has, with nothing in its way, finds no place for any pod.
  void CheckNobodySleeps();
  // The plugins that keep a waiting pod out, by their last word.
  std::vector<std::string_view> RejectorsOf(std::string_view uid) const;
  base::Duration UpTo(base::Duration max);
  bool has_failed() const { return !result_.violations.empty(); }

  const SimulationOptions options_;
  base::Random random_;
  const Workload::Size size_;
  const Faults faults_;
  base::VirtualClock clock_;
  base::TimerQueue timers_;
  sandbox::ControlPlane plane_;
  std::optional<Story> story_;
  sandbox::FakeKubelet kubelet_;
  api::SharedParts shared_;
  std::vector<std::unique_ptr<WatchLink>> watches_;
  CallLink calls_;
  WriteLink writes_;
  Workload workload_;
  ExtenderLink extender_;
  std::optional<Worlds> worlds_;
  std::unique_ptr<base::MetricRegistry> metrics_;
  std::unique_ptr<core::Scheduler> scheduler_;
  std::vector<core::Input> inputs_;
  KeptPlaces kept_places_;
  base::TimePoint paused_until_{};
  SimulationResult result_;
};

SimulationResult Simulate(const SimulationOptions& options);

}  // namespace berth::sim
