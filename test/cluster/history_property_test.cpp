#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <optional>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "cluster/history.h"
#include "cluster/naive_model.h"

// The indexes may be clever only because a recount that is not clever agrees with them.
namespace berth::cluster::test {
namespace {

void AssertNone(const std::optional<std::string>& difference) {
  if (difference) RC_FAIL(*difference);
}

RC_GTEST_PROP(ClusterHistory, NodesAndPodsEqualRecount, ()) {
  Cluster cluster;
  NaiveModel model;
  for (const Event& event : *AnyHistory()) {
    Apply(event, cluster, model);
    AssertNone(DifferenceInNodes(cluster, model));
    AssertNone(DifferenceInPods(cluster, model));
  }
}

RC_GTEST_PROP(ClusterHistory, TermsEqualRecount, ()) {
  Cluster cluster;
  NaiveModel model;
  for (const Event& event : *AnyHistory()) Apply(event, cluster, model);
  AssertNone(DifferenceInTerms(cluster, model));
}

// A counter that was there all along, one that was made in the middle and one made at the end agree.
RC_GTEST_PROP(ClusterHistory, TalliesEqualRecountWheneverTheyWereMade, ()) {
  Cluster cluster;
  NaiveModel model;
  const History history = *AnyHistory();
  const auto& questions = Questions();
  for (std::size_t i = 0; i < history.size(); ++i) {
    Apply(history[i], cluster, model);
    if (i < questions.size()) Ask(cluster, questions[i], i);
  }
  for (const NaiveModel::Question& question : questions) {
    AssertNone(DifferenceInTally(cluster, model, question, Ask(cluster, question, history.size())));
  }
}

RC_GTEST_PROP(ClusterHistory, CollectedCountersComeBackRight, ()) {
  Cluster cluster;
  NaiveModel model;
  const auto& questions = Questions();
  std::uint64_t step = 0;
  for (const Event& event : *AnyHistory()) {
    Apply(event, cluster, model);
    const NaiveModel::Question& question = questions[event.how % questions.size()];
    AssertNone(DifferenceInTally(cluster, model, question, Ask(cluster, question, ++step)));
    if (step > 3) cluster.CollectUnused(step - 3);
  }
}

// Preemption and gang placement try things on live state: what they try must leave no trace.
RC_GTEST_PROP(ClusterSpeculation, RollbackLeavesNoTrace, ()) {
  Cluster cluster;
  NaiveModel model;
  for (const NaiveModel::Question& question : Questions()) Ask(cluster, question, 1);
  for (const Event& event : *AnyHistory()) Apply(event, cluster, model);
  const std::uint64_t before = cluster.Digest();
  {
    Speculation outer(cluster);
    for (const Event& event : *AnyHistory()) ApplySpeculatively(event, cluster, outer);
    const std::uint64_t between = cluster.Digest();
    {
      Speculation inner(cluster);
      for (const Event& event : *AnyHistory()) ApplySpeculatively(event, cluster, inner);
    }
    RC_ASSERT(cluster.Digest() == between);
    for (const Event& event : *AnyHistory()) ApplySpeculatively(event, cluster, outer);
  }
  RC_ASSERT(cluster.Digest() == before);
  AssertNone(DifferenceInNodes(cluster, model));
  AssertNone(DifferenceInPods(cluster, model));
  AssertNone(DifferenceInTerms(cluster, model));
  for (const NaiveModel::Question& question : Questions()) {
    AssertNone(DifferenceInTally(cluster, model, question, Ask(cluster, question, 1)));
  }
}

// A plugin may need a counter for the first time in the middle of a dry run.
RC_GTEST_PROP(ClusterSpeculation, CounterMadeInsideEqualsOneThatWasThere, ()) {
  Cluster early;
  Cluster late;
  NaiveModel early_model;
  NaiveModel late_model;
  for (const NaiveModel::Question& question : Questions()) Ask(early, question, 1);
  for (const Event& event : *AnyHistory()) {
    Apply(event, early, early_model);
    Apply(event, late, late_model);
  }
  {
    Speculation in_early(early);
    Speculation in_late(late);
    for (const Event& event : *AnyHistory()) {
      ApplySpeculatively(event, early, in_early);
      ApplySpeculatively(event, late, in_late);
    }
    for (const NaiveModel::Question& question : Questions()) {
      const TallyId a = Ask(early, question, 1);
      const TallyId b = Ask(late, question, 1);
      RC_ASSERT(early.counters().MinCount(a) == late.counters().MinCount(b));
      for (std::uint32_t row = 0; row < early.nodes().row_count(); ++row) {
        RC_ASSERT(early.counters().CountOnNode(early.counters().counter(a), NodeRow(row)) ==
                  late.counters().CountOnNode(late.counters().counter(b), NodeRow(row)));
      }
    }
  }
  for (const NaiveModel::Question& question : Questions()) {
    AssertNone(DifferenceInTally(late, late_model, question, Ask(late, question, 1)));
  }
}

// A year of Deployments must not grow the tables.
RC_GTEST_PROP(ClusterHistory, NothingIsLeftWhenEverythingIsGone, ()) {
  Cluster cluster;
  NaiveModel model;
  for (const NaiveModel::Question& question : Questions()) Ask(cluster, question, 1);
  for (const Event& event : *AnyHistory()) Apply(event, cluster, model);
  RemoveEverything(cluster, model);
  cluster.CollectUnused(std::numeric_limits<std::uint64_t>::max());
  RC_ASSERT(cluster.IsEmpty());
}

// Replay rests on this: one history, one state.
RC_GTEST_PROP(ClusterHistory, SameHistoryGivesSameDigest, ()) {
  const History history = *AnyHistory();
  std::vector<std::uint64_t> digests;
  for (int run = 0; run < 2; ++run) {
    Cluster cluster;
    NaiveModel model;
    for (const Event& event : history) Apply(event, cluster, model);
    for (const NaiveModel::Question& question : Questions()) Ask(cluster, question, 1);
    digests.push_back(cluster.Digest());
  }
  RC_ASSERT(digests[0] == digests[1]);
}

// Whoever reads the log and forgets the rows in it misses nothing.
RC_GTEST_PROP(ClusterHistory, EveryChangeOfARowIsInTheLog, ()) {
  Cluster cluster;
  NaiveModel model;
  const auto fingerprint = [&](NodeRow row) {
    const std::size_t i = row.index();
    const NodeTable& nodes = cluster.nodes();
    return std::make_tuple(nodes.exists(row), nodes.requested(kCpu)[i], nodes.allocatable(kCpu)[i],
                           nodes.pod_count()[i], nodes.label_set()[i], nodes.taint_set()[i],
                           nodes.ports(row).size());
  };
  for (const Event& event : *AnyHistory()) {
    std::vector<decltype(fingerprint(NodeRow(0)))> before;
    for (std::uint32_t row = 0; row < cluster.nodes().row_count(); ++row)
      before.push_back(fingerprint(NodeRow(row)));
    const std::uint64_t version = cluster.change_log().version();
    Apply(event, cluster, model);
    std::vector<bool> logged(cluster.nodes().row_count());
    RC_ASSERT(cluster.change_log().Since(version, [&](NodeRow row, Facts) { logged[row.index()] = true; }));
    for (std::uint32_t row = 0; row < before.size(); ++row) {
      RC_ASSERT(logged[row] || fingerprint(NodeRow(row)) == before[row]);
    }
  }
}

}  // namespace
}  // namespace berth::cluster::test
