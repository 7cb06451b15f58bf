#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "framework/cycle.h"
#include "framework/fit_error.h"
#include "framework/node_selection.h"
#include "framework/plan.h"
#include "framework/plugin.h"
#include "framework/status.h"

// The points of a decision: from a pod's attempt to the node that is chosen for it. What comes before is in
// queue_points.h, what comes after in binding_points.h.
namespace berth::framework {

// Names of nodes, ascending, each once; some may not exist.
using NodeNames = std::vector<std::string>;

struct PreFilterResult {
  Status status;
  // Only these nodes can do; null: all. Lives as long as the attempt, mostly in the plan.
  const NodeNames* nodes = nullptr;
};

// Judges the pod before any node is looked at. Called once per attempt, in order of the plugins, after the
// plugin's state was refreshed.
//
// Skip promises that Filter would refuse no row now, and Filter is not called. Unschedulable lets the
// remaining plugins go on, because preemption needs their state; UnschedulableAndUnresolvable ends the
// attempt.
class PreFilterPoint {
 public:
  virtual ~PreFilterPoint() = default;
  virtual PreFilterResult PreFilter(Cycle& cycle) const = 0;
};

// Rules nodes out for the pod of the cycle.
//
// Filter is called with rows that no earlier plugin refused: all of them, or those that changed since a view
// was last used, or the one node of a dry run. So a row's verdict may depend on what the plan's filter_reads
// name and on nothing else, least of all on which other rows are in the selection. There is no AddPod and no
// RemovePod: what speculation places or displaces is in the cluster while Filter runs.
//
// Cost: O(rows), no allocation per row; what depends only on an interned id is decided once per id.
class FilterPoint {
 public:
  virtual ~FilterPoint() = default;
  virtual void Filter(const Cycle& cycle, NodeSelection& nodes) const = 0;

  // For pods that few nodes can take, where those are found without a look at all the others: clears the rows
  // that Filter is certain to refuse, and says whether it did. A pod that comes once is then tried on the
  // remaining rows, and only if it fits on none of them on all, for the reasons.
  virtual bool LeaveCandidates(const Cycle&, base::Bitset& rows) const {
    static_cast<void>(rows);
    return false;
  }

  // For a filter that reads the attempt, after it refused: adds what it read, so that a pod of the same key
  // and words is refused alike. False: that can be said of no other pod.
  virtual bool AppendLikeness(const Cycle&, Scope& words) const {
    static_cast<void>(words);
    return false;
  }
};

// For plugins whose verdicts or scores read more than the judged row: counts per domain, terms of other pods.
class StatefulPoint {
 public:
  virtual ~StatefulPoint() = default;

  // For the cycle's scope. Null: pods of this template and scope need none, and the plan must not say that a
  // column reads it. It need not be filled: Refresh follows.
  virtual std::unique_ptr<State> MakeState(Cycle& cycle) const = 0;

  // Brings the state up to the cluster as it is now, speculation included, and adds every row whose verdict
  // or raw score may differ from the one before for a reason other than a fact of that row. AddAll is always
  // right.
  //
  // Called before PreFilter at every attempt, and after every change in a speculation before Filter is asked:
  // with nothing changed it must cost a few comparisons of versions. Indexes (UseTally and the like) are
  // taken in use and touched here, with cycle.step(); one that was collected meanwhile is made anew, with
  // AddAll.
  //
  // Compare what was derived and not only versions: a placement that moves a count, but no verdict, moves no
  // row; a new domain may move the smallest count without moving any count.
  virtual void Refresh(Cycle& cycle, State& state, StateChanges& changes) const = 0;
};

// A score for a row that takes no part: it is shown and counted as 0 and left out of the extent.
inline constexpr std::int64_t kNoScore = std::numeric_limits<std::int64_t>::min();
inline constexpr std::int64_t kScoreMax = 100;

// Of the raw scores of the feasible rows, kNoScore left out. Of the count a normalisation may only use
// whether it is zero: scores are not redone when nothing else moved.
struct Extent {
  std::int64_t min = 0;
  std::int64_t max = 0;
  std::size_t count = 0;

  bool operator==(const Extent&) const = default;
};

enum class Normalizing : std::uint8_t {
  kNone,      // raw scores are 0 to 100 already
  kByExtent,  // each score from itself and the extent: only scores that moved are redone while that stands
  kByColumn,  // needs the whole column: redone after every change
};

// Rates the rows on which the pod fits.
class ScorePoint {
 public:
  virtual ~ScorePoint() = default;

  // Once per attempt that scores, after filtering. What raw scores take from the set of feasible rows is kept
  // in the plugin's state; rows whose raw score moves through that are added to `changed`. Skip: the plugin
  // has no part in the totals of this attempt, and Score is not called.
  virtual Status PreScore(Cycle&, const FeasibleSet&, ChangedRows& changed) const {
    static_cast<void>(changed);
    return {};
  }

  // Whether PreScore looks at the feasible rows. If it does, rows are not put into groups (ClassPoint).
  virtual bool reads_feasible() const { return false; }
  // Whether, as things are now, PreScore will not succeed, or Score gives all rows one score that hangs on
  // the plan alone; with that, PreScore does not look at the feasible rows either. See Reads::alike.
  virtual bool ScoresAlike(const Cycle&) const { return false; }

  // Fills scores[i] for rows[i], ascending. A raw score depends on what the plan's score_reads name and on
  // what PreScore put into the state, never on which other rows are asked for.
  virtual Status Score(const Cycle& cycle, std::span<const cluster::NodeRow> rows,
                       std::span<std::int64_t> scores) const = 0;

  virtual Normalizing normalizing() const { return Normalizing::kNone; }
  // kByExtent: replaces each raw score by 0 to 100. The scores are some of those that the extent is of.
  virtual void Normalize(const Extent&, std::span<std::int64_t>) const {}
  // kByColumn: rows ascending, all feasible ones.
  virtual Status NormalizeColumn(const Cycle&, std::span<const cluster::NodeRow>,
                                 std::span<std::int64_t>) const {
    return {};
  }
};

// A node and who would have to go from it, the most important first.
struct PreemptionCandidate {
  cluster::NodeRow row;
  std::vector<cluster::PodSlot> victims;
  std::int64_t budget_violations = 0;
};

// What a search for pods to evict came to. Empty: nobody has to go, or nobody's going would help.
struct Preemption {
  std::vector<cluster::PodSlot> victims;  // all on the nominated node, the most important first
  // Instead, if the attempt is to show them to others before one is chosen (Cycle::Subject): all that were
  // found.
  std::vector<PreemptionCandidate> candidates = {};
};

struct PostFilterResult {
  Status status;
  // Nothing: the pod keeps its nomination. Empty: it loses it. Else the node that was made room on.
  std::optional<std::string> nominated_node = {};
  // Set by plugins that searched. The victims of a success are evicted by whoever called.
  std::optional<Preemption> preemption = {};
};

// Tries to make room after no node was found. In order, until one succeeds.
class PostFilterPoint {
 public:
  virtual ~PostFilterPoint() = default;
  virtual PostFilterResult PostFilter(Cycle& cycle, const Diagnosis& diagnosis) const = 0;
  // Ends what a PostFilter with candidates began, with those that are left of them.
  virtual PostFilterResult Choose(const cluster::Cluster&, std::span<const PreemptionCandidate>) const {
    return {.status = Status(Code::kUnschedulable)};
  }
};

// What most normalisations are: 100 * score / max, with 0 for a maximum of 0 or less; reversed, 100 minus
// that.
enum class Direction : std::uint8_t { kHigherIsBetter, kLowerIsBetter };
void NormalizeByMax(const Extent& extent, Direction direction, std::span<std::int64_t> scores);

}  // namespace berth::framework
