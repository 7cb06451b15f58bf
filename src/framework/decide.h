#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/random.h"
#include "cluster/cluster.h"
#include "framework/cycle.h"
#include "framework/fit_error.h"
#include "framework/plan_cache.h"
#include "framework/profile.h"
#include "framework/view.h"
#include "framework/view_cache.h"

namespace berth::framework {

struct EngineOptions {
  // Draws only decide between nodes of equal total.
  std::uint64_t seed = 0;
  // Nothing: every node is evaluated. 0: as many as upstream's rule says for the size of the cluster. Else
  // the share of nodes after which the search for feasible ones ends, never below 100 nodes.
  std::optional<std::int32_t> percentage_of_nodes_to_score;
  ViewOptions views;
  // After every answer from a view: evaluate everything anew and abort, with the difference, if it is another
  // one.
  bool verify_views = false;
};

struct Decision {
  cluster::NodeRow row;
  std::size_t evaluated = 0;  // nodes that were judged
  std::size_t feasible = 0;
};

// A node; or why none fits, to be handed to PostFilter; or an error that fails the attempt.
using Outcome = std::variant<Decision, Diagnosis, Status>;

// Everything about one attempt, for people and for comparing with kube-scheduler. Rows ascend by node name.
struct Explanation {
  struct PluginScores {
    std::string_view plugin;
    std::int64_t weight = 1;
    std::vector<std::int64_t> raw;       // as feasible
    std::vector<std::int64_t> weighted;  // normalised, times the weight
  };
  Status pre_filter;
  std::optional<NodeNames> narrowed;  // nothing: all nodes
  bool filtered = false;              // whether Filter ran
  std::vector<std::pair<cluster::NodeRow, Status>> refused;
  std::vector<cluster::NodeRow> feasible;
  std::vector<PluginScores> scores;  // without plugins that skipped
  std::vector<std::int64_t> totals;  // as feasible
  std::vector<cluster::NodeRow> best;
  std::optional<cluster::NodeRow> nominated;  // the pod's own nominated node, if it fits: then it is chosen
  Status error;
  PluginNames unschedulable_plugins;
  PluginNames pending_plugins;
  std::string fit_error_message;  // without PostFilter's part
};

enum class Nominations : std::uint8_t { kIgnore, kCount };

// How many feasible nodes are enough, of `node_count`.
std::size_t NodesToFind(std::size_t node_count, std::int32_t percentage);

// Decides for the pods of one profile. What it keeps from attempt to attempt (plans, views) only makes it
// faster: the same cluster, pod and state of the generator give the same outcome with all of it dropped.
class Engine {
 public:
  Engine(cluster::Cluster& cluster, const Profile& profile, RejectionTable& rejections,
         const EngineOptions& options);
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The cycle that plugins see; what the last attempt left is there until the next one begins.
  Cycle& cycle() { return cycle_; }

  // PreFilter, Filter, scoring, choice. Changes nothing in the cluster but indexes on demand.
  Outcome SchedulePod(const Cycle::Subject& subject);
  Explanation Explain(const Cycle::Subject& subject);

  // Inside an attempt, mostly in a speculation of the caller: does the pod fit on this row now? Filters that
  // PreFilter skipped stay skipped only if their plugin still says so. Success, a refusal, or an error.
  Status FilterRow(cluster::NodeRow row, Nominations nominations);
  // The same as a question, without making text.
  bool Fits(cluster::NodeRow row, Nominations nominations);

  // Between attempts: drops plans of templates that are gone, and everything if the table of refusals is
  // crowded.
  void Collect(std::uint64_t step);
  const ViewCache& views() const { return views_; }
  const base::Random& random() const { return random_; }

 private:
  struct Narrowing {
    bool all = true;
    NodeNames names;
    PluginNames plugins;
  };

  void BeginAttempt(const Cycle::Subject& subject);
  Status RunPreFilter(Narrowing& narrowing, Diagnosis& diagnosis);
  std::optional<Decision> TryNominatedNode(Diagnosis& diagnosis);
  Status MaskNominated(View& view);
  Outcome DecideWithView(View& view, const Narrowing& narrowing, Diagnosis& diagnosis);
  Outcome DecideWithout(const Narrowing& narrowing, Diagnosis& diagnosis);
  void VerifyView(View& view);

  cluster::Cluster& cluster_;
  const Profile& profile_;
  RejectionTable& rejections_;
  const EngineOptions options_;
  base::Random random_;
  PlanCache plans_;
  ViewCache views_;
  Cycle cycle_;
  // Of the current attempt.
  std::shared_ptr<PlanSet> plan_set_;
  View* view_ = nullptr;
  std::unique_ptr<View> scratch_view_;  // states for attempts without a view
  std::size_t next_start_ = 0;          // where in the order of nodes a search that may end early begins
};

}  // namespace berth::framework
