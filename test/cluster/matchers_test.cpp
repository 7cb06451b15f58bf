#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "cluster/cluster.h"
#include "support/builders.h"

namespace berth::cluster {
namespace {

using test::MakePod;
using test::MakeSelector;
using test::MakeTerm;
using testing::ElementsAre;
using testing::IsEmpty;

TEST(ConditionOfTest, WithoutNamespacesATermSpeaksOfItsOwnersNamespace) {
  const auto own = ConditionOf(MakeTerm("zone").Label("app", "a"), "mine", UnknownNamespace::kHasNoLabels);
  ASSERT_TRUE(own);
  EXPECT_THAT(own->namespaces, ElementsAre("mine"));
  EXPECT_TRUE(own->namespace_selector.matches_nothing());

  const auto all = ConditionOf(MakeTerm("zone").Label("app", "a").NamespaceSelector(MakeSelector()), "mine",
                               UnknownNamespace::kHasNoLabels);
  ASSERT_TRUE(all);
  EXPECT_THAT(all->namespaces, IsEmpty());
  EXPECT_TRUE(all->namespace_selector.matches_everything());
}

TEST(ConditionOfTest, ANullSelectorSelectsNothing) {
  const auto condition = ConditionOf(MakeTerm("zone"), "mine", UnknownNamespace::kHasNoLabels);
  ASSERT_TRUE(condition);
  EXPECT_TRUE(condition->selector.matches_nothing());
}

TEST(ConditionOfTest, AWrongSelectorIsAnError) {
  EXPECT_FALSE(ConditionOf(MakeTerm("zone").Selector(MakeSelector().Expression("app", "Like", {"a"})), "mine",
                           UnknownNamespace::kHasNoLabels));
}

class MatchersTest : public testing::Test {
 protected:
  PodClass ClassOf(const test::PodBuilder& pod) {
    const auto slot = cluster_.SetPending(pod.Record());
    return cluster_.classes().Get(cluster_.pods().facts(*slot).pod_class);
  }
  bool Matches(const PodCondition& condition, const test::PodBuilder& pod) {
    const CounterId counter = cluster_.UseCounter({&condition, 1}, {}, 1);
    return cluster_.matchers().Matches(cluster_.counters().matcher(counter), ClassOf(pod));
  }
  void SetTeam(std::string name, std::string team) {
    api::Namespace object;
    object.metadata.name = std::move(name);
    object.metadata.labels = {{"team", std::move(team)}};
    cluster_.SetNamespace(object);
  }

  Cluster cluster_;
};

// The two sides of a term treat a namespace that nobody has seen differently.
TEST_F(MatchersTest, UnknownNamespaces) {
  const auto term = MakeTerm("zone")
                        .Selector(MakeSelector())
                        .NamespaceSelector(MakeSelector().Expression("team", "NotIn", {"x"}));
  const auto incoming = ConditionOf(term, "mine", UnknownNamespace::kNeverSelected);
  const auto existing = ConditionOf(term, "mine", UnknownNamespace::kHasNoLabels);
  EXPECT_FALSE(Matches(*incoming, MakePod("web").Namespace("nowhere")));
  EXPECT_TRUE(Matches(*existing, MakePod("web").Namespace("nowhere")));
  SetTeam("nowhere", "y");
  EXPECT_TRUE(Matches(*incoming, MakePod("web").Namespace("nowhere")));
  SetTeam("nowhere", "x");
  EXPECT_FALSE(Matches(*incoming, MakePod("web").Namespace("nowhere")));
  EXPECT_FALSE(Matches(*existing, MakePod("web").Namespace("nowhere")));
}

TEST_F(MatchersTest, ListedNamespacesAndSelectedOnesAreAUnion) {
  SetTeam("selected", "x");
  SetTeam("other", "y");
  const auto condition = ConditionOf(MakeTerm("zone")
                                         .Selector(MakeSelector())
                                         .Namespaces({"listed"})
                                         .NamespaceSelector(MakeSelector().Label("team", "x")),
                                     "mine", UnknownNamespace::kNeverSelected);
  EXPECT_TRUE(Matches(*condition, MakePod("a").Namespace("listed")));
  EXPECT_TRUE(Matches(*condition, MakePod("b").Namespace("selected")));
  EXPECT_FALSE(Matches(*condition, MakePod("c").Namespace("other")));
  EXPECT_FALSE(Matches(*condition, MakePod("d").Namespace("mine")));
}

// Ten thousand pods of a Deployment are one question.
TEST_F(MatchersTest, PodsWithEqualLabelsAreOneClass) {
  const auto a = cluster_.SetPending(MakePod("a").Label("app", "web").Label("v", "1").Record());
  const auto b = cluster_.SetPending(MakePod("b").Label("v", "1").Label("app", "web").Record());
  const auto c =
      cluster_.SetPending(MakePod("c").Namespace("other").Label("v", "1").Label("app", "web").Record());
  EXPECT_EQ(cluster_.pods().facts(*a).pod_class, cluster_.pods().facts(*b).pod_class);
  EXPECT_NE(cluster_.pods().facts(*a).pod_class, cluster_.pods().facts(*c).pod_class);
  EXPECT_EQ(cluster_.pods().facts(*a).template_id, cluster_.pods().facts(*c).template_id);
}

}  // namespace
}  // namespace berth::cluster
