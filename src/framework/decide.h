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

#include "absl/container/flat_hash_map.h"

#include "base/random.h"
#include "cluster/cluster.h"
#include "framework/advice.h"
#include "framework/cycle.h"
#include "framework/fit_error.h"
#include "framework/plan_cache.h"
#include "framework/profile.h"
#include "framework/row_kinds.h"
#include "framework/view.h"
#include "framework/view_cache.h"

namespace berth::framework {

struct EngineOptions {
  // Draws only decide between nodes of equal total.
  std::uint64_t seed = 0;
  // Nothing: every node is evaluated. 0: as many as upstream's rule says for the size of the cluster. Else
  // the share of nodes after which the search for feasible ones ends, never below 100 nodes. The profile's
  // own wins.
  std::optional<std::int32_t> percentage_of_nodes_to_score = std::nullopt;
  // Somebody outside chooses among nodes, too: one feasible node is not as good as another.
  bool has_advisers = false;
  ViewOptions views = {};
  // After every answer from a view: evaluate everything anew and abort, with the difference, if it is another
  // one.
  bool verify_views = false;
};

struct Decision {
  cluster::NodeRow row;
  std::size_t evaluated = 0;  // nodes that were judged
  std::size_t feasible = 0;
};

// A node; or why none fits, to be handed to PostFilter; or a status that fails the attempt: an error, or,
// with no nodes at all, a refusal that no plugin is behind.
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
  std::optional<NodeNames> narrowed;                         // nothing: all nodes
  bool filtered = false;                                     // whether Filter ran
  std::vector<std::pair<cluster::NodeRow, Status>> refused;  // of those that PreFilter left
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

// How many feasible nodes are enough, of `node_count`.
std::size_t NodesToFind(std::size_t node_count, std::int32_t percentage);

// Decides for the pods of one profile. What it keeps from attempt to attempt (plans, views) only makes it
// faster: the same cluster, pod and state of the generator give the same outcome with all of it dropped.
class Engine final : private RowJudge {
 public:
  Engine(cluster::Cluster& cluster, const Profile& profile, RejectionTable& rejections,
         const EngineOptions& options);
  ~Engine() override;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The cycle that plugins see; what the last attempt left is there until the next one begins.
  Cycle& cycle() { return cycle_; }

  // PreFilter, Filter, scoring, choice. Changes nothing in the cluster but indexes on demand.
  Outcome SchedulePod(const Cycle::Subject& subject);
  // The same in pieces, for attempts that ask somebody outside. Each call is an attempt of its own on the
  // cluster as it is then; with a view that is kept it costs what changed since the last one.
  //
  // Everything up to the scores. `try_nominated`: the pod's own nominated node first, alone.
  using Found = std::variant<Feasible, Diagnosis, Status>;
  Found FindNodes(const Cycle::Subject& subject, bool try_nominated);
  // What is left of them.
  Found FindNodes(const Cycle::Subject& subject, const Advice& advice);
  // The best of what is left of them.
  Outcome SchedulePod(const Cycle::Subject& subject, const Advice& advice);
  Explanation Explain(const Cycle::Subject& subject);

  // After an attempt that ended with a Diagnosis: other pods of this likeness would have ended in the same
  // way, as long as they are nominated nowhere and nothing changed. 0: that can be said of no other pod.
  std::uint64_t likeness() const { return likeness_; }

  // Inside an attempt, mostly in a speculation of the caller: does the pod fit on this row now? Filters that
  // PreFilter skipped stay skipped, as upstream has it. Success, a refusal, or an error.
  Status FilterRow(cluster::NodeRow row, Nominations nominations);
  // The same as a question, without making text.
  bool Fits(cluster::NodeRow row, Nominations nominations);

  // Between attempts: drops plans of templates that are gone or that were last used before `step`.
  void Collect(std::uint64_t step);
  const ViewCache& views() const { return views_; }
  // Of the last attempt, until the next one; null if it failed with an error.
  const View* view() const { return view_; }
  // Nodes on which nominated pods were put on trial by the last search.
  std::size_t crowds_tried() const { return crowds_tried_; }
  const PlanCache& plans() const { return plans_; }
  const base::Random& random() const { return random_; }

 private:
  // What PreFilter leaves of the nodes.
  struct Narrowing {
    bool all = true;
    NodeNames names;
    PluginNames plugins;
    base::Bitset rows;  // the existing ones of those names; empty if all

    bool Has(cluster::NodeRow row) const { return all || rows.Test(row.index()); }
  };
  enum class Views : std::uint8_t { kUse, kAvoid };

  void BeginAttempt(const Cycle::Subject& subject, Views views);
  void EndAttempt();
  void DropKept();
  void MakeKey();
  Diagnosis NewDiagnosis() const;
  Status RunPreFilter(Narrowing& narrowing);
  Status CallPreFilters(Narrowing& narrowing);
  static void Narrow(Narrowing& narrowing, const NodeNames& names, std::string_view plugin);
  // What a PreFilter that did not succeed makes of the attempt.
  Diagnosis RejectedBefore(const Status& status, const Narrowing& narrowing) const;

  // The pod's own nominated node; invalid if it does not fit.
  cluster::NodeRow TryNominatedNode();
  void PlaceNominated(cluster::Speculation& trial, cluster::NodeRow row) const;
  bool HasNominated(cluster::NodeRow row) const;
  RowVerdict RunFilters(cluster::NodeRow row);
  RowVerdict JudgeRow(cluster::NodeRow row, Nominations nominations) override;
  std::uint64_t Draw(std::uint64_t bound) override { return random_.Uniform(bound); }
  // As if the pods that are nominated to the row were there. States have to be refreshed once more after it.
  RowVerdict JudgeCrowded(cluster::NodeRow row);
  // While the view is told by kind: rows of one likeness are refused alike with what is nominated to them.
  Scope LikenessOfCrowd(cluster::NodeRow row) const;
  // All rows with nominated pods, each likeness once.
  Status JudgeNominated(const Narrowing& narrowing);

  // On these rows alone, if given.
  Status Judge(const Narrowing& narrowing, const base::Bitset* candidates);
  Status RunFilter(const Narrowing& narrowing, const base::Bitset* candidates);
  // Null: all rows are to be judged.
  const base::Bitset* FindCandidates(const Narrowing& narrowing);
  // Ends the search early, as the percentage says. Returns how many nodes were judged.
  std::size_t Sample(const Narrowing& narrowing);
  std::optional<std::int32_t> percentage() const;
  // What SchedulePod and FindNodes have in common: up to the question which nodes are feasible. Nothing, or
  // how the attempt ended.
  std::optional<std::variant<Diagnosis, Status>> Search(const Narrowing& narrowing, const Advice* advice);
  void TellLikeness(const Narrowing& narrowing);
  std::optional<std::variant<Diagnosis, Status>> Enter(const Cycle::Subject& subject, Narrowing& narrowing);
  void Apply(const Advice& advice);
  Feasible FeasibleRows() const;
  Outcome Decide(const Narrowing& narrowing, const Advice* advice);
  cluster::NodeRow PickBest(const Advice& advice);
  Found Shown(const Narrowing& narrowing, const Advice* advice);
  Diagnosis NothingFits(const Narrowing& narrowing) const;
  Status Fail(Status error);
  void KeepView();
  void StartOver();
  void VerifyView();
  void VerifyCrowds();

  std::vector<cluster::NodeRow> SortedByName(const base::Bitset& rows) const;
  void ExplainRefusals(const Narrowing& narrowing, Explanation& explanation) const;
  void ExplainScores(Explanation& explanation) const;

  cluster::Cluster& cluster_;
  const Profile& profile_;
  RejectionTable& rejections_;
  const EngineOptions options_;
  base::Random random_;
  PlanCache plans_;
  ScoreScratch score_scratch_;
  ViewCache views_;
  RowKinds kinds_;
  Cycle cycle_;
  // Of the current attempt.
  std::shared_ptr<PlanSet> plan_set_;
  ViewKey key_;
  View* view_ = nullptr;                                                      // one of the cache, or scratch_
  bool is_kept_ = false;                                                      // one of the cache
  bool is_wanted_ = false;                                                    // its key came before
  std::vector<Code> pre_filter_codes_;                                        // as Profile::pre_filter()
  std::vector<std::pair<cluster::NodeRow, RejectionId>> nominated_refusals_;  // for masks
  absl::flat_hash_map<Scope, RejectionId> crowds_;                            // what is known by likeness
  std::size_t crowds_tried_ = 0;
  std::unique_ptr<View> scratch_;
  std::size_t judged_ = 0;      // nodes, by the current attempt
  std::uint64_t likeness_ = 0;  // of the current attempt
  base::Bitset candidates_;
  std::size_t next_start_ = 0;  // where in the order of nodes a search that may end early begins
  // For verify_views; plugins may refer to the plans until the attempt ends.
  std::unique_ptr<View> fresh_view_;
  std::shared_ptr<PlanSet> fresh_plans_;
};

}  // namespace berth::framework
