#pragma once

#include <functional>

#include "cluster/cluster.h"
#include "dispatch/dispatcher.h"
#include "queue/rejection_reports.h"

namespace berth::core {

// Tells users of pods that are not even tried: what the queue's PreEnqueue plugins said becomes calls that
// wait in the dispatcher, and how those end goes back.
class RejectionReporter {
 public:
  // All outlive it.
  struct Setup {
    queue::RejectionReports& reports;
    const cluster::Cluster& cluster;
    dispatch::Dispatcher& dispatcher;
  };
  using RecordFn = std::function<void(const cluster::PodRecordRef&, const dispatch::CallEvent&)>;

  // Events that do not wait for a call are recorded at once; the others go with their calls.
  RejectionReporter(const Setup& setup, RecordFn record) : setup_(setup), record_(std::move(record)) {}

  // Everything that became news since the last time.
  void TellAll();

 private:
  void Tell(const queue::RejectionReport& report);

  const Setup setup_;
  const RecordFn record_;
};

}  // namespace berth::core
