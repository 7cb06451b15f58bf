#include <gtest/gtest.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/queue_points.h"
#include "plugins/topology_harness.h"
#include "support/builders.h"

// Which events wake pods that the topology plugins rejected. Numbers are those of the cases of the chapter
// about topology plugins; 29 and 54, about arguments, are in test/config/arguments_test.cpp.
namespace berth::plugins::test {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using berth::test::MakeSelector;
using berth::test::MakeTerm;
using berth::test::NodeBuilder;
using berth::test::PodBuilder;
using framework::EventResource;
using framework::Hint;

using berth::test::kHost;
using berth::test::kZone;

class HintTest : public testing::Test {
 protected:
  explicit HintTest(const char* plugin) : harness_(plugin) {}

  base::Result<Hint> Call(EventResource resource, const PodBuilder& pod, framework::EventObject before,
                          framework::EventObject after) {
    const auto registrations =
        dynamic_cast<const framework::EnqueuePoint&>(harness_.plugin()).EventsToRegister();
    for (const framework::EventRegistration& registration : registrations) {
      if (registration.event.resource != resource) continue;
      return registration.hint({harness_.cluster(), harness_.AddPod(pod), before, after});
    }
    return base::Fail("not registered");
  }
  bool Wakes(EventResource resource, const PodBuilder& pod, const std::optional<PodBuilder>& before,
             const std::optional<PodBuilder>& after) {
    const auto old_pod = before ? before->Record() : nullptr;
    const auto new_pod = after ? after->Record() : nullptr;
    const auto hint = Call(resource, pod, Object(old_pod), Object(new_pod));
    EXPECT_TRUE(hint.has_value());
    return hint == Hint::kQueue;
  }
  bool Wakes(const PodBuilder& pod, const std::optional<NodeBuilder>& before,
             const std::optional<NodeBuilder>& after) {
    const auto old_node = before ? before->Ref() : nullptr;
    const auto new_node = after ? after->Ref() : nullptr;
    const auto hint = Call(EventResource::kNode, pod, Object(old_node), Object(new_node));
    EXPECT_TRUE(hint.has_value());
    return hint == Hint::kQueue;
  }

  static PodBuilder Other() { return MakePod("other").Node("n"); }
  static constexpr auto kAssigned = EventResource::kAssignedPod;
  static constexpr auto kTarget = EventResource::kTargetPod;

  TopologyHarness harness_;

 private:
  template <class T>
  static framework::EventObject Object(const std::shared_ptr<const T>& object) {
    return object ? framework::EventObject(object.get()) : framework::EventObject();
  }
};

class SpreadHintTest : public HintTest {
 protected:
  SpreadHintTest() : HintTest("PodTopologySpread") {}
  static PodBuilder Pod(std::vector<const char*> keys, const char* taints = nullptr) {
    PodBuilder pod = MakePod("q");
    for (const char* key : keys) {
      api::TopologySpreadConstraint constraint;
      constraint.max_skew = 1;
      constraint.topology_key = key;
      constraint.when_unsatisfiable = "DoNotSchedule";
      constraint.label_selector = MakeSelector().Label("foo", "");
      if (taints != nullptr) constraint.node_taints_policy = taints;
      pod.Spread(constraint);
    }
    return pod;
  }
};

// Case 26.
TEST_F(SpreadHintTest, PodsThatAreSpreadTogether) {
  const PodBuilder pod = Pod({kZone});
  EXPECT_TRUE(Wakes(kAssigned, pod, {}, Other().Label("foo", "")));
  EXPECT_TRUE(Wakes(kAssigned, pod, Other().Label("foo", ""), {}));
  EXPECT_FALSE(Wakes(kAssigned, pod, {}, Other().Label("bar", "")));
  EXPECT_FALSE(Wakes(kAssigned, pod, {}, Other().Namespace("elsewhere").Label("foo", "")));
  EXPECT_FALSE(Wakes(kAssigned, pod, {}, MakePod("waits").Label("foo", "")));
  EXPECT_TRUE(Wakes(kAssigned, pod, MakePod("nominated").NominatedNode("n").Label("foo", ""), {}));
}

// Case 26.
TEST_F(SpreadHintTest, LabelsThatChangeWhatMatches) {
  const PodBuilder pod = Pod({kZone});
  EXPECT_TRUE(Wakes(kAssigned, pod, Other(), Other().Label("foo", "")));
  EXPECT_TRUE(Wakes(kAssigned, pod, Other().Label("foo", ""), Other()));
  EXPECT_FALSE(Wakes(kAssigned, pod, Other(), Other().Label("bar", "")));
  EXPECT_FALSE(Wakes(kAssigned, pod, Other().Label("foo", ""), Other().Label("foo", "")));
  EXPECT_TRUE(Wakes(kTarget, pod, Pod({kZone}), Pod({kZone}).Label("foo", "")));
}

// Case 28.
TEST_F(SpreadHintTest, TolerationsMatterWhereTaintsAreHonored) {
  api::Toleration toleration;
  toleration.key = "t";
  EXPECT_TRUE(Wakes(kTarget, Pod({kZone}, "Honor"), Pod({kZone}, "Honor"),
                    Pod({kZone}, "Honor").Tolerate(toleration)));
  EXPECT_FALSE(Wakes(kTarget, Pod({kZone}), Pod({kZone}), Pod({kZone}).Tolerate(toleration)));
}

// Case 27.
TEST_F(SpreadHintTest, NodesWithAllKeys) {
  const PodBuilder pod = Pod({kZone, kHost});
  const auto both = MakeNode("n").Zone("z").Hostname();
  const auto one = MakeNode("n").Zone("z");
  EXPECT_TRUE(Wakes(pod, {}, both));
  EXPECT_FALSE(Wakes(pod, {}, one));
  EXPECT_TRUE(Wakes(pod, both, {}));
  EXPECT_TRUE(Wakes(pod, both, one));
  EXPECT_TRUE(Wakes(pod, both, MakeNode("n").Zone("z2").Hostname()));
  EXPECT_FALSE(Wakes(pod, both, MakeNode("n").Zone("z").Hostname().Label("unrelated", "")));
  EXPECT_TRUE(Wakes(pod, both, MakeNode("n").Zone("z").Hostname().Taint("t", "", "NoSchedule")));
  EXPECT_FALSE(Wakes(pod, one, MakeNode("n").Zone("z2").Taint("t", "", "NoSchedule")));
}

TEST_F(SpreadHintTest, ABadSelectorIsAnError) {
  PodBuilder pod = MakePod("q");
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = 1;
  constraint.topology_key = kZone;
  constraint.when_unsatisfiable = "DoNotSchedule";
  constraint.label_selector = MakeSelector().Label("foo", "{{bad}}");
  pod.Spread(constraint);
  const auto other = Other().Record();
  const auto hint = Call(kAssigned, pod, {}, other.get());
  ASSERT_FALSE(hint.has_value());
  EXPECT_TRUE(hint.error().message.starts_with("obtaining pod's hard topology spread constraints: "));
  const auto elsewhere = Other().Namespace("elsewhere").Record();
  EXPECT_TRUE(Call(kAssigned, pod, {}, elsewhere.get()) == Hint::kQueueSkip) << "asked before";
}

class AffinityHintTest : public HintTest {
 protected:
  AffinityHintTest() : HintTest("InterPodAffinity") {}
  static PodBuilder Near() {
    return MakePod("q").Affinity(MakeTerm(kZone).Label("a", "")).Affinity(MakeTerm(kZone).Label("b", ""));
  }
  static PodBuilder Away() {
    return MakePod("q")
        .AntiAffinity(MakeTerm(kZone).Label("a", ""))
        .AntiAffinity(MakeTerm(kZone).Label("b", ""));
  }
};

// Case 51.
TEST_F(AffinityHintTest, APodThatMeetsAllAffinityTerms) {
  EXPECT_FALSE(Wakes(kAssigned, Near(), {}, Other().Label("a", "")));
  EXPECT_TRUE(Wakes(kAssigned, Near(), {}, Other().Label("a", "").Label("b", "")));
  EXPECT_TRUE(Wakes(kAssigned, Near(), Other().Label("a", ""), Other().Label("a", "").Label("b", "")));
  EXPECT_FALSE(Wakes(kAssigned, MakePod("q"), {}, Other().Label("a", "")));
}

// Case 51.
TEST_F(AffinityHintTest, APodThatMeetsNoAntiAffinityTermAnyMore) {
  const auto both = Other().Label("a", "").Label("b", "");
  EXPECT_FALSE(Wakes(kAssigned, Away(), both, Other().Label("b", "")));
  EXPECT_TRUE(Wakes(kAssigned, Away(), both, Other()));
}

// Case 52.
TEST_F(AffinityHintTest, DeletedPodsThatKeptItAway) {
  EXPECT_TRUE(Wakes(kAssigned, Away(), MakePod("x").NominatedNode("n").Label("a", ""), {}));
  EXPECT_FALSE(Wakes(kAssigned, Away(), MakePod("x").Label("a", ""), {}));
  EXPECT_FALSE(Wakes(kAssigned, Away(), Other(), {}));
  EXPECT_TRUE(Wakes(kAssigned, MakePod("q").Label("me", ""),
                    Other().AntiAffinity(MakeTerm(kZone).Label("me", "")), {}));
}

// kube-scheduler leaves such a pod waiting: docs/differences.md.
TEST_F(AffinityHintTest, TheLastPodOfItsKindThatGoesMakesItTheFirst) {
  const auto mine = MakePod("q").Label("a", "").Affinity(MakeTerm(kZone).Label("a", ""));
  const auto others = MakePod("q").Affinity(MakeTerm(kZone).Label("a", ""));
  const auto kin = MakePod("x").Node("n").Label("a", "");
  EXPECT_TRUE(Wakes(kAssigned, mine, kin, {}));
  EXPECT_FALSE(Wakes(kAssigned, others, kin, {}));
  EXPECT_TRUE(Wakes(kAssigned, mine, kin, MakePod("x").Node("n")));
  EXPECT_FALSE(Wakes(kAssigned, others, kin, MakePod("x").Node("n")));
  const auto in_zone = MakeNode("n").Zone("z1");
  EXPECT_FALSE(Wakes(mine, in_zone, MakeNode("n"))) << "nobody of its kind is there";
  harness_.AddNode(MakeNode("n"));
  harness_.AddPod(kin);
  EXPECT_TRUE(Wakes(mine, in_zone, MakeNode("n")));
  EXPECT_FALSE(Wakes(others, in_zone, MakeNode("n")));
}

TEST_F(AffinityHintTest, ItsOwnLabels) {
  EXPECT_TRUE(Wakes(kTarget, MakePod("q"), MakePod("q"), MakePod("q").Label("a", "")));
}

// Case 53.
TEST_F(AffinityHintTest, Nodes) {
  const auto near = MakePod("q").Affinity(MakeTerm(kZone).Label("a", ""));
  const auto away = MakePod("q").AntiAffinity(MakeTerm(kZone).Label("a", ""));
  const auto z1 = MakeNode("n").Zone("z1");
  const auto z2 = MakeNode("n").Zone("z2");
  const auto bare = MakeNode("n");
  EXPECT_TRUE(Wakes(near, {}, z1));
  EXPECT_FALSE(Wakes(near, {}, bare));
  EXPECT_TRUE(Wakes(near, bare, z1));
  EXPECT_TRUE(Wakes(near, z1, z2));
  EXPECT_FALSE(Wakes(near, z1, bare));
  EXPECT_TRUE(Wakes(away, {}, bare));
  EXPECT_TRUE(Wakes(away, z1, bare));
  EXPECT_TRUE(Wakes(away, z1, z2));
  EXPECT_FALSE(Wakes(away, bare, z1));
  EXPECT_FALSE(Wakes(MakePod("q"), {}, z1));
}

}  // namespace
}  // namespace berth::plugins::test
