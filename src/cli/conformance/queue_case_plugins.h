#pragma once

#include <boost/json/fwd.hpp>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "queue/scheduling_queue.h"

namespace berth::cli {

// What the plugins of a queue case were asked in one step.
struct QueueCalls {
  struct Hints {
    std::string plugin;
    std::string pod;
    int count = 0;
  };
  std::map<std::string, Hints> hints;    // by "pod|plugin", as cases are sorted
  std::map<std::string, int> pre_hints;  // by plugin
  struct Pass {
    int count = 0;
    std::string rejected_by;
  };
  std::map<std::string, Pass> passes;  // by pod
};

// The made-up plugins of a queue case, whose rules are in the case. They write down each call.
class QueueCasePlugins final : public queue::PreEnqueueObserver {
 public:
  QueueCasePlugins(const boost::json::object& test_case, const cluster::Cluster& cluster);
  ~QueueCasePlugins() override;

  std::vector<queue::QueueProfile> Profiles();
  void Toggle(std::string_view plugin, bool open);
  // Of the step until now; the next begins.
  QueueCalls TakeCalls() { return std::exchange(calls_, {}); }

  void OnRejected(queue::PodRef pod, const queue::GateVerdict& verdict) override;
  void OnPassed(queue::PodRef pod) override;

 private:
  class Gate;

  std::vector<framework::EventRegistration> Registrations(const boost::json::object& plugin);
  framework::EventRegistration MakeRegistration(const std::string& plugin, const boost::json::object& wish);
  std::string KeyOf(queue::PodRef pod) const;

  const boost::json::object& test_case_;
  const cluster::Cluster& cluster_;
  std::map<std::string, std::unique_ptr<Gate>, std::less<>> gates_;
  std::set<std::string, std::less<>> gated_profiles_;  // those with a PreEnqueue plugin
  QueueCalls calls_;
};

framework::ClusterEvent ReadQueueEvent(const boost::json::object& from);

}  // namespace berth::cli
