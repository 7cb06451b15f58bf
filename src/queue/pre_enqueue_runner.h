#pragma once

#include <string>

#include "cluster/cluster.h"
#include "framework/report_model.h"
#include "framework/status.h"
#include "queue/event_map.h"
#include "queue/item_store.h"

namespace berth::queue {

// Why a plugin keeps a pod out, and how it wants that told.
struct GateVerdict {
  const framework::Status& status;
  const framework::ReportModel& model;
  std::string result_message = {};  // beside the status, if the model looks at it
};

// Hears what PreEnqueue plugins said about a pod: rejection_reports.h turns it into the pod's status.
class PreEnqueueObserver {
 public:
  virtual ~PreEnqueueObserver() = default;
  virtual void OnRejected(base::Versioned<cluster::PodSlot> pod, const GateVerdict& verdict) = 0;
  // All plugins passed.
  virtual void OnPassed(base::Versioned<cluster::PodSlot> pod) = 0;
};

// Asks the PreEnqueue plugins whether a pod may be tried at all.
class PreEnqueueRunner {
 public:
  PreEnqueueRunner(const cluster::Cluster& cluster, EventMap& events, QueueMetrics& metrics,
                   PreEnqueueObserver* observer)
      : cluster_(cluster), events_(events), metrics_(metrics), observer_(observer) {}

  // Sets or clears who gates the pod; true if nobody does. The plugin that gated it last is asked first, the
  // others in the order of the profile until one rejects.
  bool Run(Item& pod) const;

 private:
  bool Passes(Item& pod, std::size_t plugin) const;

  const cluster::Cluster& cluster_;
  EventMap& events_;
  QueueMetrics& metrics_;
  PreEnqueueObserver* observer_;
};

}  // namespace berth::queue
