#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/executor.h"
#include "base/task.h"
#include "cluster/cluster.h"
#include "cycle/extender.h"
#include "cycle/extender_calls.h"
#include "framework/advice.h"
#include "framework/points.h"
#include "framework/status.h"

namespace berth::cycle {

// The configured extenders as one: who is asked what, in which order, and what their answers come to.
//
// Those whose failures stop a pod are asked before those whose failures do not. Every call here may wait;
// what it is given by value or shared pointer is as it was when the wait began.
class Extenders {
 public:
  Extenders(std::vector<ExtenderSpec> specs, const cluster::Cluster& cluster, ExtenderCalls& calls,
            base::Executor& executor);

  bool empty() const { return extenders_.empty(); }
  // Some of them has a say in where the pod goes.
  bool HaveASay(const api::PodSpec& pod) const;
  bool Prioritize(const api::PodSpec& pod) const { return Any(ExtenderVerb::kPrioritize, pod); }
  bool Preempt(const api::PodSpec& pod) const { return Any(ExtenderVerb::kPreempt, pod); }

  // One after the other, each with what the ones before it left. The error of one that is not ignorable ends
  // it.
  base::Task<base::Result<framework::Advice>> Filter(cluster::PodRecordRef pod,
                                                     std::vector<cluster::NodeRef> nodes);
  // All at once. One that fails gives no score. What comes out is added to the totals of plugins.
  using Scores = framework::NodeScores;
  base::Task<Scores> Prioritize(cluster::PodRecordRef pod, std::vector<cluster::NodeRef> nodes);
  // One after the other. Of the candidates that are left: whom the extenders want evicted, as far as they are
  // still there.
  using Candidates = std::vector<framework::PreemptionCandidate>;
  base::Task<base::Result<Candidates>> Preempt(cluster::PodRecordRef pod, Candidates candidates);
  // Nothing: none of them binds this pod.
  base::Task<std::optional<framework::Status>> Bind(cluster::PodRecordRef pod, std::string node);

 private:
  struct Extender {
    ExtenderSpec spec;
    std::size_t number;  // in the configuration
  };

  static const std::string& VerbOf(const ExtenderSpec& spec, ExtenderVerb verb);
  bool Any(ExtenderVerb verb, const api::PodSpec& pod) const;
  bool IsAsked(const Extender& extender, ExtenderVerb verb, const api::PodRecord& pod) const;
  base::Task<void> Rate(const Extender& extender, ExtenderCall call, Scores& scores);
  // What an answer leaves of the nodes that were shown. Fails if it makes no sense.
  static base::Result<void> Keep(const Extender& extender, const ExtenderAnswer& answer,
                                 std::vector<cluster::NodeRef>& nodes, framework::Advice& advice);
  base::Result<std::vector<NodeVictims>> ReadVictims(const Extender& extender, const ExtenderAnswer& answer,
                                                     std::span<const NodeVictims> shown) const;
  base::Result<NodeVictims> ReadVictims(const Extender& extender, const ExtenderAnswer::Victims& answer,
                                        const NodeVictims* shown) const;
  Candidates StillThere(std::span<const NodeVictims> victims) const;

  std::vector<Extender> extenders_;  // in the order in which they are asked
  const cluster::Cluster& cluster_;
  ExtenderCalls& calls_;
  base::Executor& executor_;
};

}  // namespace berth::cycle
