#include "server/dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "base/clock.h"
#include "core/scheduler.h"
#include "queue/scheduling_queue.h"
#include "server/pod_resources.h"
#include "support/builders.h"

// Case 59 of the operations chapter, as far as text goes.
namespace berth::server {
namespace {

using berth::test::MakeNode;
using berth::test::MakePod;
using testing::HasSubstr;

class DumpTest : public testing::Test {
 protected:
  DumpTest() {
    auto made = core::Scheduler::Make({}, clock, metrics);
    EXPECT_TRUE(made.has_value());
    scheduler = *std::move(made);
    scheduler->SetDeciding(false);
  }
  void See(std::vector<core::Input> inputs) {
    core::Outputs outputs;
    scheduler->Step(inputs, outputs);
  }

  base::VirtualClock clock;
  base::MetricRegistry metrics;
  std::unique_ptr<core::Scheduler> scheduler;
};

TEST_F(DumpTest, NodesWithTheirPodsInUpstreamsLayout) {
  See({core::NodeSeen{MakeNode("n2").Cpu("2").Memory("1Ki").Allocatable("example.com/gpu", "3").Ref()},
       core::NodeSeen{MakeNode("n1").Cpu("4").Ref()},
       core::PodSeen{MakePod("web").Uid("u1").Cpu("500m").Node("n2").Phase("Running").Record()}});
  EXPECT_EQ(DumpNodes(scheduler->cluster()),
            "Node name: n1\nDeleted: false\n"
            "Requested Resources: &{MilliCPU:0 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 "
            "ScalarResources:map[]}\n"
            "Allocatable Resources:&{MilliCPU:4000 Memory:0 EphemeralStorage:0 AllowedPodNumber:110 "
            "ScalarResources:map[]}\n"
            "Scheduled Pods(number: 0):\n"
            "\n"
            "Node name: n2\nDeleted: false\n"
            "Requested Resources: &{MilliCPU:500 Memory:0 EphemeralStorage:0 AllowedPodNumber:0 "
            "ScalarResources:map[]}\n"
            "Allocatable Resources:&{MilliCPU:2000 Memory:1024 EphemeralStorage:0 AllowedPodNumber:110 "
            "ScalarResources:map[example.com/gpu:3]}\n"
            "Scheduled Pods(number: 1):\n"
            "name: web, namespace: default, uid: u1, phase: Running, nominated node: \n");
  EXPECT_EQ(CompareCache(scheduler->cluster()), "");
}

TEST_F(DumpTest, NominatedPodsAndTheQueue) {
  See({core::NodeSeen{MakeNode("n1").Cpu("4").Ref()},
       core::PodSeen{
           MakePod("high").Uid("u2").SchedulerName("default-scheduler").NominatedNode("n1").Record()}});
  EXPECT_THAT(DumpNodes(scheduler->cluster()),
              HasSubstr("Nominated Pods(number: 1):\n"
                        "name: high, namespace: default, uid: u2, phase: , nominated node: n1\n"));
  EXPECT_EQ(DumpQueue(scheduler->cluster(), scheduler->queue()),
            "name: high, namespace: default, uid: u2, phase: , nominated node: n1\n");
  EXPECT_EQ(scheduler->queue().Summary(), "activeQ:1; backoffQ:0; unschedulableEntities:0");
}

TEST_F(DumpTest, AnEmptyClusterIsAnEmptyDump) {
  EXPECT_EQ(DumpNodes(scheduler->cluster()), "");
  EXPECT_EQ(DumpQueue(scheduler->cluster(), scheduler->queue()), "");
  EXPECT_EQ(CompareCache(scheduler->cluster()), "");
}

}  // namespace
}  // namespace berth::server
