#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "core/fake_api.h"

// What plugins write to claims and volumes takes its time, and other things happen meanwhile.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using test::FakeApi;
using test::Node;
using test::Pod;

api::ResourceClaim ClaimAt(const std::string& version, const std::string& name = "c") {
  api::ResourceClaim claim;
  claim.metadata.namespace_ = "default";
  claim.metadata.name = name;
  claim.metadata.uid = name + "-uid";
  claim.metadata.resource_version = version;
  api::DeviceRequest& request = claim.spec.devices.requests.emplace_back();
  request.name = "r";
  request.exactly.emplace().device_class_name = "gpu";
  request.exactly->allocation_mode = "ExactCount";
  request.exactly->count = 1;
  return claim;
}

class DeviceWrites : public testing::Test {
 protected:
  // A node with a device and a pod with a claim, on its way to the node: the claim is being written.
  void Begin() {
    api_.Create(Node("n1", "1"));
    api::DeviceClass device_class;
    device_class.metadata.name = "gpu";
    api_.See(device_class);
    api::ResourceSlice slice;
    slice.metadata.name = "s";
    slice.spec.driver = "d";
    slice.spec.pool = {.name = "p", .generation = 1, .resource_slice_count = 1};
    slice.spec.node_name = "n1";
    slice.spec.devices.emplace_back().name = "gpu-0";
    api_.See(slice);
    api_.See(ClaimAt("1"));
    api_.Create(Pod("low", 1).ResourceClaim("entry", "c"));
    api_.Settle();
    ASSERT_EQ(api_.writes().size(), 1u);
  }
  // The server does what the first write asks.
  api::ResourceClaim Done(const std::string& version) {
    const auto& write = std::get<framework::BindClaim>(api_.writes().front().write);
    api::ResourceClaim stored = *write.claim;
    stored.metadata.resource_version = version;
    if (write.allocation) stored.status.allocation = write.allocation;
    stored.status.reserved_for.push_back(write.consumer);
    AnswerFirst(std::make_shared<const api::ResourceClaim>(stored));
    return stored;
  }
  void AnswerFirst(base::Result<cluster::AnyObject> result) {
    const cycle::StartedWrite write = std::move(api_.writes().front());
    api_.writes().erase(api_.writes().begin());
    api_.Answer(write, std::move(result));
  }

  FakeApi api_;
};

// The victim keeps its place until the request that is under way for it is answered. Whoever wants the place
// used to find it taken, to choose the victim again, and so on without end.
TEST_F(DeviceWrites, AVictimThatWaitsForAnAnswerIsWaitedFor) {
  Begin();
  api_.Create(Pod("high", 10));
  for (int i = 0; i < 100; ++i) {
    api_.Step();
    api_.AnswerAll();
  }
  EXPECT_FALSE(api_.scheduler().HasWork());
  EXPECT_EQ(api_.NotesFor("Preempted").size(), 1u);
  EXPECT_EQ(api_.node_of("high"), "");
  Done("2");
  api_.Settle();
  EXPECT_EQ(api_.node_of("high"), "n1");
  EXPECT_EQ(api_.node_of("low"), "");
}

// A pod whose binding failed gives its reservation back. Tried again before the watch shows that, it used to
// rely on the reservation, and then ran without.
TEST_F(DeviceWrites, AReservationThatIsTakenBackIsMadeAgain) {
  Begin();
  const api::ResourceClaim reserved = Done("2");
  api_.Step();
  ASSERT_EQ(api_.waiting_calls().size(), 1u);  // its binding
  for (const ApiCall& call : std::exchange(api_.waiting_calls(), {})) api_.Refuse(call, "no");
  api_.Step();
  ASSERT_EQ(api_.writes().size(), 1u);
  EXPECT_TRUE(std::holds_alternative<framework::UnreserveClaim>(api_.writes().front().write));

  api_.Run(10s);
  EXPECT_EQ(api_.node_of("low"), "") << "it is not reserved for it any more";
  ASSERT_EQ(api_.writes().size(), 1u) << "one after the other";
  AnswerFirst(cluster::AnyObject());
  api_.Step();
  ASSERT_EQ(api_.writes().size(), 1u);
  ASSERT_TRUE(std::holds_alternative<framework::BindClaim>(api_.writes().front().write));
  Done("4");
  api_.Settle();
  EXPECT_EQ(api_.node_of("low"), "n1");
}

// The server never knew of the promise, so no watch says that it has ended: pods that were rejected because
// of it used to sleep.
TEST_F(DeviceWrites, DevicesThatWereOnlyPromisedAreForOthersAgain) {
  Begin();
  api_.See(ClaimAt("1", "other"));
  api_.Create(Pod("second", 1, "0").ResourceClaim("entry", "other"));
  api_.Settle();
  ASSERT_THAT(api_.MessageOf("second"), testing::HasSubstr("cannot allocate all claims"));
  api_.DeletePod("low");
  api_.Settle();
  EXPECT_EQ(api_.writes().size(), 1u) << "until it is answered the device may be the claim's";
  AnswerFirst(base::Fail("not found"));
  api_.Run(15s);
  ASSERT_EQ(api_.writes().size(), 1u);
  const auto* const write = std::get_if<framework::BindClaim>(&api_.writes().front().write);
  ASSERT_NE(write, nullptr);
  EXPECT_EQ(write->consumer.name, "second");
}

api::ResourceList Storage() {
  api::ResourceList list;
  list.insert_or_assign(std::string("storage"), *api::Quantity::Parse("1Gi"));
  return list;
}

api::PersistentVolumeClaim VolumeClaim(const std::string& name, const std::string& mode) {
  api::PersistentVolumeClaim claim;
  claim.metadata.namespace_ = "default";
  claim.metadata.name = name;
  claim.metadata.uid = name + "-uid";
  claim.metadata.resource_version = "1";
  claim.spec.access_modes = {mode};
  claim.spec.storage_class_name = "local";
  claim.spec.resources.requests = Storage();
  return claim;
}

api::PersistentVolume Volume(const std::string& mode) {
  api::PersistentVolume volume;
  volume.metadata.name = "v";
  volume.metadata.uid = "v-uid";
  volume.metadata.resource_version = "1";
  volume.spec.access_modes = {mode};
  volume.spec.storage_class_name = "local";
  volume.spec.capacity = Storage();
  volume.status.phase = "Available";
  return volume;
}

TEST(VolumeWrites, AVolumeThatWasOnlyPromisedIsForOthersAgain) {
  FakeApi api;
  api.Create(Node("n1", "1"));
  api::StorageClass storage_class;
  storage_class.metadata.name = "local";
  storage_class.provisioner = "kubernetes.io/no-provisioner";
  storage_class.volume_binding_mode = "WaitForFirstConsumer";
  api.See(storage_class);
  api.See(Volume("ReadWriteOnce"));
  api.See(VolumeClaim("a", "ReadWriteOnce"));
  api.See(VolumeClaim("b", "ReadWriteOnce"));
  api.Create(Pod("first", 1, "0").VolumeClaim("a"));
  api.Settle();
  ASSERT_EQ(api.writes().size(), 1u);
  api.Create(Pod("second", 1, "0").VolumeClaim("b"));
  api.Settle();
  ASSERT_THAT(api.MessageOf("second"), testing::HasSubstr("didn't find available persistent volumes"));
  api.DeletePod("first");
  api.Settle();
  const cycle::StartedWrite write = std::move(api.writes().front());
  api.writes().clear();
  api.Answer(write, base::Fail("conflict"));
  api.Run(15s);
  ASSERT_EQ(api.writes().size(), 1u);
  const auto* const reserve = std::get_if<framework::ReserveVolume>(&api.writes().front().write);
  ASSERT_NE(reserve, nullptr);
  EXPECT_EQ(reserve->claim->metadata.name, "b");
}

// The node's object is gone, but nobody has said that its pods have stopped.
TEST(VolumeWrites, AClaimForOnePodIsInUseWhileItsPodIsOnANodeThatIsGone) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Node("n2"));
  api::PersistentVolumeClaim claim = VolumeClaim("a", "ReadWriteOncePod");
  claim.spec.volume_name = "v";
  claim.metadata.annotations.insert_or_assign(std::string("pv.kubernetes.io/bind-completed"),
                                              std::string("yes"));
  claim.status.phase = "Bound";
  api.See(claim);
  api::PersistentVolume volume = Volume("ReadWriteOncePod");
  volume.spec.claim_ref.emplace();
  volume.spec.claim_ref->namespace_ = "default";
  volume.spec.claim_ref->name = "a";
  volume.spec.claim_ref->uid = "a-uid";
  volume.status.phase = "Bound";
  api.See(volume);
  api.Create(Pod("first").VolumeClaim("a").Node("n1"));
  api.Settle();
  api.DeleteNode("n1");
  api.Create(Pod("second").VolumeClaim("a"));
  api.Run(1min);
  EXPECT_EQ(api.node_of("second"), "");
  EXPECT_THAT(api.MessageOf("second"), testing::HasSubstr("ReadWriteOncePod access mode already in-use"));
  api.DeletePod("first");
  api.Run(15s);
  EXPECT_EQ(api.node_of("second"), "n2");
}

}  // namespace
}  // namespace berth::core
