#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/cluster.h"
#include "framework/cycle.h"
#include "framework/points.h"
#include "framework/profile.h"
#include "support/builders.h"

namespace berth::plugins::test {

// What one plugin says about one pod, by node name.
struct Answer {
  framework::Status pre_filter;
  std::map<std::string, std::string> refused;  // "code: reason"
  framework::Status pre_score;                 // skip if nothing was scored
  std::map<std::string, std::int64_t> raw;     // of the nodes that take part
  std::map<std::string, std::int64_t> scores;  // normalised; 0 for those that do not

  bool operator==(const Answer&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Answer& answer);

struct TopologyOptions {
  framework::PluginArgs args = {};
  framework::Features features = framework::Features::Upstream();
};

struct TopologyQuestion {
  // Nodes that other plugins refuse.
  std::set<std::string> infeasible = {};
  bool score = true;
};

// Asks one stateful plugin about pods, as an engine would: from scratch, or keeping what it learned and
// asking again only about the rows that the plugin's contract names.
class TopologyHarness {
 public:
  using Options = TopologyOptions;
  using Question = TopologyQuestion;
  explicit TopologyHarness(std::string_view plugin, const Options& options = {});
  ~TopologyHarness();

  cluster::Cluster& cluster() { return cluster_; }
  const cluster::Cluster& cluster() const { return cluster_; }
  const framework::Plugin& plugin() const { return *profile_->plugins().front(); }
  void AddNode(const berth::test::NodeBuilder& node) { cluster_.SetNode(node.Ref()); }
  // Pods with a node are added to it, others wait.
  cluster::PodSlot AddPod(const berth::test::PodBuilder& pod);

  Answer Ask(cluster::PodSlot pod, const Question& question);
  Answer Ask(cluster::PodSlot pod) { return Ask(pod, {}); }
  Answer AskAgain(cluster::PodSlot pod, const Question& question);
  Answer AskAgain(cluster::PodSlot pod) { return AskAgain(pod, {}); }
  std::uint64_t step() const { return step_; }
  // How many verdicts and raw scores the last question computed.
  std::size_t verdicts_computed() const { return verdicts_computed_; }
  std::size_t scores_computed() const { return scores_computed_; }

 private:
  struct Kept;

  framework::Plan& PlanFor(cluster::PodSlot pod);
  void Begin(cluster::PodSlot pod, framework::Plan& plan);
  Answer Evaluate(Kept& kept, framework::Plan& plan, const Question& question);
  void Judge(Kept& kept, const framework::Plan& plan, Answer& answer);
  void Score(Kept& kept, const framework::Plan& plan, const Question& question, Answer& answer);

  cluster::Cluster cluster_;
  framework::RejectionTable rejections_;
  framework::Features features_;
  std::unique_ptr<const framework::Profile> profile_;
  std::unique_ptr<framework::Cycle> cycle_;
  std::uint64_t step_ = 0;
  framework::Plan* plan_ = nullptr;
  framework::State* state_ = nullptr;
  std::map<const api::PodTemplate*, std::pair<api::PodTemplateRef, std::unique_ptr<framework::Plan>>> plans_;
  std::map<std::pair<const framework::Plan*, std::vector<std::uint64_t>>, std::unique_ptr<Kept>> kept_;
  std::size_t verdicts_computed_ = 0;
  std::size_t scores_computed_ = 0;
};

}  // namespace berth::plugins::test
