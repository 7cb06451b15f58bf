#include "client/pod_status_patch.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace berth::client {
namespace {

constexpr api::Time kThen{.unix_seconds = 1'700'000'000};
constexpr api::Time kNow{.unix_seconds = 1'780'000'000};  // 2026-05-28T20:26:40Z

api::PodCondition Unschedulable(std::string message, std::int64_t generation = 3) {
  api::PodCondition condition;
  condition.type = "PodScheduled";
  condition.status = "False";
  condition.reason = "Unschedulable";
  condition.message = std::move(message);
  condition.observed_generation = generation;
  return condition;
}

api::PodRecord Known(std::vector<std::string> types, std::vector<api::PodCondition> kept = {}) {
  api::PodRecord pod;
  if (!types.empty())
    pod.condition_types = std::make_shared<const std::vector<std::string>>(std::move(types));
  pod.SetConditions(std::move(kept));
  return pod;
}

// Case 27.
TEST(PodStatusPatch, Case27FirstConditionOfAll) {
  EXPECT_EQ(PodStatusPatch(Known({}), {.conditions = {Unschedulable("0/3 nodes")}}, kNow),
            R"({"status":{"conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-05-28T20:26:40Z",)"
            R"("message":"0/3 nodes","observedGeneration":3,"reason":"Unschedulable","status":"False",)"
            R"("type":"PodScheduled"}]}})");
}

// Case 28.
TEST(PodStatusPatch, Case28NewTypeKeepsTheOrderOfTheOthers) {
  EXPECT_EQ(
      PodStatusPatch(Known({"someOtherType"}), {.conditions = {Unschedulable("m", 0)}}, kNow),
      R"({"status":{"$setElementOrder/conditions":[{"type":"someOtherType"},{"type":"PodScheduled"}],)"
      R"("conditions":[{"lastProbeTime":null,"lastTransitionTime":"2026-05-28T20:26:40Z","message":"m",)"
      R"("reason":"Unschedulable","status":"False","type":"PodScheduled"}]}})");
}

// Case 29.
TEST(PodStatusPatch, Case29SameStatusSendsOnlyWhatChanged) {
  api::PodCondition old = Unschedulable("old");
  old.last_transition_time = kThen;
  api::PodCondition wanted = Unschedulable("new");
  wanted.reason = "SchedulerError";
  EXPECT_EQ(PodStatusPatch(Known({"Ready", "PodScheduled"}, {old}), {.conditions = {wanted}}, kNow),
            R"({"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"PodScheduled"}],)"
            R"("conditions":[{"message":"new","reason":"SchedulerError","type":"PodScheduled"}]}})");
}

TEST(PodStatusPatch, TransitionTimeMovesWithTheStatus) {
  api::PodCondition old = Unschedulable("m");
  old.status = "True";
  old.last_transition_time = kThen;
  EXPECT_EQ(PodStatusPatch(Known({"PodScheduled"}, {old}), {.conditions = {Unschedulable("m")}}, kNow),
            R"({"status":{"$setElementOrder/conditions":[{"type":"PodScheduled"}],"conditions":[)"
            R"({"lastTransitionTime":"2026-05-28T20:26:40Z","status":"False","type":"PodScheduled"}]}})");
}

// Case 30.
TEST(PodStatusPatch, Case30NothingToSayIsNoRequestAndNominationsGoAlone) {
  api::PodCondition old = Unschedulable("m", 2);
  old.last_transition_time = kThen;
  api::PodRecord known = Known({"PodScheduled"}, {old});
  EXPECT_EQ(PodStatusPatch(known, {.conditions = {Unschedulable("m", 3)}}, kNow), "");
  EXPECT_EQ(PodStatusPatch(known, {.conditions = {Unschedulable("m", 3)}, .nominated_node_name = "n1"}, kNow),
            R"({"status":{"nominatedNodeName":"n1"}})");
  known.nominated_node_name = "n1";
  EXPECT_EQ(PodStatusPatch(known, {.conditions = {Unschedulable("m", 3)}}, kNow), "");
  EXPECT_EQ(PodStatusPatch(known, {.nominated_node_name = "n1"}, kNow), "");
  EXPECT_EQ(PodStatusPatch(known, {.nominated_node_name = ""}, kNow),
            R"({"status":{"nominatedNodeName":null}})");
}

// Case 31: a list that is written empty would wipe what the kubelet added meanwhile.
TEST(PodStatusPatch, Case31RemovingAConditionNamesThatOneOnly) {
  api::PodCondition not_ready = Unschedulable("waits");
  not_ready.reason = api::kNotReadyForScheduling;
  api::PodRecord known = Known({"Ready", "PodScheduled"}, {not_ready});
  known.resource_version = "17";
  EXPECT_EQ(PodStatusPatch(known, {.remove_not_ready = true}, kNow),
            R"({"metadata":{"resourceVersion":"17"},"status":{"conditions":[{"$patch":"delete",)"
            R"("type":"PodScheduled"}]}})");
  const api::PodRecord other = Known({"PodScheduled"}, {Unschedulable("0/3 nodes")});
  EXPECT_EQ(PodStatusPatch(other, {.remove_not_ready = true}, kNow), "") << "another reason stays";
}

TEST(PodStatusPatch, SeveralConditionsGoTogether) {
  api::PodCondition target = Unschedulable("m", 0);
  target.type = "DisruptionTarget";
  EXPECT_EQ(PodStatusPatch(Known({"Ready"}), {.conditions = {Unschedulable("m", 0), target}}, kNow),
            R"({"status":{"$setElementOrder/conditions":[{"type":"Ready"},{"type":"PodScheduled"},)"
            R"({"type":"DisruptionTarget"}],"conditions":[{"lastProbeTime":null,)"
            R"("lastTransitionTime":"2026-05-28T20:26:40Z","message":"m","reason":"Unschedulable",)"
            R"("status":"False","type":"PodScheduled"},{"lastProbeTime":null,)"
            R"("lastTransitionTime":"2026-05-28T20:26:40Z","message":"m","reason":"Unschedulable",)"
            R"("status":"False","type":"DisruptionTarget"}]}})");
}

TEST(PodStatusPatch, ANominationThatThePodDoesNotShowYetIsCleared) {
  EXPECT_EQ(PodStatusPatch(Known({}), {.nominated_node_name = ""}, kNow), "");
  EXPECT_EQ(PodStatusPatch(Known({}), {.nominated_node_name = ""}, kNow, "n1"),
            R"({"status":{"nominatedNodeName":null}})");
}

TEST(PodStatusPatch, TextsAreEscaped) {
  EXPECT_EQ(PodStatusPatch(Known({}), {.nominated_node_name = "a\"<\n"}, kNow),
            R"({"status":{"nominatedNodeName":"a\"\u003c\n"}})");
}

}  // namespace
}  // namespace berth::client
