#include "server/pod_resources.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "api/quantity.h"
#include "cluster/cluster.h"
#include "support/builders.h"

// Case 44 of the operations chapter.
namespace berth::server {
namespace {

using berth::test::MakePod;
using testing::HasSubstr;
using testing::Not;

TEST(PodResources, ShowsWhatPodsAskForWithUnits) {
  cluster::Cluster cluster;
  ASSERT_TRUE(cluster.AddPod(MakePod("web")
                                 .Cpu("1500m")
                                 .Memory("1Gi")
                                 .Request("hugepages-2Mi", "2Mi")
                                 .Request("example.com/gpu", "0")
                                 .Request("example.com/fpga", "2")
                                 .Priority(7)
                                 .SchedulerName("s")
                                 .Node("n1")
                                 .Record()));
  EXPECT_EQ(PodResourcesText(cluster),
            "# HELP kube_pod_resource_request [STABLE] What each pod asks for, as scheduler and kubelet "
            "count it, by "
            "resource and its unit.\n"
            "# TYPE kube_pod_resource_request gauge\n"
            "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"web\",priority=\"7\",resource="
            "\"cpu\","
            "scheduler=\"s\",unit=\"cores\"} 1.5\n"
            "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"web\",priority=\"7\",resource="
            "\"example."
            "com/fpga\",scheduler=\"s\",unit=\"\"} 2\n"
            "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"web\",priority=\"7\",resource="
            "\"hugepages-2Mi\",scheduler=\"s\",unit=\"bytes\"} 2.097152e+06\n"
            "kube_pod_resource_request{namespace=\"default\",node=\"n1\",pod=\"web\",priority=\"7\",resource="
            "\"memory\","
            "scheduler=\"s\",unit=\"bytes\"} 1.073741824e+09\n");
}

TEST(PodResources, LimitsComeFirstAndPodsWithoutANodeCount) {
  cluster::Cluster cluster;
  auto pod = MakePod("web").Cpu("1");
  pod.pod().spec.containers[0].resources.limits["cpu"] = *api::Quantity::Parse("2");
  ASSERT_TRUE(cluster.SetPending(pod.Record()));
  const std::string text = PodResourcesText(cluster);
  EXPECT_THAT(text,
              HasSubstr("kube_pod_resource_limit{namespace=\"default\",node=\"\",pod=\"web\",priority=\"\","
                        "resource=\"cpu\",scheduler=\"\",unit=\"cores\"} 2\n"));
  EXPECT_LT(text.find("kube_pod_resource_limit"), text.find("kube_pod_resource_request"));
}

TEST(PodResources, FinishedPodsAndZerosAreLeftOut) {
  cluster::Cluster cluster;
  ASSERT_TRUE(cluster.AddPod(MakePod("done").Cpu("1").Node("n1").Phase("Succeeded").Record()));
  ASSERT_TRUE(cluster.AddPod(MakePod("idle").Cpu("0").Node("n1").Record()));
  EXPECT_EQ(PodResourcesText(cluster), "");
}

}  // namespace
}  // namespace berth::server
