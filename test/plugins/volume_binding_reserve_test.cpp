#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "plugins/volume_bed.h"
#include "plugins/volume_reserve_bed.h"

// What VolumeBinding promises, writes and waits for, once a node is chosen.
namespace berth::plugins::test {
namespace {

using namespace std::chrono_literals;

TEST_F(ReserveTest, Case15SmallestVolumeOfTheNode) {
  Set(Local("small-elsewhere", "n2", "1G").Label("only", "n2"));
  Set(Local("large", "n1", "10G"));
  Set(Local("middle", "n1", "5G"));
  Set(MakeClaim("c").Class("local").Request("1G"));
  framework::Assignment first = Assign(MakePod("p").VolumeClaim("c"));
  ASSERT_TRUE(reserve().Reserve(cluster_, first).IsSuccess());
  const std::string chosen = first.node_name == "n1" ? "middle" : "small-elsewhere";
  for (const char* const name : {"small-elsewhere", "large", "middle"}) {
    EXPECT_EQ(Volume(name)->spec.claim_ref.has_value(), name == chosen) << name;
  }
}

TEST_F(ReserveTest, Case16SmallClaimsGoFirst) {
  Set(Local("v5", "n1", "5G"));
  Set(Local("v10", "n1", "10G"));
  Set(MakeClaim("big").Class("local").Request("5G"));
  Set(MakeClaim("small").Class("local").Request("1G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("big").VolumeClaim("small"));
  ASSERT_TRUE(reserve().Reserve(cluster_, assignment).IsSuccess());
  EXPECT_EQ(Volume("v5")->spec.claim_ref->name, "small");
  EXPECT_EQ(Volume("v10")->spec.claim_ref->name, "big");
}

TEST_F(ReserveTest, Case16OneVolumeForTwoClaimsIsNotEnough) {
  Set(Local("v5", "n1", "5G"));
  Set(MakeClaim("big").Class("local").Request("5G"));
  Set(MakeClaim("small").Class("local").Request("1G"));
  EXPECT_EQ(Refusal(MakePod("p").VolumeClaim("big").VolumeClaim("small")),
            "0/2 nodes are available: 2 node(s) didn't find available persistent volumes to bind.");
}

TEST_F(ReserveTest, Case17And18VolumeThatIsMeantForTheClaim) {
  Set(Local("free", "n1", "50G"));
  Set(Local("meant", "n1", "100G").MeantFor("c").Phase("Pending").Modes({"ReadOnlyMany"}));
  Set(Local("stranger", "n1", "1G").MeantFor("c", "another-uid"));
  Set(Local("tiny", "n1", "1M").MeantFor("c"));
  Set(MakeClaim("c").Class("local").Request("1G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("c"));
  ASSERT_TRUE(reserve().Reserve(cluster_, assignment).IsSuccess());
  // case 42: the uid is set, and the volume stays the administrator's.
  EXPECT_EQ(Volume("meant")->spec.claim_ref->uid, "uid-c");
  EXPECT_FALSE(Volume("meant")->metadata.annotations.contains("pv.kubernetes.io/bound-by-controller"));
  EXPECT_FALSE(Volume("free")->spec.claim_ref);
}

TEST_F(ReserveTest, Case19MeantVolumeElsewhereIsPassedOverByAProvisioner) {
  Set(MakeVolume("meant").Class("made").Capacity("1G").Affinity(kHost, {"n2"}).MeantFor("c"));
  Set(MakeVolume("free").Class("made").Capacity("1G").Affinity(kHost, {"n1"}));
  Set(MakeClaim("c").Class("made").Request("1G"));
  cluster_.SetNode(MakeNode("n2").Unschedulable().Ref());  // without the label
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("c"));
  ASSERT_TRUE(reserve().Reserve(cluster_, assignment).IsSuccess());
  EXPECT_EQ(*Claim("c")->metadata.annotations.find("volume.kubernetes.io/selected-node"),
            assignment.node_name);
  EXPECT_FALSE(Volume("free")->spec.claim_ref);
}

TEST_F(ReserveTest, Case19MeantVolumeElsewhereIsTheOnlyOneWithoutAProvisioner) {
  Set(Local("meant", "n2", "1G").MeantFor("c"));
  Set(Local("free", "n1", "1G"));
  Set(MakeClaim("c").Class("local").Request("1G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("c"));
  EXPECT_EQ(assignment.node_name, "n2");
}

TEST_F(ReserveTest, Case32SecondPodOfAClaimFollowsTheFirst) {
  Set(MakeClaim("c").Class("made").Request("1G"));
  framework::Assignment first = Assign(MakePod("p").VolumeClaim("c"));
  ASSERT_TRUE(reserve().Reserve(cluster_, first).IsSuccess());
  for (int i = 0; i < 4; ++i) {
    const framework::Assignment next = Assign(MakePod("q" + std::to_string(i)).VolumeClaim("c"));
    EXPECT_EQ(next.node_name, first.node_name);
  }
}

TEST_F(ReserveTest, Case42PromiseIsSeenByOthersAndTakenBack) {
  Set(Local("v", "n1", "1G"));
  Set(MakeClaim("c").Class("local").Request("1G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("c"));
  ASSERT_TRUE(reserve().Reserve(cluster_, assignment).IsSuccess());
  EXPECT_EQ(Volume("v")->spec.claim_ref->uid, "uid-c");
  EXPECT_EQ(*Volume("v")->metadata.annotations.find("pv.kubernetes.io/bound-by-controller"), "yes");
  reserve().Unreserve(cluster_, assignment);
  EXPECT_FALSE(Volume("v")->spec.claim_ref);
  reserve().Unreserve(cluster_, assignment);
  EXPECT_FALSE(Volume("v")->spec.claim_ref);
}

TEST_F(ReserveTest, Case42VolumeThatSaysSoAlreadyIsStillWritten) {
  Set(Local("v", "n1", "1G").MeantFor("c", "uid-c"));
  Set(MakeClaim("c").Class("local").Request("1G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("c"));
  ASSERT_TRUE(reserve().Reserve(cluster_, assignment).IsSuccess());
  EXPECT_EQ(caches().volumes().assumed_count(), 0u);
  StartPreBind(assignment);
  EXPECT_EQ(server_.volumes.size(), 1u);
}

TEST_F(ReserveTest, Case43FailureLeavesNoPromiseBehind) {
  Set(Local("v1", "n1", "1G"));
  Set(MakeClaim("a").Class("local").Request("1G"));
  Set(MakeClaim("b").Class("made").Request("1G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("a").VolumeClaim("b"));
  ASSERT_EQ(assignment.node_name, "n1");
  Set(MakeClaim("b").Class("made").Request("1G").Version("2"));
  EXPECT_EQ(reserve().Reserve(cluster_, assignment).Message(),
            "\"default/b\" is out of sync (stored: 2, assume: 1)");
  EXPECT_FALSE(Volume("v1")->spec.claim_ref);
}

TEST_F(ReserveTest, Case43VolumeThatIsGoneLeavesNoPromiseBehind) {
  Set(Local("v1", "n1", "1G"));
  Set(Local("v2", "n1", "2G"));
  Set(MakeClaim("a").Class("local").Request("1G"));
  Set(MakeClaim("b").Class("local").Request("2G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("a").VolumeClaim("b"));
  cluster_.objects().Of<api::PersistentVolume>().Remove({}, "v2");
  EXPECT_EQ(reserve().Reserve(cluster_, assignment).code(), framework::Code::kError);
  EXPECT_FALSE(Volume("v1")->spec.claim_ref);
  EXPECT_EQ(caches().volumes().assumed_count(), 0u);
  EXPECT_EQ(Errors("assume"), 1);
}

TEST_F(ReserveTest, Case1And44NothingToDo) {
  framework::Assignment plain = Assign(MakePod("plain"));
  EXPECT_TRUE(reserve().Reserve(cluster_, plain).IsSuccess());
  EXPECT_TRUE(pre_bind().PreBindPreFlight(cluster_, plain).status.IsSkip());
  Set(Local("v", "n1", "1G"));
  Set(MakeClaim("c").Class("local").Request("1G"));
  framework::Assignment late = Assign(MakePod("late").VolumeClaim("c"));
  Set(MakeClaim("c").Class("local").Request("1G").BoundTo("v").Version("2"));
  EXPECT_TRUE(reserve().Reserve(cluster_, late).IsSuccess());
  EXPECT_TRUE(pre_bind().PreBindPreFlight(cluster_, late).status.IsSkip());
  StartPreBind(late);
  EXPECT_TRUE(status_.IsSuccess());
  EXPECT_EQ(server_.attempts, 0);
}

TEST_F(ReserveTest, Case45PreFlight) {
  Set(MakeClaim("c").Class("made").Request("1G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("c"));
  ASSERT_TRUE(reserve().Reserve(cluster_, assignment).IsSuccess());
  framework::PreFlightResult result = pre_bind().PreBindPreFlight(cluster_, assignment);
  EXPECT_TRUE(result.status.IsSuccess() && result.allow_parallel);
  assignment.node_name = "node-a";
  result = pre_bind().PreBindPreFlight(cluster_, assignment);
  EXPECT_EQ(result.status.Message(), "no pod volume found for node \"node-a\"");
  EXPECT_TRUE(result.allow_parallel);
  assignment.data.clear();
  assignment.data.resize(1);
  result = pre_bind().PreBindPreFlight(cluster_, assignment);
  EXPECT_EQ(result.status.Message(), "not found");
  EXPECT_TRUE(result.allow_parallel);
}

TEST_F(ReserveTest, Case46ConflictOfTheSecondWrite) {
  Set(Local("v1", "n1", "1G"));
  Set(Local("v2", "n1", "2G"));
  Set(MakeClaim("a").Class("local").Request("1G"));
  Set(MakeClaim("b").Class("local").Request("2G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("a").VolumeClaim("b"));
  ASSERT_TRUE(reserve().Reserve(cluster_, assignment).IsSuccess());
  server_.fail_at = 2;
  StartPreBind(assignment);
  EXPECT_EQ(status_.Message(), "the object has been modified");
  EXPECT_TRUE(Volume("v1")->spec.claim_ref);
  EXPECT_FALSE(Volume("v2")->spec.claim_ref);
}

// A claim for which a volume is being made on n1 or n2.
class ProvisionTest : public ReserveTest {
 protected:
  explicit ProvisionTest(std::int64_t timeout_seconds = 600) : ReserveTest(timeout_seconds) {}

  void Start() {
    Set(MakeClaim("c").Class("made").Request("1G"));
    assignment_ = Assign(MakePod("p").VolumeClaim("c"));
    ASSERT_TRUE(reserve().Reserve(cluster_, assignment_).IsSuccess());
    StartPreBind(assignment_);
  }
  ClaimBuilder Seen() {
    return MakeClaim("c").Class("made").Request("1G").SelectedNode(assignment_.node_name).Version("11");
  }
  void Tell(const ClaimBuilder& claim) {
    Set(claim);
    executor_.RunReady();
  }

  framework::Assignment assignment_;
};

TEST_F(ProvisionTest, Case47BoundAfterAWhile) {
  Start();
  Advance(5s);
  ASSERT_TRUE(IsWaiting());
  Tell(Seen());
  ASSERT_TRUE(IsWaiting());
  // case 49: the volume is not known yet.
  Tell(Seen().BoundTo("new").Version("12"));
  ASSERT_TRUE(IsWaiting());
  Set(MakeVolume("new").Class("made").Affinity(kHost, {assignment_.node_name}));
  executor_.RunReady();
  EXPECT_TRUE(status_.IsSuccess()) << status_.Message();
}

TEST_F(ProvisionTest, Case47NeverBound) {
  Start();
  Advance(599s);
  ASSERT_TRUE(IsWaiting());
  Advance(1s);
  EXPECT_EQ(status_.Message(), "binding volumes: context deadline exceeded");
  EXPECT_EQ(Errors("bind"), 1);
}

class NoPatienceTest : public ProvisionTest {
 protected:
  NoPatienceTest() : ProvisionTest(0) {}
};
TEST_F(NoPatienceTest, Case47WritesAndFails) {
  Start();
  EXPECT_EQ(server_.claims.size(), 1u);
  EXPECT_EQ(status_.Message(), "binding volumes: context deadline exceeded");
}

TEST_F(ProvisionTest, Case48PodIsGone) {
  Start();
  ASSERT_TRUE(cluster_.RemoveAssumed(assignment_.record->uid, assignment_.node_name).has_value());
  executor_.RunReady();
  EXPECT_EQ(status_.Message(), "binding volumes: pod does not exist any more: pod \"p\" not found");
}

TEST_F(ProvisionTest, Case48ClaimIsGone) {
  Start();
  cluster_.objects().Of<api::PersistentVolumeClaim>().Remove("default", "c");
  executor_.RunReady();
  EXPECT_EQ(
      status_.Message(),
      "binding volumes: failed to check provisioning pvc: persistentvolumeclaims \"default/c\" not found");
}

TEST_F(ProvisionTest, Case48NodeIsGone) {
  Start();
  const std::string node = assignment_.node_name;
  ASSERT_TRUE(cluster_.RemoveNode(MakeNode(node).Build()).has_value());
  executor_.RunReady();
  EXPECT_EQ(status_.Message(),
            "binding volumes: failed to get node \"" + node + "\": node \"" + node + "\" not found");
}

TEST_F(ProvisionTest, Case48ProvisionerGivesUp) {
  Start();
  Tell(Seen().SelectedNode("elsewhere"));
  EXPECT_EQ(status_.Message(), "binding volumes: provisioning failed for PVC \"c\"");
}

TEST_F(ProvisionTest, Case50AnnotationsAreGone) {
  Start();
  Tell(MakeClaim("c").Class("made").Request("1G").Version("11"));
  EXPECT_EQ(status_.Message(), "binding volumes: selectedNode annotation reset for PVC \"c\"");
}

TEST_F(ProvisionTest, Case48VolumeForAnotherNode) {
  Start();
  Set(MakeVolume("new").Class("made").Affinity(kHost, {"elsewhere"}));
  Tell(Seen().BoundTo("new"));
  EXPECT_EQ(status_.Message(), "binding volumes: pv \"new\" node affinity doesn't match node \"" +
                                   assignment_.node_name + "\": no matching NodeSelectorTerms");
}

TEST_F(ProvisionTest, Case49OlderCopiesDoNotCount) {
  Start();
  Tell(MakeClaim("c").Class("made").Request("1G").Version("9"));
  EXPECT_TRUE(IsWaiting());
}

TEST_F(ReserveTest, Case48ClaimRefIsCleared) {
  Set(Local("v", "n1", "1G"));
  Set(MakeClaim("c").Class("local").Request("1G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("c"));
  ASSERT_TRUE(reserve().Reserve(cluster_, assignment).IsSuccess());
  StartPreBind(assignment);
  ASSERT_TRUE(IsWaiting());
  Set(Local("v", "n1", "1G").Version("11"));
  executor_.RunReady();
  EXPECT_EQ(status_.Message(), "binding volumes: ClaimRef got reset for pv \"v\"");
}

TEST_F(ReserveTest, StaticVolumeIsBoundAtOnceWhenTheControllersAgree) {
  Set(Local("v", "n1", "1G"));
  Set(MakeClaim("c").Class("local").Request("1G"));
  framework::Assignment assignment = Assign(MakePod("p").VolumeClaim("c"));
  ASSERT_TRUE(reserve().Reserve(cluster_, assignment).IsSuccess());
  StartPreBind(assignment);
  Set(Local("v", "n1", "1G").MeantFor("c", "uid-c").Version("10"));
  executor_.RunReady();
  ASSERT_TRUE(IsWaiting());
  Set(MakeClaim("c").Class("local").Request("1G").BoundTo("v").Version("11"));
  executor_.RunReady();
  EXPECT_TRUE(status_.IsSuccess()) << status_.Message();
  for (const char* const stage : {"predicate", "assume", "bind"}) EXPECT_EQ(Errors(stage), 0) << stage;
}

// Case 22: the error counts, a refusal does not.
TEST_F(ReserveTest, Case22ErrorsOfStagesAreCounted) {
  ClaimBuilder claim = MakeClaim("c").Class("local");
  claim.claim().spec.selector.emplace().match_expressions.push_back({"k", "Foo", {}});
  Set(claim);
  Set(MakeClaim("d").Class("local").Request("1G"));
  Refusal(MakePod("q").VolumeClaim("d"));
  EXPECT_EQ(Errors("predicate"), 0);
  EXPECT_NE(Refusal(MakePod("p").VolumeClaim("c")), "");
  EXPECT_EQ(Errors("predicate"), 1);
}

TEST(AssumeCacheTest, Case40AssumeNeedsTheVersionThatIsThere) {
  cluster::ObjectTable<api::PersistentVolume> table;
  AssumeCache<api::PersistentVolume> cache(table, "persistentvolumes", [](const auto&) {});
  const auto make = [](const char* version) {
    return std::make_shared<const api::PersistentVolume>(MakeVolume("pv").Version(version));
  };
  const auto error = [](const base::Result<void>& result) {
    return result ? std::string() : result.error().message;
  };
  EXPECT_EQ(error(cache.Assume(make("5"))), "persistentvolumes \"pv\" not found");
  const VolumeRef stored = make("5");
  table.Set(stored);
  for (const char* const version : {"6", "4", "x"}) {
    EXPECT_EQ(error(cache.Assume(make(version))),
              std::string("\"pv\" is out of sync (stored: 5, assume: ") + version + ")");
    EXPECT_EQ(cache.Get({}, "pv"), stored);
  }
  const VolumeRef assumed = make("5");
  EXPECT_EQ(error(cache.Assume(assumed)), "");
  EXPECT_EQ(cache.Get({}, "pv"), assumed);
}

TEST(AssumeCacheTest, Case41NewsFromTheServerWin) {
  cluster::ObjectTable<api::PersistentVolume> table;
  AssumeCache<api::PersistentVolume> cache(table, "persistentvolumes", [](const auto&) {});
  const auto make = [](const char* version) {
    return std::make_shared<const api::PersistentVolume>(MakeVolume("pv").Version(version));
  };
  table.Set(make("5"));
  const VolumeRef old = make("5");
  ASSERT_TRUE(cache.Assume(old).has_value());
  table.Set(make("5"));  // a resync
  EXPECT_EQ(cache.Get({}, "pv"), old);
  const VolumeRef seen = make("7");
  table.Set(seen);
  EXPECT_EQ(cache.Get({}, "pv"), seen);
  const VolumeRef again = make("7");
  ASSERT_TRUE(cache.Assume(again).has_value());
  cache.Restore(*old);
  EXPECT_EQ(cache.Get({}, "pv"), again);
  table.Remove({}, "pv");
  EXPECT_EQ(cache.Get({}, "pv"), nullptr);
  table.Set(make("7"));
  EXPECT_NE(cache.Get({}, "pv"), again);
}

}  // namespace
}  // namespace berth::plugins::test
