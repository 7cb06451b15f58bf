#include "api/pod_requests.h"

#include <cstdint>
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/resource_names.h"
#include "support/builders.h"

namespace berth::api {
namespace {

constexpr std::int64_t kMi = 1024 * 1024;

using Amounts = std::map<std::string, std::string>;

ResourceList List(std::initializer_list<std::pair<std::string, std::string_view>> amounts) {
  ResourceList list;
  for (const auto& [name, text] : amounts) list.insert_or_assign(name, Quantity::Parse(text).value());
  return list;
}

Amounts Texts(const ResourceList& list) {
  Amounts texts;
  for (const auto& [name, quantity] : list) texts.emplace(name, quantity.Canonical());
  return texts;
}

Container MakeContainer(std::string name, ResourceList requests, bool sidecar = false) {
  Container container;
  container.name = std::move(name);
  container.resources.requests = std::move(requests);
  if (sidecar) container.restart_policy = "Always";
  return container;
}

Pod PodOf(std::vector<Container> containers, std::vector<Container> init_containers = {}) {
  Pod pod;
  pod.spec.containers = std::move(containers);
  pod.spec.init_containers = std::move(init_containers);
  return pod;
}

ContainerStatus MakeStatus(std::string name, ResourceList allocated,
                           std::optional<ResourceList> actuated = {}) {
  ContainerStatus status;
  status.name = std::move(name);
  status.allocated_resources = std::move(allocated);
  if (actuated) status.resources.emplace().requests = *std::move(actuated);
  return status;
}

void SetInfeasible(Pod& pod) {
  PodCondition condition;
  condition.type = "PodResizePending";
  condition.reason = "Infeasible";
  pod.status.conditions.push_back(std::move(condition));
}

Amounts Requests(const Pod& pod, const PodRequestOptions& options = {}) {
  return Texts(PodRequests(PodResourceView(pod), options));
}

TEST(PodRequests, ContainersAddUp) {
  const Pod pod = PodOf({MakeContainer("a", List({{"cpu", "500m"}, {"memory", "1Gi"}})),
                         MakeContainer("b", List({{"cpu", "1"}, {"example.com/gpu", "2"}}))});
  EXPECT_EQ(Requests(pod), (Amounts{{"cpu", "1500m"}, {"memory", "1Gi"}, {"example.com/gpu", "2"}}));
}

// Init containers run one after the other, before the others.
TEST(PodRequests, InitContainersCountAtTheirPeak) {
  const Pod pod = PodOf({MakeContainer("a", List({{"cpu", "1"}, {"memory", "1Gi"}}))},
                        {MakeContainer("i", List({{"cpu", "3"}})), MakeContainer("j", List({{"cpu", "2"}}))});
  EXPECT_EQ(Requests(pod), (Amounts{{"cpu", "3"}, {"memory", "1Gi"}}));
}

// A sidecar runs beside the containers, and beside the init containers that come after it.
TEST(PodRequests, SidecarsCountFromTheirStart) {
  const auto sidecar = MakeContainer("s", List({{"cpu", "1"}}), true);
  const auto init = MakeContainer("i", List({{"cpu", "4"}}));
  const auto main = MakeContainer("a", List({{"cpu", "2"}}));
  EXPECT_EQ(Requests(PodOf({main}, {sidecar, init})), (Amounts{{"cpu", "5"}}));
  EXPECT_EQ(Requests(PodOf({main}, {init, sidecar})), (Amounts{{"cpu", "4"}}));
  EXPECT_EQ(Requests(PodOf({main}, {sidecar, sidecar})), (Amounts{{"cpu", "4"}}));
}

TEST(PodRequests, PodLevelReplacesEvenIfSmallerAndOverheadComesOnTop) {
  Pod pod = PodOf({MakeContainer("a", List({{"cpu", "2"}, {"memory", "1Gi"}, {"example.com/gpu", "1"}}))});
  pod.spec.resources.emplace().requests = List({{"cpu", "1"}, {"example.com/gpu", "5"}});
  pod.spec.overhead = List({{"cpu", "250m"}});
  EXPECT_EQ(Requests(pod), (Amounts{{"cpu", "1250m"}, {"memory", "1Gi"}, {"example.com/gpu", "1"}}));
  EXPECT_EQ(Requests(pod, {.use_pod_level = false})["cpu"], "2250m");
}

// While a pod is resized in place it holds the most of what it asks for, was given, and runs with.
TEST(PodRequests, StatusCountsForAssignedPodsOnly) {
  Pod pod = PodOf({MakeContainer("a", List({{"cpu", "1"}})), MakeContainer("b", List({{"cpu", "1"}}))});
  pod.status.container_statuses = {MakeStatus("a", List({{"cpu", "3"}}), List({{"cpu", "500m"}})),
                                   MakeStatus("b", List({{"cpu", "500m"}}), List({{"cpu", "4"}}))};
  EXPECT_EQ(Requests(pod), (Amounts{{"cpu", "2"}}));
  // Sums are compared: 2 asked for, 3.5 given, 4.5 in use.
  EXPECT_EQ(Requests(pod, {.use_status = true}), (Amounts{{"cpu", "4500m"}}));
}

TEST(PodRequests, WhatCannotBeHadIsNotCounted) {
  Pod pod = PodOf({MakeContainer("a", List({{"cpu", "64"}}))});
  pod.status.container_statuses = {MakeStatus("a", List({{"cpu", "1"}}))};
  EXPECT_EQ(Requests(pod, {.use_status = true}), (Amounts{{"cpu", "64"}}));
  SetInfeasible(pod);
  EXPECT_EQ(Requests(pod, {.use_status = true}), (Amounts{{"cpu", "1"}}));
  EXPECT_EQ(Requests(pod), (Amounts{{"cpu", "64"}}));  // the status does not count here
}

TEST(PodRequests, PodLevelStatusTakesThePlaceOfContainerStatuses) {
  Pod pod = PodOf({MakeContainer("a", List({{"cpu", "1"}}))});
  pod.status.container_statuses = {MakeStatus("a", List({{"cpu", "9"}}))};
  pod.status.allocated_resources = List({{"cpu", "2"}});
  pod.status.resources.emplace().requests = List({{"cpu", "3"}});
  EXPECT_EQ(Requests(pod, {.use_status = true, .use_pod_level_status = true}), (Amounts{{"cpu", "3"}}));
  EXPECT_EQ(Requests(pod, {.use_status = true}), (Amounts{{"cpu", "9"}}));
}

TEST(PodRequests, ClaimsAddTheirMappingAndOverhead) {
  Pod pod = PodOf({MakeContainer("a", List({{"cpu", "1"}}))});
  NodeAllocatableResourceClaimStatus claim;
  claim.containers = {"a", "b"};
  claim.mapping = {{.name = "cpu", .quantity = Quantity::FromInt(2)},
                   {.name = "memory", .quantity = std::nullopt}};
  claim.overhead = {
      {.name = "memory", .per_pod = Quantity::FromInt(10), .per_container = Quantity::FromInt(100)}};
  pod.status.node_allocatable_resource_claim_statuses = {claim};
  EXPECT_EQ(Requests(pod), (Amounts{{"cpu", "1"}}));
  EXPECT_EQ(Requests(pod, {.use_claims = true}), (Amounts{{"cpu", "3"}, {"memory", "210"}}));
}

TEST(PodLimits, OverheadIsAddedToLimitsThatAreSet) {
  Pod pod = PodOf({MakeContainer("a", {}), MakeContainer("b", {})});
  pod.spec.containers[0].resources.limits = List({{"cpu", "1"}, {"example.com/gpu", "0"}});
  pod.spec.overhead = List({{"cpu", "1"}, {"memory", "1Gi"}, {"example.com/gpu", "1"}});
  EXPECT_EQ(Texts(PodLimits(PodResourceView(pod), {})), (Amounts{{"cpu", "2"}, {"example.com/gpu", "0"}}));
}

// Requests that are written as zero stay zero; missing ones count for something in scores.
TEST(AssignedPodRequests, NonZeroDefaultsArePerContainer) {
  const Pod pod = PodOf({MakeContainer("a", List({{"cpu", "0"}})), MakeContainer("b", {})},
                        {MakeContainer("i", List({{"memory", "1Gi"}}))});
  const AssignedRequests assigned = AssignedPodRequests(PodResourceView(pod), {});
  EXPECT_EQ(assigned.requests.milli_cpu, 0);
  EXPECT_EQ(assigned.requests.memory, 1024 * kMi);
  EXPECT_EQ(assigned.non_zero_milli_cpu, 100);
  EXPECT_EQ(assigned.non_zero_memory, 1024 * kMi);
}

TEST(AssignedPodRequests, PodLevelNeedsDefaultsForWhatIsOpen) {
  Pod pod = PodOf({MakeContainer("a", {}), MakeContainer("b", {})});
  pod.spec.resources.emplace().requests = List({{"cpu", "10m"}});
  const AssignedRequests assigned = AssignedPodRequests(PodResourceView(pod), {});
  EXPECT_EQ(assigned.non_zero_milli_cpu, 10);
  EXPECT_EQ(assigned.non_zero_memory, 400 * kMi);
  const AssignedRequests without = AssignedPodRequests(PodResourceView(pod), {.pod_level_resources = false});
  EXPECT_EQ(without.non_zero_milli_cpu, 200);
}

TEST(AssignedPodRequests, RecordCountsForTheSameAsItsPod) {
  Pod pod =
      PodOf({MakeContainer("a", List({{"cpu", "1"}}))}, {MakeContainer("i", List({{"memory", "5Mi"}}))});
  pod.status.container_statuses = {MakeStatus("a", List({{"cpu", "2"}}))};
  pod.status.init_container_statuses = {MakeStatus("i", List({{"memory", "6Mi"}}))};
  pod.status.resources.emplace().requests = List({{"cpu", "3"}});
  pod.status.allocated_resources = List({{"cpu", "4"}});
  SetInfeasible(pod);
  pod.status.node_allocatable_resource_claim_statuses.emplace_back().mapping = {
      {.name = "memory", .quantity = Quantity::FromInt(7)}};
  SharedParts shared;
  for (const bool gate : {false, true}) {
    const ResourceGates gates{.in_place_pod_level_resources_vertical_scaling = gate,
                              .dra_node_allocatable_resources = gate};
    const AssignedRequests want = AssignedPodRequests(PodResourceView(pod), gates);
    const PodRecord record = MakeRecord(Pod(pod), shared);
    EXPECT_EQ(AssignedPodRequests(PodResourceView(record), gates), want);
    EXPECT_GT(want.requests.milli_cpu, 1000);
  }
}

TEST(PendingPodRequests, RoundsOnceAndLeavesClaimsOut) {
  Pod pod = PodOf({MakeContainer("a", List({{"memory", "500m"}, {"cpu", "1n"}})),
                   MakeContainer("b", List({{"memory", "500m"}, {"storage", "1Gi"}}))});
  pod.status.node_allocatable_resource_claim_statuses.emplace_back().mapping = {
      {.name = "memory", .quantity = Quantity::FromInt(7)}};
  const ResourceVector pending =
      PendingPodRequests(PodResourceView(pod), {.dra_node_allocatable_resources = true});
  EXPECT_EQ(pending.memory, 1);
  EXPECT_EQ(pending.milli_cpu, 1);
  EXPECT_TRUE(pending.scalars.empty());
}

// From here on, cases 7 to 17 of the chapter about node plugins, as it counts them.
Container Cpu(std::string name, std::string_view amount, bool sidecar = false) {
  return MakeContainer(std::move(name), List({{"cpu", amount}}), sidecar);
}
std::string CpuOf(const Pod& pod, const PodRequestOptions& options = {}) {
  return Requests(pod, options)["cpu"];
}

TEST(PodRequestCases, Case07SumsAreRoundedAtTheEnd) {
  const Pod pod = PodOf({MakeContainer("a", List({{"memory", "500m"}}))},
                        {MakeContainer("i", List({{"memory", "1500m"}}))});
  EXPECT_EQ(PendingPodRequests(PodResourceView(pod), {}).memory, 2);
}

TEST(PodRequestCases, Case08TheSumOrTheLargestInitContainer) {
  const Pod pod = PodOf({MakeContainer("a", List({{"cpu", "2"}, {"memory", "1G"}})),
                         MakeContainer("b", List({{"cpu", "1"}, {"memory", "1G"}}))},
                        {MakeContainer("i", List({{"cpu", "2"}, {"memory", "1G"}})),
                         MakeContainer("j", List({{"cpu", "2"}, {"memory", "3G"}}))});
  EXPECT_EQ(Requests(pod), (Amounts{{"cpu", "3"}, {"memory", "3G"}}));
}

TEST(PodRequestCases, Case09And10SidecarsRunBesideWhatComesAfterThem) {
  const auto main = Cpu("a", "1");
  EXPECT_EQ(
      CpuOf(PodOf({main}, {Cpu("i", "5"), Cpu("s1", "1", true), Cpu("s2", "2", true), Cpu("s3", "3", true)})),
      "7");
  EXPECT_EQ(CpuOf(PodOf({main}, {Cpu("i", "5"), Cpu("s1", "1", true), Cpu("s2", "2", true), Cpu("j", "5"),
                                 Cpu("s3", "3", true)})),
            "8");
  EXPECT_EQ(CpuOf(PodOf({Cpu("a", "100")}, {Cpu("s", "10", true), Cpu("i", "200")})), "210");
  EXPECT_EQ(CpuOf(PodOf({Cpu("a", "100")}, {Cpu("i", "200"), Cpu("s", "10", true)})), "200");
}

TEST(PodRequestCases, Case11SumsAreComparedAndNotContainers) {
  Pod pod = PodOf({Cpu("c1", "1"), Cpu("c2", "2")});
  pod.status.container_statuses = {MakeStatus("c1", List({{"cpu", "2"}})),
                                   MakeStatus("c2", List({{"cpu", "1"}}))};
  EXPECT_EQ(CpuOf(pod, {.use_status = true}), "3");
}

TEST(PodRequestCases, Case12And14WhatThePodAsksForCountsUnlessItCannotBeHad) {
  Pod pod = PodOf({Cpu("a", "4")});
  ContainerStatus& status = pod.status.container_statuses.emplace_back();
  status.name = "a";
  status.resources.emplace().requests = List({{"cpu", "2"}});
  EXPECT_EQ(CpuOf(pod, {.use_status = true}), "4");
  SetInfeasible(pod);
  pod.status.conditions.back().status = "False";  // not looked at
  EXPECT_EQ(CpuOf(pod, {.use_status = true}), "2");
  EXPECT_EQ(CpuOf(pod), "4");
}

TEST(PodRequestCases, Case13TheMostOfWhatIsAskedForGivenAndInUse) {
  Pod pod = PodOf({Cpu("a", "6")});
  pod.status.container_statuses = {MakeStatus("a", List({{"cpu", "4"}}), List({{"cpu", "2"}}))};
  SetInfeasible(pod);
  EXPECT_EQ(CpuOf(pod, {.use_status = true}), "4");
  Pod mixed = PodOf({MakeContainer("a", List({{"cpu", "30m"}, {"memory", "20M"}}))});
  mixed.status.container_statuses = {
      MakeStatus("a", List({{"cpu", "20m"}, {"memory", "10M"}}), List({{"cpu", "10m"}, {"memory", "30M"}}))};
  EXPECT_EQ(Requests(mixed, {.use_status = true}), (Amounts{{"cpu", "30m"}, {"memory", "30M"}}));
}

TEST(PodRequestCases, Case15PodLevelRequestsReplaceTheSumOfThoseResourcesThatTheyMayName) {
  Pod pod = PodOf({Cpu("a", "1"), Cpu("b", "2")});
  pod.spec.resources.emplace().requests = List({{"cpu", "1"}});
  pod.spec.overhead = List({{"cpu", "250m"}});
  EXPECT_EQ(CpuOf(pod), "1250m");
  Pod storage = PodOf({Cpu("a", "1")});
  storage.spec.resources.emplace().requests = List({{"ephemeral-storage", "1Gi"}});
  EXPECT_EQ(Requests(storage), (Amounts{{"cpu", "1"}}));
}

TEST(PodRequestCases, Case16And17WhatIsNotNamedCountsForSomethingInScores) {
  Pod pod = PodOf({MakeContainer("a", {})});
  pod.spec.resources.emplace().requests = List({{"memory", "64Mi"}});
  const AssignedRequests open = AssignedPodRequests(PodResourceView(pod), {});
  EXPECT_EQ(open.non_zero_milli_cpu, 100);
  EXPECT_EQ(open.non_zero_memory, 64 * kMi);
  const Pod nothing = PodOf({MakeContainer("a", {}), MakeContainer("b", {})}, {MakeContainer("i", {})});
  const AssignedRequests best_effort = AssignedPodRequests(PodResourceView(nothing), {});
  EXPECT_EQ(best_effort.non_zero_milli_cpu, 200);
  EXPECT_EQ(best_effort.non_zero_memory, 419430400);
  const AssignedRequests zero = AssignedPodRequests(PodResourceView(PodOf({Cpu("a", "0")})), {});
  EXPECT_EQ(zero.non_zero_milli_cpu, 0);
}

TEST(ResourceNames, TellKindsApart) {
  EXPECT_TRUE(IsExtendedResource("example.com/gpu"));
  EXPECT_FALSE(IsExtendedResource("gpu"));
  EXPECT_FALSE(IsExtendedResource("kubernetes.io/batch-cpu"));
  EXPECT_FALSE(IsExtendedResource("requests.example.com/gpu"));
  EXPECT_FALSE(IsExtendedResource("Example.com/gpu"));
  EXPECT_FALSE(IsExtendedResource("example.com/" + std::string(64, 'x')));
  // Nine of the 253 characters of a domain belong to the quota's prefix.
  const std::string domain =
      std::string(60, 'a') + "." + std::string(60, 'a') + "." + std::string(60, 'a') + ".";
  EXPECT_TRUE(IsExtendedResource(domain + std::string(61, 'a') + "/x"));
  EXPECT_FALSE(IsExtendedResource(domain + std::string(62, 'a') + "/x"));
  for (const std::string_view scalar :
       {"example.com/gpu", "hugepages-2Mi", "kubernetes.io/x", "attachable-volumes-a"}) {
    EXPECT_TRUE(IsScalarResource(scalar)) << scalar;
  }
  for (const std::string_view other : {"cpu", "storage", "foo", "Example.com/x"}) {
    EXPECT_FALSE(IsScalarResource(other)) << other;
  }
}

ResourceVector Vector(std::initializer_list<std::pair<std::string, std::string_view>> amounts) {
  return ToVector(List(amounts));
}

TEST(MissingResources, ListsAllInOrder) {
  const NodeAllocatable node = ToAllocatable(List(
      {{"cpu", "4"}, {"memory", "1Gi"}, {"pods", "1"}, {"example.com/gpu", "1"}, {"hugepages-2Mi", "2Mi"}}));
  const ResourceVector used = Vector({{"cpu", "3"}, {"example.com/gpu", "1"}});
  const auto missing = MissingResources(Vector({{"cpu", "2"},
                                                {"memory", "2Gi"},
                                                {"ephemeral-storage", "1"},
                                                {"example.com/gpu", "1"},
                                                {"example.com/zero", "0"},
                                                {"hugepages-2Mi", "2Mi"}}),
                                        {.allocatable = node, .requested = used, .pod_count = 1});
  const std::vector<InsufficientResource> want = {
      {.resource = "pods", .requested = 1, .used = 1, .capacity = 1},
      {.resource = "cpu", .requested = 2000, .used = 3000, .capacity = 4000},
      {.resource = "memory",
       .requested = 2048 * kMi,
       .used = 0,
       .capacity = 1024 * kMi,
       .unresolvable = true},
      {.resource = "ephemeral-storage", .requested = 1, .used = 0, .capacity = 0, .unresolvable = true},
      {.resource = "example.com/gpu", .requested = 1, .used = 1, .capacity = 1},
  };
  EXPECT_EQ(missing, want);
  EXPECT_EQ(missing[0].Reason(), "Too many pods");
  EXPECT_EQ(missing[3].Reason(), "Insufficient ephemeral-storage");
}

TEST(MissingResources, PassesOverWhatIsIgnored) {
  const NodeAllocatable node = ToAllocatable(List({{"pods", "10"}}));
  const NodeUse use{.allocatable = node, .requested = node.resources, .pod_count = 0};
  const ResourceVector request = Vector({{"example.com/gpu", "1"}, {"example.com/nic", "1"}});
  const auto missing =
      MissingResources(request, use, [](std::string_view name) { return name == "example.com/gpu"; });
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0].resource, "example.com/nic");
}

TEST(Fits, NothingFitsAnywhereAndOverflowNowhere) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  EXPECT_TRUE(Fits(0, 10, 5));
  EXPECT_TRUE(Fits(5, 5, 10));
  EXPECT_FALSE(Fits(6, 5, 10));
  EXPECT_FALSE(Fits(kMax, kMax, kMax));
}

TEST(ResourceVector, SumsSaturate) {
  ResourceVector sum = Vector({{"memory", "8Ei"}, {"example.com/gpu", "1"}});
  sum.Add(Vector({{"memory", "8Ei"}, {"example.com/gpu", "2"}, {"hugepages-1Gi", "1Gi"}}));
  EXPECT_EQ(sum.memory, std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(sum.Scalar("example.com/gpu"), 3);
  EXPECT_EQ(sum.Scalar("hugepages-1Gi"), 1024 * kMi);
  EXPECT_EQ(sum.Scalar("absent"), 0);
}

}  // namespace
}  // namespace berth::api
