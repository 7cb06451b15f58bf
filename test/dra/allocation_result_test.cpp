#include "dra/allocation_result.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dra/device_bed.h"
#include "dra/extended_requests.h"

// What is written into the status of a claim, and what a claim for extended resources asks for.
namespace berth::dra::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> KeysOf(const std::vector<api::NodeSelectorRequirement>& requirements) {
  std::vector<std::string> keys;
  for (const auto& requirement : requirements) keys.push_back(requirement.key);
  return keys;
}

// Case 68.
TEST(AllocationResult, NodeSelectorsAreMerged) {
  DeviceBed bed;
  cluster::NodeRow row = bed.cluster().SetNode(std::make_shared<const api::Node>(
      berth::test::MakeNode("n1").Label("region", "west").Label("planet", "earth")));
  ASSERT_TRUE(row.IsValid());
  bed.Add(MakeSlice("s1", "p1", {MakeDevice("d")}).NodeLabel("region", "west"));
  bed.Add(MakeSlice("s2", "p2", {MakeDevice("d")}));
  bed.Add(MakeSlice("s3", "p3", {MakeDevice("d")}).NodeLabel("planet", "earth").NodeLabel("region", "west"));
  auto by_name = MakeSlice("s4", "p4", {MakeDevice("d")});
  by_name.slice().spec.all_nodes.reset();
  api::NodeSelectorTerm term;
  term.match_fields.push_back({"metadata.name", "In", {"n1"}});
  by_name.slice().spec.node_selector.emplace().node_selector_terms.push_back(term);
  bed.Add(by_name);
  ASSERT_EQ(bed.DevicesFor(MakeClaim("c").Request("r", {.count = 4})), "p1/d p2/d p3/d p4/d");
  const auto& selector = bed.allocations().front().node_selector;
  ASSERT_TRUE(selector);
  ASSERT_EQ(selector->node_selector_terms.size(), 1u);
  EXPECT_THAT(KeysOf(selector->node_selector_terms[0].match_expressions), ElementsAre("region", "planet"));
  EXPECT_THAT(KeysOf(selector->node_selector_terms[0].match_fields), ElementsAre("metadata.name"));
}

// Case 69.
TEST(AllocationResult, OneLocalDeviceTiesTheClaimToTheNode) {
  for (const api::ResourceSlice& local :
       {api::ResourceSlice(MakeSlice("l", "local", {MakeDevice("d")}).OnNode("n1")),
        api::ResourceSlice(MakeSlice("l", "local", {MakeDevice("d").BindsToNode()}))}) {
    DeviceBed bed;
    bed.Add(MakeSlice("s", "network", {MakeDevice("d")}));
    bed.Add(local);
    bed.DevicesFor(MakeClaim("c").Request("r", {.count = 2}));
    const auto& selector = bed.allocations().front().node_selector;
    ASSERT_TRUE(selector);
    EXPECT_THAT(selector->node_selector_terms[0].match_expressions, IsEmpty());
    EXPECT_EQ(selector->node_selector_terms[0].match_fields[0].values[0], "n1");
  }
  DeviceBed bed;
  bed.Add(MakeSlice("s", "network", {MakeDevice("d")}));
  bed.DevicesFor(MakeClaim("c").Request("r"));
  EXPECT_FALSE(bed.allocations().front().node_selector);
}

TEST(AllocationResult, SeveralTermsCannotBeRepeated) {
  DeviceBed bed;
  auto slice = MakeSlice("s", "p", {MakeDevice("d")});
  slice.slice().spec.all_nodes.reset();
  api::NodeSelectorTerm term;
  term.match_fields.push_back({"metadata.name", "In", {"n1"}});
  slice.slice().spec.node_selector.emplace().node_selector_terms = {term, term};
  bed.Add(slice);
  EXPECT_EQ(bed.DevicesFor(MakeClaim("c").Request("r")),
            "error: create NodeSelector for claim c: unsupported ResourceSlice.NodeSelector with 2 terms");
}

std::vector<std::vector<std::string>> RequestsOfConfig(const api::AllocationResult& allocation,
                                                       std::string source) {
  std::vector<std::vector<std::string>> requests;
  for (const auto& entry : allocation.devices.config) {
    if (entry.source == source) requests.push_back(entry.requests);
  }
  return requests;
}

DeviceBed& WithConfiguredClasses(DeviceBed& bed) {
  for (const char* name : {"A", "B"}) {
    api::DeviceClass device_class = MakeClass(name, std::string("drv") + name);
    device_class.spec.config.emplace_back();
    bed.Add(device_class);
  }
  bed.Add(MakeSlice("a", "pa", {MakeDevice("d1"), MakeDevice("d2")}));
  return bed.Add(MakeSlice("b", "pb", {MakeDevice("d")}).Driver("drvB"));
}

// Case 70.
TEST(AllocationResult, ConfigurationOfClasses) {
  DeviceBed bed;
  WithConfiguredClasses(bed);
  bed.Allocate({MakeClaim("c").Request("r0").Request("r1").Request("r2", {.device_class = "B"})});
  EXPECT_THAT(RequestsOfConfig(bed.allocations().front(), "FromClass"),
              ElementsAre(ElementsAre("r0", "r1"), ElementsAre("r2")));
  bed.Allocate({MakeClaim("c").Request("r0")});
  EXPECT_THAT(RequestsOfConfig(bed.allocations().front(), "FromClass"), ElementsAre(IsEmpty()));
}

// Case 71.
TEST(AllocationResult, ConfigurationOfTheClaim) {
  DeviceBed bed;
  bed.Add(MakeSlice("a", "pa", {MakeDevice("d1"), MakeDevice("d2")}));
  const std::vector alternatives{Alternatively("s0", {}), Alternatively("s1", {})};
  bed.Allocate({MakeClaim("c")
                    .FirstAvailable("r0", alternatives)
                    .Request("r1")
                    .Config({"r0/s0", "r0/s1"})
                    .Config({"r0/s0", "r1"})
                    .Config({"r0/s1"})
                    .Config({})});
  EXPECT_THAT(RequestsOfConfig(bed.allocations().front(), "FromClaim"),
              ElementsAre(ElementsAre("r0/s0", "r0/s1"), IsEmpty(), IsEmpty()));
}

TEST(AllocationResult, ShareIdsAreUuidsAndDiffer) {
  const ShareSeed seed{.claim_uid = "c", .pod_uid = "p", .attempt = 1};
  EXPECT_THAT(MakeShareId(seed, 0),
              testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_EQ(MakeShareId(seed, 0), MakeShareId(seed, 0));
  EXPECT_NE(MakeShareId(seed, 0), MakeShareId(seed, 1));
  EXPECT_NE(MakeShareId(seed, 0), MakeShareId({.claim_uid = "c", .pod_uid = "p", .attempt = 2}, 0));
}

constexpr ServedResource kGpu[] = {{"example.com/gpu", "A"}};

std::vector<std::string> RequestTexts(const ExtendedRequests& made) {
  std::vector<std::string> texts;
  for (const auto& request : made.requests) {
    texts.push_back(request.name + "=" + std::to_string(request.exactly->count));
  }
  return texts;
}
std::vector<std::string> MappingTexts(const ExtendedRequests& made) {
  std::vector<std::string> texts;
  for (const auto& mapping : made.mappings)
    texts.push_back(mapping.container_name + ":" + mapping.request_name);
  return texts;
}

api::Container Wanting(std::string name, std::string_view count) {
  api::Container container;
  container.name = std::move(name);
  container.resources.requests["example.com/gpu"] = Amount(count);
  return container;
}

// Case 76.
TEST(ExtendedRequests, InitContainersUseWhatComesAfterThem) {
  api::PodSpec pod;
  pod.init_containers = {Wanting("init", "2")};
  pod.containers = {Wanting("main", "1")};
  const ExtendedRequests made = RequestsFor(pod, kGpu);
  EXPECT_THAT(RequestTexts(made), ElementsAre("container-0-request-0=1", "container-1-request-0=1"));
  EXPECT_THAT(MappingTexts(made), ElementsAre("main:container-1-request-0", "init:container-1-request-0",
                                              "init:container-0-request-0"));
}

TEST(ExtendedRequests, OnlyTheLargestRestOfInitContainersIsRequested) {
  api::PodSpec pod;
  pod.init_containers = {Wanting("small", "1"), Wanting("large", "3"), Wanting("as-large", "3")};
  const ExtendedRequests made = RequestsFor(pod, kGpu);
  EXPECT_THAT(RequestTexts(made), ElementsAre("container-1-request-0=3"));
  EXPECT_THAT(MappingTexts(made), ElementsAre("small:container-1-request-0", "large:container-1-request-0",
                                              "as-large:container-1-request-0"));
}

// Case 77.
TEST(ExtendedRequests, AreSortedAsTexts) {
  api::PodSpec pod;
  for (int i = 0; i < 11; ++i)
    pod.containers.push_back(Wanting("c" + std::to_string(i), i == 2 || i == 10 ? "1" : "0"));
  EXPECT_THAT(RequestTexts(RequestsFor(pod, kGpu)),
              ElementsAre("container-10-request-0=1", "container-2-request-0=1"));
}

TEST(ExtendedRequests, SidecarsCountAsContainersAndPartsDoNotCount) {
  api::PodSpec pod;
  pod.init_containers = {Wanting("sidecar", "1"), Wanting("init", "1")};
  pod.init_containers[0].restart_policy = "Always";
  pod.containers = {Wanting("main", "500m")};
  const ExtendedRequests made = RequestsFor(pod, kGpu);
  // The sidecar was started before the init container and keeps what it has.
  EXPECT_THAT(RequestTexts(made), ElementsAre("container-0-request-0=1", "container-1-request-0=1"));
}

}  // namespace
}  // namespace berth::dra::test
