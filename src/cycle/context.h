#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/executor.h"
#include "cluster/cluster.h"
#include "cycle/attempt_trace.h"
#include "cycle/cycle_metrics.h"
#include "cycle/late_updates.h"
#include "cycle/plugin_metrics.h"
#include "dispatch/dispatcher.h"
#include "framework/decide.h"
#include "framework/profile.h"
#include "queue/scheduling_queue.h"

namespace berth::cycle {

// One scheduler name at work.
struct ProfileRuntime {
  std::unique_ptr<framework::RejectionTable> rejections;
  std::unique_ptr<const framework::Profile> profile;
  std::unique_ptr<framework::Engine> engine;
  std::unique_ptr<PointDurations> points;
  std::unique_ptr<AttemptObserver> observer;
};

// What users read about a pod, beside its status.
struct PodEvent {
  cluster::PodRecordRef pod;
  std::string reporter;  // the scheduler name
  std::string type;      // "Normal" or "Warning"
  std::string reason;
  std::string action;
  std::string note;
  cluster::PodRecordRef related = {};  // another pod that it is about, too; or none
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void Record(PodEvent event) = 0;
  virtual void RecordTrace(AttemptTrace /*trace*/) {}
};

// What the cycles of all profiles share. Everything outlives them.
struct CycleContext {
  cluster::Cluster& cluster;
  queue::SchedulingQueue& queue;
  dispatch::Dispatcher& dispatcher;
  base::Executor& executor;
  EventSink& events;
  CycleMetrics& metrics;
  LateUpdates& late_updates;
  // How many of a million attempts are traced.
  std::uint32_t traces_per_million = 0;

  const base::Clock& clock() const { return executor.clock(); }
};

}  // namespace berth::cycle
