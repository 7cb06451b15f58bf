#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "api/pod_template.h"
#include "cluster/cluster.h"
#include "framework/features.h"
#include "framework/plan.h"
#include "framework/rejections.h"

namespace berth::framework {

class Cycle;

// What a plan may be made of.
struct PlanInput {
  const api::PodSpec& spec;  // lives as long as the plan
  const cluster::Requests& requests;
  api::TemplateId template_id;
  // Only for tables that never change under an id (resources, ports): everything else may have changed when
  // the plan is used.
  const cluster::Cluster& cluster;
  const Features& features;
};

// A plugin: its name, its words, and the points at which it takes part, each one of the interfaces in
// points.h that it inherits beside this class.
//
//   class TaintToleration final : public Plugin, public PreFilterPoint, public FilterPoint, public ScorePoint
//
// A plugin is const: it holds its arguments and the gates that it reads, nothing else. What belongs to a
// template is in the Plan, what follows the cluster in the State, what belongs to one pod in CycleData. So
// one attempt cannot leave anything behind in another, and a plan or state can be dropped at any moment.
//
// No clock, no randomness, no walk over a hash table may reach an answer.
class Plugin {
 public:
  virtual ~Plugin() = default;

  virtual std::string_view Name() const = 0;
  // Refusals with words that never vary, by the plugin's own ReasonId.
  virtual std::span<const ReasonText> Reasons() const { return {}; }

  // Called once per profile and (template, requests), before anything else for such pods. Null stands for a
  // plan that says nothing: the plugin always takes part, and nothing of it is kept in views.
  virtual std::unique_ptr<Plan> MakePlan(const PlanInput&) const { return nullptr; }

  // Called at every attempt, so it is a few look-ups: adds what the answers depend on beyond template,
  // requests and whether the pod's resize is deferred. Equal template, requests and scope must mean equal
  // verdicts and scores on an equal cluster, for every column that is not Reads::attempt. What it had to find
  // out for that it may leave in the cycle for PreFilter (EmplaceData).
  virtual void AppendScope(Cycle&, Scope&) const {}

  // The position in its profile: where the cycle finds the plugin's plan, state and data.
  PluginIndex index() const { return index_; }
  // For the profile, once.
  void SetIndex(PluginIndex index) { index_ = index; }

 private:
  PluginIndex index_ = 0;
};

}  // namespace berth::framework
