#include <gtest/gtest.h>
#include <string>

#include "cluster/cluster.h"
#include "support/builders.h"

// The selector by which pods without constraints of their own are spread.
namespace berth::cluster {
namespace {

using test::MakePod;
using test::MakeSelector;

class WorkloadsTest : public testing::Test {
 protected:
  std::string Deduced(const test::PodBuilder& pod) {
    const auto slot = cluster_.SetPending(pod.Record());
    const PodFacts& facts = cluster_.pods().facts(*slot);
    return cluster_.workloads()
        .DeducedSelector(*facts.record, cluster_.classes().Get(facts.pod_class).labels)
        ->ToString();
  }
  void SetService(std::string name, api::StringMap selector) {
    api::Service service;
    service.metadata.name = std::move(name);
    service.metadata.namespace_ = "default";
    service.spec.selector = std::move(selector);
    cluster_.workloads().Set(service);
  }
  template <class Owner, class Selector>
  void SetOwner(std::string name, Selector selector) {
    Owner owner;
    owner.metadata.name = std::move(name);
    owner.metadata.namespace_ = "default";
    owner.spec.selector = std::move(selector);
    cluster_.workloads().Set(owner);
  }

  Cluster cluster_;
};

TEST_F(WorkloadsTest, MergesEveryServiceThatSelectsThePod) {
  SetService("one", {{"app", "web"}});
  SetService("two", {{"tier", "front"}});
  SetService("other", {{"app", "db"}});
  SetService("empty", {});
  EXPECT_EQ(Deduced(MakePod("p").Label("app", "web").Label("tier", "front")), "app=web,tier=front");
  EXPECT_EQ(Deduced(MakePod("q").Label("app", "cache")), "");
  EXPECT_EQ(Deduced(MakePod("r").Namespace("elsewhere").Label("app", "web")), "");
}

TEST_F(WorkloadsTest, AddsTheControllersSelector) {
  SetOwner<api::ReplicaSet>("web-1",
                            api::LabelSelector(MakeSelector().Label("hash", "1").Expression("x", "Exists")));
  SetOwner<api::StatefulSet>("db", api::LabelSelector(MakeSelector().Label("app", "db")));
  SetOwner<api::ReplicationController>("old", api::StringMap{{"rc", "old"}});
  EXPECT_EQ(Deduced(MakePod("a").Owner("apps/v1", "ReplicaSet", "web-1")), "hash=1,x");
  EXPECT_EQ(Deduced(MakePod("b").Owner("apps/v1", "StatefulSet", "db")), "app=db");
  EXPECT_EQ(Deduced(MakePod("c").Owner("v1", "ReplicationController", "old")), "rc=old");
}

TEST_F(WorkloadsTest, OwnersOfOtherVersionsKindsOrNamesAddNothing) {
  SetOwner<api::ReplicaSet>("web-1", api::LabelSelector(MakeSelector().Label("hash", "1")));
  EXPECT_EQ(Deduced(MakePod("a").Owner("apps/v1beta1", "ReplicaSet", "web-1")), "");
  EXPECT_EQ(Deduced(MakePod("b").Owner("apps/v1", "Deployment", "web-1")), "");
  EXPECT_EQ(Deduced(MakePod("c").Owner("apps/v1", "ReplicaSet", "web-2")), "");
  auto not_controller = MakePod("d").Owner("apps/v1", "ReplicaSet", "web-1");
  not_controller.pod().metadata.owner_references.front().controller = false;
  EXPECT_EQ(Deduced(not_controller), "");
}

TEST_F(WorkloadsTest, AReplicationControllersValueWinsOverAServices) {
  SetService("svc", {{"app", "web"}});
  SetOwner<api::ReplicationController>("rc", api::StringMap{{"app", "other"}});
  EXPECT_EQ(Deduced(MakePod("p").Label("app", "web").Owner("v1", "ReplicationController", "rc")),
            "app=other");
}

TEST_F(WorkloadsTest, AnUnusableSelectorAddsNothing) {
  SetOwner<api::ReplicaSet>("none", std::optional<api::LabelSelector>());
  SetOwner<api::ReplicaSet>("bad", api::LabelSelector(MakeSelector().Expression("x", "Like", {"y"})));
  EXPECT_EQ(Deduced(MakePod("a").Owner("apps/v1", "ReplicaSet", "none")), "");
  EXPECT_EQ(Deduced(MakePod("b").Owner("apps/v1", "ReplicaSet", "bad")), "");
}

TEST_F(WorkloadsTest, AnswersFollowChanges) {
  const auto pod = MakePod("p").Label("app", "web");
  EXPECT_EQ(Deduced(pod), "");
  SetService("svc", {{"app", "web"}});
  EXPECT_EQ(Deduced(pod), "app=web");
  SetService("svc", {{"app", "db"}});
  EXPECT_EQ(Deduced(pod), "");
  SetService("svc", {{"app", "web"}});
  EXPECT_EQ(Deduced(pod), "app=web");
  cluster_.workloads().Remove(WorkloadTable::Kind::kService, "default", "svc");
  EXPECT_EQ(Deduced(pod), "");
}

}  // namespace
}  // namespace berth::cluster
