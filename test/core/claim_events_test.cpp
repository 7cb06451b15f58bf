#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <vector>

#include "core/fake_api.h"

// An event about a claim concerns the pods that name it. Thousands may wait: the others must not even be
// asked.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using test::FakeApi;
using test::Node;
using test::Pod;

constexpr int kPods = 10'000;

// The sum over all series of a metric whose labels contain the texts.
double SumOf(const FakeApi& api, const std::string& name, const std::vector<std::string>& labels) {
  const std::string text = api.metrics();
  double sum = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == std::string::npos) end = text.size();
    const std::string line = text.substr(at, end - at);
    at = end + 1;
    if (!line.starts_with(name + "{") && !line.starts_with(name + " ")) continue;
    if (!std::ranges::all_of(labels, [&](const std::string& label) { return line.contains(label); }))
      continue;
    sum += std::stod(line.substr(line.rfind(' ')));
  }
  return sum;
}

double HintsFor(const FakeApi& api, const std::string& plugin) {
  return SumOf(api, "scheduler_queueing_hint_execution_duration_seconds_count",
               {"plugin=\"" + plugin + "\""});
}

std::size_t Waiting(FakeApi& api, queue::Place place) {
  std::size_t count = 0;
  const cluster::PodTable& pods = api.scheduler().cluster().pods();
  for (std::uint32_t index = 0; index < pods.slot_count(); ++index) {
    const cluster::PodSlot slot(index);
    if (pods.IsLive(slot) && api.scheduler().queue().WhereIs(slot) == place) ++count;
  }
  return count;
}

// What the pod's user reads.
std::string MessageOf(const FakeApi& api, const std::string& pod) {
  const api::PodCondition* const condition = api.Condition(pod);
  return condition == nullptr ? "" : condition->message;
}

api::ResourceClaim Claim(const std::string& name) {
  api::ResourceClaim claim;
  claim.metadata.namespace_ = "default";
  claim.metadata.name = name;
  claim.metadata.uid = name + "-uid";
  claim.metadata.resource_version = "1";
  api::DeviceRequest& request = claim.spec.devices.requests.emplace_back();
  request.name = "r";
  request.exactly.emplace().device_class_name = "gpu";
  request.exactly->allocation_mode = "ExactCount";
  request.exactly->count = 1;
  return claim;
}

TEST(ClaimEvents, AskThePodsOfTheClaimOnly) {
  FakeApi api;
  api.Create(Node("n1", "4"));
  for (int i = 0; i < kPods; ++i) {
    const std::string number = std::to_string(i);
    api.Create(Pod("p" + number).ResourceClaim("entry", "c" + number));
  }
  api.Settle();
  ASSERT_EQ(Waiting(api, queue::Place::kUnschedulable), static_cast<std::size_t>(kPods));
  const double before = HintsFor(api, "DynamicResources");
  api.See(Claim("c7"));
  api.Run(10s);
  EXPECT_EQ(HintsFor(api, "DynamicResources") - before, 1);
  EXPECT_EQ(SumOf(api, "scheduler_pre_queueing_hint_evaluations_total",
                  {"plugin=\"DynamicResources\"", "result=\"narrowed\""}),
            1);
  // It was tried: its class does not exist, which is another reason than that of the others.
  EXPECT_THAT(MessageOf(api, "p7"), testing::HasSubstr("device class gpu does not exist"));
  EXPECT_THAT(MessageOf(api, "p8"), testing::HasSubstr("could not find ResourceClaim \"default/c8\""));
}

TEST(ClaimEvents, AskThePodsOfTheVolumeClaimOnly) {
  FakeApi api;
  api.Create(Node("n1", "4"));
  for (int i = 0; i < kPods; ++i) {
    const std::string number = std::to_string(i);
    api.Create(Pod("p" + number).VolumeClaim("c" + number));
  }
  api.Settle();
  ASSERT_EQ(Waiting(api, queue::Place::kUnschedulable), static_cast<std::size_t>(kPods));
  ASSERT_EQ(HintsFor(api, "VolumeRestrictions"), 0);
  api::PersistentVolumeClaim claim;
  claim.metadata.namespace_ = "default";
  claim.metadata.name = "c7";
  claim.metadata.uid = "c7-uid";
  claim.metadata.resource_version = "1";
  api.See(claim);
  api.Run(2s);
  EXPECT_EQ(HintsFor(api, "VolumeRestrictions"), 1);
  EXPECT_THAT(MessageOf(api, "p7"), testing::HasSubstr("pod has unbound immediate PersistentVolumeClaims"));
  EXPECT_THAT(MessageOf(api, "p8"), testing::HasSubstr("persistentvolumeclaim \"c8\" not found"));
}

// kube-scheduler once missed it (kubernetes/kubernetes 127497): what changes is the pod's status, nothing
// else.
TEST(ClaimEvents, NameOfAGeneratedClaimWakesItsPod) {
  FakeApi api;
  api.Create(Node("n1", "4"));
  auto pod = Pod("web");
  pod.pod().spec.resource_claims.emplace_back().name = "entry";
  pod.pod().spec.resource_claims.back().resource_claim_template_name = "template";
  api.Create(pod);
  api.Run(10s);
  EXPECT_THAT(MessageOf(api, "web"), testing::HasSubstr("ResourceClaim not created yet"));
  api::ResourceClaim claim = Claim("web-entry-x1");
  api::OwnerReference& owner = claim.metadata.owner_references.emplace_back();
  owner.kind = "Pod";
  owner.name = "web";
  owner.uid = api.pod("web").uid;
  owner.controller = true;
  api.See(claim);
  api.Run(10s);
  EXPECT_THAT(MessageOf(api, "web"), testing::HasSubstr("ResourceClaim not created yet"));
  api.Change("web", [](api::PodRecord& record) {
    api::PodResourceClaimStatus& status = record.Claims().resource_claim_statuses.emplace_back();
    status.name = "entry";
    status.resource_claim_name = "web-entry-x1";
  });
  api.Run(10s);
  EXPECT_THAT(MessageOf(api, "web"), testing::HasSubstr("device class gpu does not exist"));
}

// Case 48 of the chapter about devices: a rule that goes, wakes those whom it kept out.
TEST(ClaimEvents, TaintRuleThatGoesWakesPods) {
  FakeApi api;
  api.Create(Node("n1", "4"));
  api::DeviceClass device_class;
  device_class.metadata.name = "gpu";
  api.See(device_class);
  api::ResourceSlice slice;
  slice.metadata.name = "slice";
  slice.spec.driver = "driver";
  slice.spec.pool.name = "pool";
  slice.spec.pool.resource_slice_count = 1;
  slice.spec.node_name = "n1";
  slice.spec.devices.emplace_back().name = "d";
  api.See(slice);
  api::DeviceTaintRule rule;
  rule.metadata.name = "rule";
  rule.spec.taint.key = "broken";
  rule.spec.taint.effect = "NoSchedule";
  api.See(rule);
  api.See(Claim("c"));
  api.Create(Pod("web").ResourceClaim("entry", "c"));
  api.Run(20s);
  EXPECT_THAT(MessageOf(api, "web"), testing::HasSubstr("cannot allocate all claims"));
  api.Forget(rule);
  api.Run(20s);
  ASSERT_EQ(api.writes().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<framework::BindClaim>(api.writes().front().write));
}

}  // namespace
}  // namespace berth::core
