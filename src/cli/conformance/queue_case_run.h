#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "cli/conformance/queue_case_plugins.h"

#include "api/pod_record.h"
#include "base/metrics.h"
#include "cluster/cluster.h"
#include "queue/scheduling_queue.h"

namespace berth::cli {

// Runs the steps of a queue case on berth's queue, and says what there is to see after each, in the words of
// the case.
class QueueCaseRun {
 public:
  QueueCaseRun(const boost::json::object& test_case, bool upstream_backoff_order);

  // What the step alone showed: popped, error, calls.
  boost::json::object Do(const boost::json::object& step);
  boost::json::object State() const;
  boost::json::object Metrics() const;

 private:
  struct Pod {
    cluster::PodRecordRef record;  // the last given to the queue
    cluster::PodSlot slot;
    bool known = true;  // to the informer, and without a node there
  };

  void DoPodStep(const boost::json::object& step, bool is_update);
  void DoDelete(const std::string& key);
  void DoPop(boost::json::object& outcome);
  void DoReject(const boost::json::object& step, boost::json::object& outcome);
  void DoEvent(const boost::json::object& step);
  void DoNominate(const boost::json::object& step);
  void DoGroupAttempted(const boost::json::object& step, boost::json::object& outcome);
  void AddCalls(boost::json::object& outcome);
  // The informer of a case may know less than the queue: then a pod is not nominated.
  void KeepNominationOnlyIfKnown(const Pod& pod);
  queue::PluginSet ReadPlugins(const boost::json::object& step, std::string_view key);
  std::string KeyOf(queue::PodRef pod) const;
  std::string KeyOf(const queue::SchedulingQueue::Entry& entry) const;
  boost::json::object InfoOf(const queue::QueueingParams& params) const;
  void AddInfo(const queue::SchedulingQueue::Entry& entry, boost::json::object& info) const;
  boost::json::array Names(const queue::PluginSet& plugins) const;
  boost::json::object Nominated() const;
  std::int64_t Millis(base::TimePoint time) const;

  // Recorded on a wall clock, which some cases set back.
  class CaseClock final : public base::Clock {
   public:
    base::TimePoint Now() const override { return now; }
    base::WallPoint WallNow() const override { return base::WallPoint(now.time_since_epoch()); }
    base::TimePoint now;
  };

  CaseClock clock_;
  api::SharedParts shared_;
  base::MetricRegistry registry_;
  queue::QueueMetrics metrics_{registry_};
  cluster::Cluster cluster_;
  QueueCasePlugins plugins_;
  std::unique_ptr<queue::SchedulingQueue> queue_;
  bool windows_ = true;
  std::map<std::string, Pod> pods_;                 // by key
  std::map<std::string, queue::PoppedPod> popped_;  // by uid
  std::map<std::string, queue::PoppedEntity> groups_;
};

}  // namespace berth::cli
