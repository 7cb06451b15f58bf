#include "framework/events.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "support/builders.h"

namespace berth::framework {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> Labels(const std::vector<ClusterEvent>& events) {
  std::vector<std::string> labels;
  for (const ClusterEvent& event : events) labels.push_back(event.Label());
  return labels;
}

std::vector<std::string> PodUpdate(berth::test::PodBuilder before, berth::test::PodBuilder after,
                                   bool is_target = false) {
  return Labels(PodUpdateEvents(*before.Record(), *after.Record(), is_target, api::ResourceGates()));
}

TEST(ClusterEventTest, LabelIsResourceAndAction) {
  EXPECT_EQ((ClusterEvent{EventResource::kNode, kAdd}.Label()), "NodeAdd");
  EXPECT_EQ((ClusterEvent{EventResource::kCSINode, kUpdate}.Label()), "storage.k8s.io/CSINodeUpdate");
  EXPECT_EQ((ClusterEvent{EventResource::kTargetPod, kUpdatePodToleration}.Label()),
            "TargetPodUpdatePodToleration");
  EXPECT_EQ((ClusterEvent{EventResource::kNode, kAllActions}.Label()), "NodeAll");
}

TEST(ClusterEventTest, OtherCombinationsOfActionsHaveNoName) {
  EXPECT_EQ((ClusterEvent{EventResource::kNode, kAdd | kUpdateNodeLabel}.Label()), "Node");
  EXPECT_EQ((ClusterEvent{EventResource::kNode, 0}.Label()), "Node");
}

TEST(ClusterEventTest, ACustomLabelWins) { EXPECT_EQ(kForceActivate.Label(), "ForceActivate"); }

TEST(ClusterEventTest, ActionsHaveUpstreamsValues) {
  EXPECT_EQ(kAllActions, 32767u);
  EXPECT_EQ(kUpdate, 32764u);
  EXPECT_EQ(ActionName(8192), "UpdatePodSchedulingGatesEliminated");
  EXPECT_EQ(ActionName(16384), "UpdatePodGeneratedResourceClaim");
  EXPECT_EQ(ActionName(32768), "");
}

struct MatchCase {
  std::string_view name;
  ClusterEvent registered;
  ClusterEvent incoming;
  bool want;
};

class MatchTest : public testing::TestWithParam<MatchCase> {};

TEST_P(MatchTest, FollowsUpstreamsRule) {
  EXPECT_EQ(Matches(GetParam().registered, GetParam().incoming), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Events, MatchTest,
    testing::Values(
        MatchCase{"Equal", {EventResource::kNode, kAdd}, {EventResource::kNode, kAdd}, true},
        MatchCase{"OneOfSeveral",
                  {EventResource::kNode, kAdd | kUpdateNodeLabel},
                  {EventResource::kNode, kAdd},
                  true},
        MatchCase{"OtherAction", {EventResource::kNode, kDelete}, {EventResource::kNode, kAdd}, false},
        MatchCase{"OtherResource", {EventResource::kNode, kAdd}, {EventResource::kCSINode, kAdd}, false},
        MatchCase{"UpdateCoversKinds",
                  {EventResource::kNode, kUpdate},
                  {EventResource::kNode, kUpdateNodeTaint},
                  true},
        MatchCase{"KindDoesNotCoverUpdate",
                  {EventResource::kNode, kUpdateNodeLabel},
                  {EventResource::kNode, kUpdate},
                  false},
        MatchCase{"PodCoversTarget",
                  {EventResource::kPod, kUpdatePodLabel},
                  {EventResource::kTargetPod, kUpdatePodLabel},
                  true},
        MatchCase{
            "PodDoesNotCoverGroups", {EventResource::kPod, kAdd}, {EventResource::kPodGroup, kAdd}, false},
        MatchCase{"TargetDoesNotCoverAssigned",
                  {EventResource::kTargetPod, kUpdatePodLabel},
                  {EventResource::kAssignedPod, kUpdatePodLabel},
                  false},
        MatchCase{
            "WildcardCoversAll", {EventResource::kWildcard, kAllActions}, {EventResource::kNode, kAdd}, true},
        MatchCase{
            "AnyResourceOneAction", {EventResource::kWildcard, kAdd}, {EventResource::kNode, kAdd}, true},
        MatchCase{"OnlyWildcardCoversWildcard", {EventResource::kNode, kAllActions}, kForceActivate, false},
        MatchCase{"WildcardCoversWildcard", {EventResource::kWildcard, kAllActions}, kForceActivate, true}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(RegistrationTest, PodStandsForItsThreeKinds) {
  const auto expanded = Expand(
      {{{EventResource::kPod, kDelete}, nullptr, nullptr}, {{EventResource::kNode, kAdd}, nullptr, nullptr}});
  std::vector<std::string> labels;
  for (const EventRegistration& registration : expanded) labels.push_back(registration.event.Label());
  EXPECT_THAT(labels, ElementsAre("AssignedPodDelete", "UnscheduledPodDelete", "TargetPodDelete", "NodeAdd"));
}

TEST(RegistrationTest, PodGroupsWakeOnlyWithTheirGate) {
  EXPECT_EQ(AllEvents(false).size(), 12u);
  EXPECT_EQ(AllEvents(true).back(), (ClusterEvent{EventResource::kPodGroup, kAllActions}));
}

TEST(NodeUpdateTest, HeartbeatsAreNoEvent) {
  auto before = MakeNode("n").Cpu("4").Label("a", "b").Build();
  before.status.conditions.Edit() = {{"Ready", "True"}, {"DiskPressure", "False"}};
  auto after = before;
  after.status.conditions.Edit() = {{"DiskPressure", "False"}, {"Ready", "True"}};
  EXPECT_THAT(NodeUpdateEvents(before, after), IsEmpty());
}

TEST(NodeUpdateTest, EachKindOfChangeIsAnEventOfItsOwn) {
  const auto before = MakeNode("n").Cpu("4").Unschedulable().Build();
  auto after =
      MakeNode("n").Cpu("8").Label("a", "b").Taint("k", "v", "NoSchedule").Annotation("x", "y").Build();
  after.status.conditions.Edit() = {{"Ready", "True"}};
  after.status.declared_features.Edit() = {"GuestMemory"};
  EXPECT_THAT(Labels(NodeUpdateEvents(before, after)),
              ElementsAre("NodeUpdateNodeTaint", "NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel",
                          "NodeUpdateNodeTaint", "NodeUpdateNodeCondition", "NodeUpdateNodeAnnotation",
                          "NodeUpdateNodeDeclaredFeature"));
}

TEST(NodeUpdateTest, CordoningAloneIsNoEvent) {
  EXPECT_THAT(NodeUpdateEvents(MakeNode("n"), MakeNode("n").Unschedulable()), IsEmpty());
}

TEST(PodUpdateTest, NothingInParticularIsAnUpdate) {
  EXPECT_THAT(PodUpdate(MakePod("p"), MakePod("p").Annotation("a", "b")),
              ElementsAre("UnscheduledPodUpdate"));
}

TEST(PodUpdateTest, ThePodThatWaitsIsTheTargetUntilItHasANode) {
  EXPECT_THAT(PodUpdate(MakePod("p"), MakePod("p").Label("a", "b"), true),
              ElementsAre("TargetPodUpdatePodLabel"));
  EXPECT_THAT(PodUpdate(MakePod("p"), MakePod("p").Label("a", "b").Node("n"), true),
              ElementsAre("AssignedPodUpdatePodLabel"));
}

TEST(PodUpdateTest, RequestsMayGoBothWaysAtOnce) {
  EXPECT_THAT(PodUpdate(MakePod("p").Cpu("1").Memory("1Gi"), MakePod("p").Cpu("2").Memory("512Mi")),
              ElementsAre("UnscheduledPodUpdatePodScaleDown", "UnscheduledPodUpdatePodScaleUp"));
  EXPECT_THAT(PodUpdate(MakePod("p").Cpu("1").Memory("1Gi"), MakePod("p").Cpu("1")),
              ElementsAre("UnscheduledPodUpdatePodScaleDown"));
}

TEST(PodUpdateTest, OnlyTheLastGateCounts) {
  EXPECT_THAT(PodUpdate(MakePod("p").Gate("a").Gate("b"), MakePod("p").Gate("a"), true),
              ElementsAre("TargetPodUpdate"));
  EXPECT_THAT(PodUpdate(MakePod("p").Gate("a"), MakePod("p"), true),
              ElementsAre("TargetPodUpdatePodSchedulingGatesEliminated"));
}

TEST(PodUpdateTest, TolerationsCountByNumber) {
  api::Toleration one;
  one.key = "a";
  api::Toleration other;
  other.key = "b";
  EXPECT_THAT(PodUpdate(MakePod("p").Tolerate(one), MakePod("p").Tolerate(other)),
              ElementsAre("UnscheduledPodUpdate"));
  EXPECT_THAT(PodUpdate(MakePod("p").Tolerate(one), MakePod("p").Tolerate(one).Tolerate(other)),
              ElementsAre("UnscheduledPodUpdatePodToleration"));
}

TEST(PodUpdateTest, GeneratedClaimsComeThroughTheStatus) {
  auto after = MakePod("p");
  after.pod().status.resource_claim_statuses = {{"gpu", "p-gpu-x7"}};
  EXPECT_THAT(PodUpdate(MakePod("p"), after, true), ElementsAre("TargetPodUpdatePodGeneratedResourceClaim"));
}

}  // namespace
}  // namespace berth::framework
