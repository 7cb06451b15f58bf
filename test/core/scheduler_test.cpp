#include "core/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/fake_api.h"

namespace berth::core {
namespace {

using namespace std::chrono_literals;
using test::FakeApi;
using test::Node;
using test::Pod;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(Scheduler, BindsAPodAndTellsTheUser) {
  FakeApi api;
  api.Create(Node("n1", "4"));
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(api.node_of("web"), "n1");
  EXPECT_THAT(api.NotesFor("Scheduled"), ElementsAre("Successfully assigned default/web to n1"));
  EXPECT_EQ(api.scheduler().binding_count(), 0);
  EXPECT_EQ(api.scheduler().cluster().pods().count(cluster::PodState::kAdded), 1);
}

TEST(Scheduler, ManyPodsFillTheNodesAndNoNodeGetsTooMany) {
  FakeApi api;
  for (int node = 0; node < 10; ++node) api.Create(Node("n" + std::to_string(node), "4"));
  for (int pod = 0; pod < 50; ++pod) api.Create(Pod("p" + std::to_string(pod)));
  api.Run(30s);
  std::map<std::string, int> by_node;
  for (int pod = 0; pod < 50; ++pod) ++by_node[api.node_of("p" + std::to_string(pod))];
  EXPECT_EQ(by_node[""], 10) << "40 of 50 pods fit";
  by_node.erase("");
  EXPECT_THAT(by_node, SizeIs(10));
  for (const auto& [node, pods] : by_node) EXPECT_EQ(pods, 4) << node;
}

TEST(Scheduler, SaysWhyNothingFitsAndTriesAgainWhenANodeComes) {
  FakeApi api;
  api.Create(Node("small", "500m"));
  api.Create(Node("smaller", "250m"));
  api.Create(Pod("web"));
  api.Settle();
  ASSERT_NE(api.Condition("web"), nullptr);
  EXPECT_EQ(api.Condition("web")->reason, "Unschedulable");
  const std::string why =
      "0/2 nodes are available: 2 Insufficient cpu. preemption: 0/2 nodes are available: 2 Preemption is not "
      "helpful for scheduling.";
  EXPECT_EQ(api.Condition("web")->message, why);
  EXPECT_THAT(api.NotesFor("FailedScheduling"), ElementsAre(why));
  api.Create(Node("big", "4"));
  api.Run(2s);
  EXPECT_EQ(api.node_of("web"), "big");
}

TEST(Scheduler, WithoutNodesThePodComesBackAfterItsBackoff) {
  FakeApi api;
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(api.Condition("web")->message, "no nodes available to schedule pods");
  EXPECT_EQ(api.Condition("web")->reason, "Unschedulable");
}

// What is decided ahead of the server's answers is bounded; a more important pod need not wait for the rest.
TEST(Scheduler, NoMorePodsAreTriedThanCallsMayWait) {
  SchedulerOptions options;
  options.calls_in_flight_max = 2;
  options.calls_waiting_max = 3;
  FakeApi api(options);
  api.Create(Node("n1", "40"));
  for (int pod = 0; pod < 20; ++pod) api.Create(Pod("p" + std::to_string(pod)));
  do api.Step();
  while (api.scheduler().HasWork());
  EXPECT_EQ(api.scheduler().binding_count(), 5) << "two on their way, three behind them";
  api.Create(Pod("urgent", 1000));
  api.Step();
  EXPECT_FALSE(api.scheduler().HasWork()) << "an answer is an input";
  std::vector<std::string> bound;
  for (int round = 0; round < 20; ++round) {
    for (const ApiCall& call : api.TakeCalls()) {
      bound.push_back(call.pod->name);
      api.Answer(call);
    }
    do api.Step();
    while (api.scheduler().HasWork());
    EXPECT_LE(api.scheduler().binding_count(), 5);
  }
  EXPECT_THAT(bound, SizeIs(21));
  EXPECT_EQ(bound.at(5), "urgent");
}

TEST(Scheduler, APodWhoseBindingFailsIsTriedAgain) {
  FakeApi api;
  api.Create(Node("n1", "4"));
  api.Create(Pod("web"));
  api.Step();
  ASSERT_THAT(api.waiting_calls(), SizeIs(1));
  EXPECT_EQ(api.scheduler().binding_count(), 1);
  api.Refuse(api.waiting_calls()[0], "the server is on fire");
  api.waiting_calls().clear();
  api.Settle();
  EXPECT_EQ(api.Condition("web")->reason, "SchedulerError");
  EXPECT_EQ(api.Condition("web")->message, "running Bind plugin \"DefaultBinder\": the server is on fire");
  EXPECT_EQ(api.node_of("web"), "");
  api.Run(3s);
  EXPECT_EQ(api.node_of("web"), "n1");
}

TEST(Scheduler, ThePlaceOfAPodThatIsDeletedWhileItIsBoundIsFreeAgain) {
  FakeApi api;
  api.Create(Node("n1", "1"));
  api.Create(Pod("first"));
  api.Step();
  api.Create(Pod("second"));
  api.Step();
  const auto calls = api.TakeCalls();
  api.DeletePod("first");
  api.Step();
  for (const auto& call : calls) api.Answer(call);
  api.Run(5s);
  EXPECT_EQ(api.node_of("second"), "n1");
  EXPECT_EQ(api.scheduler().cluster().pods().size(), 1);
}

TEST(Scheduler, ADeletedPodMakesRoom) {
  FakeApi api;
  api.Create(Node("n1", "1"));
  api.Create(Pod("first"));
  api.Create(Pod("second").Priority(-1));
  api.Settle();
  EXPECT_EQ(api.node_of("second"), "");
  api.DeletePod("first");
  api.Run(2s);
  EXPECT_EQ(api.node_of("second"), "n1");
}

// Found by berth simulate --seed 592: pods on a node that is gone are in no zone, so they neither attract nor
// keep away, though they are not deleted yet.
TEST(Scheduler, ANodeThatGoesTakesItsPodsOutOfTheirZone) {
  const std::string zone = "topology.kubernetes.io/zone";
  FakeApi api;
  api.Create(Node("n1", "1").Zone("a"));
  api.Create(Node("n2", "1").Zone("b"));
  api.Create(Pod("first").Label("app", "web").NodeSelector(zone, "a"));
  api.Settle();
  ASSERT_EQ(api.node_of("first"), "n1");
  api.Create(Pod("second").Label("app", "web").Affinity(berth::test::MakeTerm(zone).Label("app", "web")));
  api.Run(20s);
  ASSERT_EQ(api.node_of("second"), "") << "n1 is full";
  api.DeleteNode("n1");
  api.Run(20s);
  EXPECT_EQ(api.node_of("second"), "n2");
}

TEST(Scheduler, PodsOfOtherSchedulersAreLeftAlone) {
  FakeApi api;
  api.Create(Node("n1", "4"));
  api.Create(Pod("other").SchedulerName("somebody-else"));
  api.Settle();
  EXPECT_EQ(api.node_of("other"), "");
  EXPECT_THAT(api.events(), IsEmpty());
}

TEST(Scheduler, APodThatOthersBoundIsCountedAndNotTried) {
  FakeApi api;
  api.Create(Node("n1", "1"));
  api.Create(Pod("taken").Node("n1"));
  api.Create(Pod("web"));
  api.Settle();
  EXPECT_EQ(api.node_of("web"), "");
  EXPECT_EQ(
      api.Condition("web")->message,
      "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption "
      "victims found for incoming pod.");
}

TEST(Scheduler, AGatedPodIsNotTriedUntilItsGateGoes) {
  FakeApi api;
  api.Create(Node("n1", "4"));
  // The API server says so itself when the pod is created, and nobody says it again.
  api::PodCondition gated;
  gated.type = api::kPodScheduled;
  gated.status = "False";
  gated.reason = "SchedulingGated";
  gated.message = "Scheduling is blocked due to non-empty scheduling gates";
  api.Create(Pod("web").Gate("example.com/wait").Condition(gated));
  api.Run(60s);
  EXPECT_EQ(api.node_of("web"), "");
  EXPECT_THAT(api.events(), IsEmpty());
  auto open = Pod("web");
  api.Change("web", [&](api::PodRecord& record) { record.spec = open.Record()->spec; });
  api.Run(2s);
  EXPECT_EQ(api.node_of("web"), "n1");
}

TEST(Scheduler, TheSameInputsGiveTheSameOutputs) {
  const auto run = [] {
    FakeApi api({.engine = {.seed = 7}});
    for (int node = 0; node < 20; ++node)
      api.Create(Node("n" + std::to_string(node), "4").Zone("z" + std::to_string(node % 3)));
    for (int pod = 0; pod < 60; ++pod)
      api.Create(Pod("p" + std::to_string(pod), pod % 2 == 0 ? "500m" : "1500m"));
    api.Run(30s);
    std::vector<std::string> nodes;
    for (int pod = 0; pod < 60; ++pod) nodes.push_back(api.node_of("p" + std::to_string(pod)));
    return std::pair(nodes, api.scheduler().cluster().Digest());
  };
  EXPECT_EQ(run(), run());
}

TEST(Scheduler, NothingIsLeftWhenAllPodsAndNodesAreGone) {
  FakeApi api;
  for (int node = 0; node < 5; ++node) api.Create(Node("n" + std::to_string(node), "4"));
  for (int pod = 0; pod < 30; ++pod) api.Create(Pod("p" + std::to_string(pod)));
  api.Run(10s);
  for (int pod = 0; pod < 30; ++pod) api.DeletePod("p" + std::to_string(pod));
  for (int node = 0; node < 5; ++node) api.DeleteNode("n" + std::to_string(node));
  api.Run(10s);
  EXPECT_EQ(api.scheduler().dispatcher().pod_count(), 0);
  EXPECT_TRUE(api.scheduler().queue().in_flight().empty());
  EXPECT_EQ(api.scheduler().cluster().pods().size(), 0);
}

}  // namespace
}  // namespace berth::core
