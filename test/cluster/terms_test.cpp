#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <string_view>

#include "cluster/cluster.h"
#include "support/builders.h"

namespace berth::cluster {
namespace {

using test::MakeNode;
using test::MakePod;
using test::MakeSelector;
using test::MakeTerm;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

using berth::test::kZone;

class TermsTest : public testing::Test {
 protected:
  TermsTest() {
    cluster_.SetNode(MakeNode("a1").Zone("a").Ref());
    cluster_.SetNode(MakeNode("b1").Zone("b").Ref());
    cluster_.SetNode(MakeNode("lost").Ref());
  }
  // Zone to number of pods there whose required anti-affinity concerns the pod.
  std::map<std::string, int> RepelledFrom(const test::PodBuilder& pod) {
    std::map<std::string, int> zones;
    const auto slot = cluster_.SetPending(pod.Record());
    cluster_.terms().ForEachConcerning(cluster_.pods().facts(*slot).pod_class, [&](TermId id,
                                                                                   const Term& term) {
      if (term.kind != TermKind::kRequiredAntiAffinity) return;
      cluster_.terms().carriers(id).ForEachNonZero([&](DomainId domain, std::int32_t count) {
        zones[std::string(cluster_.labels().ValueText(cluster_.topology().value(term.key, domain)))] += count;
      });
    });
    return zones;
  }

  Cluster cluster_;
};

TEST_F(TermsTest, PodsWithEqualTermsAreCountedTogether) {
  const auto guard = [](std::string name, std::string node) {
    return MakePod(std::move(name))
        .Node(std::move(node))
        .AntiAffinity(MakeTerm(kZone).Label("app", "web"))
        .Record();
  };
  ASSERT_TRUE(cluster_.AddPod(guard("g1", "a1")));
  ASSERT_TRUE(cluster_.AddPod(guard("g2", "a1")));
  ASSERT_TRUE(cluster_.AddPod(guard("g3", "b1")));
  EXPECT_THAT(RepelledFrom(MakePod("p").Label("app", "web")), ElementsAre(Pair("a", 2), Pair("b", 1)));
  EXPECT_THAT(RepelledFrom(MakePod("q").Label("app", "db")), IsEmpty());
  EXPECT_THAT(RepelledFrom(MakePod("r").Namespace("other").Label("app", "web")), IsEmpty());
  ASSERT_TRUE(cluster_.RemovePod(*guard("g3", "b1")));
  EXPECT_THAT(RepelledFrom(MakePod("p").Label("app", "web")), ElementsAre(Pair("a", 2)));
}

TEST_F(TermsTest, AWaitingPodsTermsConcernNobodyYet) {
  const auto slot =
      cluster_.SetPending(MakePod("g").AntiAffinity(MakeTerm(kZone).Label("app", "web")).Record());
  EXPECT_THAT(RepelledFrom(MakePod("p").Label("app", "web")), IsEmpty());
  {
    Speculation trial(cluster_);
    trial.Place(*slot, cluster_.nodes().Find("a1"));
    cluster_.terms().ForEachConcerning(
        cluster_.pods().facts(cluster_.pods().Find("uid-p")).pod_class,
        [&](TermId id, const Term&) { EXPECT_EQ(cluster_.terms().carriers(id).non_zero(), 1u); });
  }
  EXPECT_THAT(RepelledFrom(MakePod("p").Label("app", "web")), IsEmpty());
}

TEST_F(TermsTest, OnANodeWithoutTheKeyATermHasNoEffect) {
  ASSERT_TRUE(
      cluster_.AddPod(MakePod("g").Node("lost").AntiAffinity(MakeTerm(kZone).Label("app", "web")).Record()));
  EXPECT_THAT(RepelledFrom(MakePod("p").Label("app", "web")), IsEmpty());
  cluster_.SetNode(MakeNode("lost").Zone("c").Ref());
  EXPECT_THAT(RepelledFrom(MakePod("p").Label("app", "web")), ElementsAre(Pair("c", 1)));
}

// Terms without namespaces speak of their owner's, so one template in two namespaces carries two terms.
TEST_F(TermsTest, OneTemplateInTwoNamespaces) {
  const auto guard = [](std::string ns, std::string node) {
    return MakePod("g-" + ns)
        .Namespace(ns)
        .Node(std::move(node))
        .AntiAffinity(MakeTerm(kZone).Selector(MakeSelector()))
        .Record();
  };
  ASSERT_TRUE(cluster_.AddPod(guard("one", "a1")));
  ASSERT_TRUE(cluster_.AddPod(guard("two", "b1")));
  EXPECT_THAT(RepelledFrom(MakePod("p").Namespace("one")), ElementsAre(Pair("a", 1)));
  EXPECT_THAT(RepelledFrom(MakePod("q").Namespace("two")), ElementsAre(Pair("b", 1)));
}

// For a pod that runs a wrong selector is no error: the terms of that kind are not there, those of other
// kinds are.
TEST_F(TermsTest, AKindWithAWrongTermIsLeftOut) {
  ASSERT_TRUE(cluster_.AddPod(MakePod("g")
                                  .Node("a1")
                                  .AntiAffinity(MakeTerm(kZone).Label("app", "web"))
                                  .PreferAffinity(1, MakeTerm(kZone).Label("app", "web"))
                                  .PreferAffinity(1, MakeTerm(kZone).Label("app", "{{.bad.}}"))
                                  .Record()));
  EXPECT_THAT(RepelledFrom(MakePod("p").Label("app", "web")), ElementsAre(Pair("a", 1)));
  int preferred = 0;
  cluster_.terms().ForEachConcerning(
      cluster_.pods().facts(cluster_.pods().Find("uid-p")).pod_class,
      [&](TermId, const Term& term) { preferred += term.kind == TermKind::kPreferredAffinity ? 1 : 0; });
  EXPECT_EQ(preferred, 0);
}

TEST_F(TermsTest, ATermThatAPodRepeatsCountsTwice) {
  const auto term = MakeTerm(kZone).Label("app", "web");
  ASSERT_TRUE(cluster_.AddPod(MakePod("g").Node("a1").AntiAffinity(term).AntiAffinity(term).Record()));
  EXPECT_THAT(RepelledFrom(MakePod("p").Label("app", "web")), ElementsAre(Pair("a", 2)));
}

}  // namespace
}  // namespace berth::cluster
