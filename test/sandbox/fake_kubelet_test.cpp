#include "sandbox/fake_kubelet.h"

#include <gtest/gtest.h>

#include "sandbox/api_harness.h"
#include "sandbox/namespace_sweeper.h"

namespace berth::sandbox::test {
namespace {

class Kubelet : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(AddNodes(api_.plane().writer(), 2).has_value());
    api_.Advance(std::chrono::milliseconds(1));
  }
  void CreateAndBind(std::string_view name, std::string_view metadata = "") {
    const std::string pod =
        R"({"metadata":{"name":")" + std::string(name) + "\"" + std::string(metadata) +
        R"(},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i:1"}]}})";
    ASSERT_EQ(api_.Post(kPods, pod).code, 201);
    ASSERT_EQ(api_.Post(PodPath(name) + "/binding", BindingJson(name, "node-1")).code, 201);
  }
  std::string Phase(std::string_view name) { return api_.Get(PodPath(name)).text({"status", "phase"}); }

  ApiHarness api_;
  FakeKubelet kubelet_{api_.plane()};
};

TEST_F(Kubelet, BoundPodRunsAndIsReady) {
  CreateAndBind("p");
  EXPECT_EQ(Phase("p"), "Pending");
  api_.Advance(std::chrono::seconds(1));
  const json::object pod = api_.Get(PodPath("p")).document();
  EXPECT_EQ(TextAt(pod, {"status", "phase"}), "Running");
  EXPECT_NE(TextAt(pod, {"status", "podIP"}), "");
  EXPECT_TRUE(FlagAt(FindArray(pod, {"status", "containerStatuses"})->at(0).as_object(), {"ready"}));
}

TEST_F(Kubelet, UnboundPodStaysPending) {
  ASSERT_EQ(api_.Post(kPods, PodJson("p")).code, 201);
  api_.Advance(std::chrono::minutes(1));
  EXPECT_EQ(Phase("p"), "Pending");
}

TEST_F(Kubelet, TerminatingPodIsGoneBeforeItsGraceIsOver) {
  CreateAndBind("p");
  api_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(api_.Delete(PodPath("p")).code, 200);
  EXPECT_EQ(api_.Get(PodPath("p")).code, 200);
  api_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(api_.Get(PodPath("p")).code, 404);
}

TEST_F(Kubelet, PodWithARunTimeSucceeds) {
  CreateAndBind("p", R"(,"annotations":{"berth.dev/run-seconds":"5"})");
  api_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(Phase("p"), "Running");
  api_.Advance(std::chrono::seconds(5));
  EXPECT_EQ(Phase("p"), "Succeeded");
}

TEST_F(Kubelet, LeasesAreRenewed) {
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/node-1";
  api_.Advance(std::chrono::seconds(10));
  const std::string first = api_.Get(lease).text({"spec", "renewTime"});
  EXPECT_NE(first, "");
  api_.Advance(std::chrono::seconds(10));
  EXPECT_NE(api_.Get(lease).text({"spec", "renewTime"}), first);
}

TEST_F(Kubelet, NodeFromAManifestBecomesReady) {
  ASSERT_TRUE(
      api_.plane()
          .Load("apiVersion: v1\nkind: Node\nmetadata: {name: big}\nstatus: {capacity: {cpu: '64'}}\n")
          .has_value());
  api_.Advance(std::chrono::seconds(10));
  const json::object node = api_.Get("/api/v1/nodes/big").document();
  EXPECT_EQ(TextAt(node, {"status", "allocatable", "cpu"}), "64");
  const json::array* conditions = FindArray(node, {"status", "conditions"});
  ASSERT_NE(conditions, nullptr);
  EXPECT_EQ(TextAt(conditions->back().get_object(), {"reason"}), "KubeletReady");
}

TEST_F(Kubelet, NamesakeOfARemovedPodStartsAnew) {
  CreateAndBind("p");
  ASSERT_EQ(api_.Delete(PodPath("p"), R"({"gracePeriodSeconds":0})").code, 200);
  ASSERT_EQ(api_.Post(kPods, PodJson("p")).code, 201);
  api_.Advance(std::chrono::seconds(2));
  EXPECT_EQ(Phase("p"), "Pending");
}

TEST_F(Kubelet, NamespaceGoesOnceItsLastPodHasEnded) {
  const NamespaceSweeper sweeper(api_.plane());
  ASSERT_EQ(api_.Post("/api/v1/namespaces", R"({"metadata":{"name":"x"}})").code, 201);
  ASSERT_EQ(api_.Post("/api/v1/namespaces/x/pods", PodJson("p")).code, 201);
  ASSERT_EQ(api_.Post("/api/v1/namespaces/x/pods/p/binding", BindingJson("p", "node-1")).code, 201);
  api_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(api_.Delete("/api/v1/namespaces/x").code, 200);
  EXPECT_EQ(api_.Get("/api/v1/namespaces/x").text({"status", "phase"}), "Terminating");
  const Reply late = api_.Post("/api/v1/namespaces/x/pods", PodJson("q"));
  EXPECT_EQ(late.code, 403);
  for (int i = 0; i < 4; ++i) api_.Advance(std::chrono::seconds(1));
  EXPECT_EQ(api_.Get("/api/v1/namespaces/x").code, 404);
  EXPECT_EQ(api_.Delete("/api/v1/namespaces/default").code, 403);
}

}  // namespace
}  // namespace berth::sandbox::test
