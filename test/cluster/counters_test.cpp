#include <cstdint>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <tuple>
#include <vector>

#include "cluster/cluster.h"
#include "support/builders.h"

namespace berth::cluster {
namespace {

using test::MakeNode;
using test::MakePod;
using testing::ElementsAre;

using berth::test::kZone;
constexpr CountRules kSpread{.skip_terminating = true, .everything_is_zero = true};

class CountersTest : public testing::Test {
 protected:
  CountersTest() {
    for (const char* name : {"a1", "a2"}) cluster_.SetNode(MakeNode(name).Zone("a").Ref());
    cluster_.SetNode(MakeNode("b1").Zone("b").Ref());
    cluster_.SetNode(MakeNode("lost").Ref());
  }
  void Add(std::string name, std::string node) {
    ASSERT_TRUE(cluster_.AddPod(MakePod(std::move(name)).Label("app", "web").Node(std::move(node)).Record()));
  }
  static PodCondition App(api::Selector selector = api::Selector::FromMap({{"app", "web"}})) {
    return {std::move(selector), {"default"}, api::Selector::Nothing(), UnknownNamespace::kNeverSelected};
  }
  TallyId ByZone(CountRules rules, EligibilityId eligibility = {}, const PodCondition& condition = App()) {
    return cluster_.UseTally(cluster_.UseCounter({&condition, 1}, rules, 1), kZone, eligibility, 1);
  }
  std::int32_t In(TallyId tally, std::string_view zone) const {
    const DomainId domain = cluster_.topology().FindDomain(cluster_.counters().topology_key(tally),
                                                           cluster_.labels().FindValue(zone));
    return cluster_.counters().CountInDomain(tally, domain);
  }

  Cluster cluster_;
};

TEST_F(CountersTest, CountsPerNodeAndPerDomain) {
  Add("p1", "a1");
  Add("p2", "a2");
  Add("p3", "lost");
  const TallyId tally = ByZone(kSpread);
  const CounterId counter = cluster_.counters().counter(tally);
  EXPECT_EQ(In(tally, "a"), 2);
  EXPECT_EQ(In(tally, "b"), 0);
  EXPECT_EQ(cluster_.counters().CountOnNode(counter, cluster_.nodes().Find("lost")), 1);
  EXPECT_EQ(cluster_.counters().tally(tally).outside(), 1);
  EXPECT_EQ(cluster_.counters().Total(counter), 3);
  EXPECT_EQ(cluster_.counters().MinCount(tally), 0);
  EXPECT_EQ(cluster_.counters().DomainCount(tally), 2u);
  Add("p4", "b1");
  EXPECT_EQ(cluster_.counters().MinCount(tally), 1);
}

TEST_F(CountersTest, PodsOnGhostsAreInNoDomain) {
  Add("p1", "ghost");
  const TallyId tally = ByZone({});
  EXPECT_EQ(cluster_.counters().Total(cluster_.counters().counter(tally)), 0);
  cluster_.SetNode(MakeNode("ghost").Zone("b").Ref());
  EXPECT_EQ(In(tally, "b"), 1);
  EXPECT_EQ(cluster_.counters().Total(cluster_.counters().counter(tally)), 1);
  ASSERT_TRUE(cluster_.RemoveNode(MakeNode("ghost").Zone("b")));
  EXPECT_EQ(In(tally, "b"), 0);
}

// Spreading does not count terminating pods, affinity does.
TEST_F(CountersTest, TerminatingPodsCountByRule) {
  Add("p1", "a1");
  const TallyId spread = ByZone(kSpread);
  const TallyId affinity = ByZone({});
  ASSERT_TRUE(cluster_.UpdatePod(MakePod("p1").Label("app", "web").Node("a1").Terminating().Record()));
  EXPECT_EQ(In(spread, "a"), 0);
  EXPECT_EQ(In(affinity, "a"), 1);
}

TEST_F(CountersTest, ASelectorOfEverythingCountsNothingForSpreading) {
  Add("p1", "a1");
  EXPECT_EQ(In(ByZone(kSpread, {}, App({})), "a"), 0);
  EXPECT_EQ(In(ByZone({}, {}, App({})), "a"), 1);
}

// What a dry run adds or removes always counts, even where the rules would not have counted it: so upstream
// does, and so a count can fall below zero for the length of a trial.
TEST_F(CountersTest, ATrialCountsWhatTheRulesSkip) {
  ASSERT_TRUE(cluster_.AddPod(MakePod("dying").Label("app", "web").Node("b1").Terminating().Record()));
  const TallyId web = ByZone(kSpread);
  const TallyId everything = ByZone(kSpread, {}, App({}));
  {
    Speculation trial(cluster_);
    trial.Displace(cluster_.pods().Find("uid-dying"));
    EXPECT_EQ(In(web, "b"), -1);
    EXPECT_EQ(In(everything, "b"), -1);
    EXPECT_EQ(cluster_.counters().MinCount(web), -1);
  }
  EXPECT_EQ(In(web, "b"), 0);
  EXPECT_EQ(cluster_.counters().MinCount(web), 0);
}

TEST_F(CountersTest, OnlyEligibleNodesCountInRestrictedTallies) {
  Add("p1", "a1");
  Add("p2", "a2");
  Add("p3", "b1");
  const auto not_a1 = [this](NodeRow row) { return cluster_.nodes().name(row) != "a1"; };
  const EligibilityId eligibility = cluster_.UseEligibility("not a1", not_a1, 1);
  const TallyId tally = ByZone(kSpread, eligibility);
  EXPECT_EQ(In(tally, "a"), 1);
  EXPECT_EQ(In(tally, "b"), 1);
  EXPECT_EQ(cluster_.counters().DomainCount(tally), 2u);
  ASSERT_TRUE(cluster_.RemoveNode(MakeNode("a2").Zone("a")));
  EXPECT_EQ(cluster_.counters().DomainCount(tally), 1u) << "zone a has no eligible node left";
  EXPECT_EQ(In(tally, "a"), 0);
  EXPECT_EQ(cluster_.counters().MinCount(tally), 1);
}

TEST_F(CountersTest, NoDomainHasAMinimumOfZero) {
  const EligibilityId none = cluster_.UseEligibility("none", [](NodeRow) { return false; }, 1);
  const TallyId tally = ByZone(kSpread, none);
  EXPECT_EQ(cluster_.counters().DomainCount(tally), 0u);
  EXPECT_EQ(cluster_.counters().MinCount(tally), 0);
}

TEST_F(CountersTest, AConjunctionCountsPodsThatMeetAllConditions) {
  const std::vector<PodCondition> both = {App(), App(api::Selector::FromMap({{"tier", "db"}}))};
  Add("p1", "a1");
  ASSERT_TRUE(cluster_.AddPod(MakePod("p2").Label("app", "web").Label("tier", "db").Node("a1").Record()));
  ASSERT_TRUE(cluster_.AddPod(MakePod("p3").Label("tier", "db").Node("a1").Record()));
  const CounterId counter = cluster_.UseCounter(both, {}, 1);
  EXPECT_EQ(cluster_.counters().CountOnNode(counter, cluster_.nodes().Find("a1")), 1);
}

TEST_F(CountersTest, ReadersSeeWhichDomainsChanged) {
  const TallyId tally = ByZone(kSpread);
  const std::uint64_t version = cluster_.counters().tally(tally).version();
  Add("p1", "b1");
  Add("p2", "lost");
  std::vector<DomainId> changed;
  EXPECT_TRUE(
      cluster_.counters().tally(tally).ChangedSince(version, [&](DomainId d) { changed.push_back(d); }));
  const DomainId b =
      cluster_.topology().domain(cluster_.counters().topology_key(tally), cluster_.nodes().Find("b1"));
  EXPECT_THAT(changed, ElementsAre(b, DomainId()));
  for (int i = 0; i < 100; ++i) Add("q" + std::to_string(i), "a1");
  EXPECT_FALSE(cluster_.counters().tally(tally).ChangedSince(version, [](DomainId) {}));
}

TEST_F(CountersTest, WhatNobodyUsesIsDropped) {
  const TallyId old_tally = ByZone(kSpread);
  const auto held = cluster_.counters().Version(old_tally);
  const auto held_counter = cluster_.counters().Version(cluster_.counters().counter(old_tally));
  cluster_.Touch(old_tally, 5);
  cluster_.CollectUnused(5);
  EXPECT_TRUE(cluster_.counters().IsCurrent(held));
  cluster_.CollectUnused(6);
  EXPECT_FALSE(cluster_.counters().IsCurrent(held));
  EXPECT_FALSE(cluster_.counters().IsCurrent(held_counter));
  EXPECT_FALSE(cluster_.topology().Find(kZone).IsValid());
}

// A relabelled namespace changes which pods a namespace selector reaches.
TEST_F(CountersTest, FollowsNamespaceLabels) {
  Add("p1", "a1");
  const PodCondition condition{api::Selector::FromMap({{"app", "web"}}),
                               {},
                               api::Selector::FromMap({{"team", "x"}}),
                               UnknownNamespace::kNeverSelected};
  const TallyId tally = ByZone({}, {}, condition);
  EXPECT_EQ(In(tally, "a"), 0);
  api::Namespace object;
  object.metadata.name = "default";
  object.metadata.labels = {{"team", "x"}};
  cluster_.SetNamespace(object);
  EXPECT_EQ(In(tally, "a"), 1);
  cluster_.RemoveNamespace("default");
  EXPECT_EQ(In(tally, "a"), 0);
}

// The minimum has to be right after long climbs and far jumps, where the tally searches rather than
// remembers.
TEST(DomainTallyTest, MinimumAfterJumpsEqualsScan) {
  DomainTally tally;
  const auto scan = [&](std::uint32_t domains) {
    std::int32_t lowest = tally.Count(DomainId(0));
    for (std::uint32_t d = 1; d < domains; ++d) lowest = std::min(lowest, tally.Count(DomainId(d)));
    return lowest;
  };
  const std::vector<std::pair<std::uint32_t, std::int32_t>> changes = {
      {0, 1},    {1, 500}, {2, 3},     {0, 999}, {2, 200}, {2, -203},
      {1, -501}, {1, 1},   {0, -1000}, {2, 7},   {1, 7},   {0, 7}};
  for (const auto& [domain, delta] : changes) {
    tally.Add(DomainId(domain), delta);
    ASSERT_EQ(tally.Min(3), scan(3)) << "after domain " << domain << " changed by " << delta;
  }
}

// Whoever follows a tally learns of every count that moved and of no other, however long it looked away.
TEST(TallyFollowerTest, SeesEveryNetChangeOnce) {
  DomainTally tally;
  TallyFollower follower;
  using Seen = std::vector<std::tuple<DomainId, std::int32_t, std::int32_t>>;
  const auto follow = [&] {
    Seen seen;
    follower.Follow(tally, [&](DomainId domain, std::int32_t before, std::int32_t now) {
      seen.emplace_back(domain, before, now);
    });
    return seen;
  };
  EXPECT_EQ(follow(), Seen());
  tally.Add(DomainId(0), 2);
  tally.Add(DomainId(1), 1);
  tally.Add(DomainId(1), -1);
  tally.AddOutside(1);
  EXPECT_EQ(follow(), (Seen{{DomainId(0), 0, 2}, {DomainId(), 0, 1}}));
  EXPECT_EQ(follow(), Seen());
  tally.Add(DomainId(2), 1);
  for (int i = 0; i < 500; ++i) {
    tally.Add(DomainId(0), 1);
    tally.Add(DomainId(0), -1);
  }
  tally.Add(DomainId(0), -2);
  EXPECT_EQ(follow(), (Seen{{DomainId(0), 2, 0}, {DomainId(2), 0, 1}})) << "further back than the log";
  EXPECT_EQ(follower.Seen(DomainId(2)), 1);
  EXPECT_EQ(follower.Seen(DomainId(9)), 0);
}

// One pod per node is the common case of anti-affinity by host: a reader that looks once per placement must
// not have to look at all hosts.
TEST(DomainTallyTest, TheLogGrowsWithTheDomains) {
  DomainTally tally;
  for (std::uint32_t domain = 0; domain < 1000; ++domain) tally.Add(DomainId(domain), 1);
  const std::uint64_t version = tally.version();
  for (std::uint32_t domain = 0; domain < 1000; ++domain) tally.Add(DomainId(domain), 1);
  int changes = 0;
  EXPECT_TRUE(tally.ChangedSince(version, [&](DomainId) { ++changes; }));
  EXPECT_EQ(changes, 1000);
}

}  // namespace
}  // namespace berth::cluster
