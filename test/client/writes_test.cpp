#include "api/writes.h"

#include <string>

#include "client/claim_writer.h"
#include "client/harness.h"
#include "client/pod_writer.h"
#include "client/volume_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::client {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class WritesTest : public ClientTest {
 protected:
  PodWriter& pods_ = Make<PodWriter>(client_, base::Random(1));
  ClaimWriter& claims_ = Make<ClaimWriter>(client_, base::Random(2));
  VolumeWriter& volumes_ = Make<VolumeWriter>(client_);
  const PodName pod_{"ns", "p", "u"};
};

TEST_F(WritesTest, BindSendsTheUidAsPrecondition) {
  AddReply(Json(201, R"({"kind":"Status","status":"Success"})"));
  const auto bound = Start(pods_.Bind(pod_, "node-1"));
  ASSERT_TRUE(bound->has_value() && (*bound)->has_value());
  EXPECT_EQ(last_seen().method + " " + last_seen().target, "POST /api/v1/namespaces/ns/pods/p/binding");
  EXPECT_EQ(*last_seen().headers.Find("Content-Type"), "application/vnd.kubernetes.protobuf");
  const auto envelope = wire::ParseEnvelope(last_seen().body);
  ASSERT_TRUE(envelope.has_value());
  EXPECT_EQ(envelope->kind, "Binding");
  const auto binding = wire::DecodeProtobuf<api::Binding>(envelope->raw);
  EXPECT_EQ(binding->metadata.uid, "u");
  EXPECT_EQ(binding->metadata.resource_version, "");
  EXPECT_EQ(binding->target.kind + " " + binding->target.name, "Node node-1");
}

// Case 32.
TEST_F(WritesTest, Case32StatusPatchGetsOverTwoConflicts) {
  AddReply(Failure(409, "Conflict"));
  AddReply(Failure(409, "Conflict"));
  AddReply(Json(200, "{}"));
  const auto patched = Start(pods_.PatchStatus(pod_, "{}"));
  Advance(59ms);
  EXPECT_FALSE(patched->has_value());
  Advance(7ms);
  ASSERT_TRUE(patched->has_value());
  EXPECT_TRUE((*patched)->has_value());
  EXPECT_EQ(last_seen().target, "/api/v1/namespaces/ns/pods/p/status");
  EXPECT_EQ(*last_seen().headers.Find("Content-Type"), "application/strategic-merge-patch+json");
}

TEST_F(WritesTest, Case32FourConflictsAreAnError) {
  for (int i = 0; i < 5; ++i) AddReply(Failure(409, "Conflict"));
  const auto patched = Start(pods_.PatchStatus(pod_, "{}"));
  Advance(1s);
  ASSERT_TRUE(patched->has_value());
  EXPECT_TRUE(IsConflict((*patched)->error()));
  EXPECT_EQ(server_.seen.size(), 4U);
}

TEST_F(WritesTest, Case32BindIsNotRepeatedAfterAConflictButAfterTrouble) {
  AddReply(Failure(409, "Conflict", "pod p is already assigned to node"));
  auto bound = Start(pods_.Bind(pod_, "n"));
  ASSERT_TRUE(bound->has_value());
  EXPECT_TRUE(IsConflict((*bound)->error()));
  EXPECT_EQ(server_.seen.size(), 1U);

  for (int i = 0; i < 4; ++i) AddReply(Failure(503, "ServiceUnavailable"));
  bound = Start(pods_.Bind(pod_, "n"));
  Advance(1s);
  ASSERT_TRUE(bound->has_value());
  EXPECT_TRUE(IsServiceUnavailable((*bound)->error()));
  EXPECT_EQ(server_.seen.size(), 5U);

  AddReply(Failure(500, "InternalError"));
  AddReply(Json(201, "{}"));
  bound = Start(pods_.Bind(pod_, "n"));
  Advance(1s);
  EXPECT_TRUE(bound->has_value() && (*bound)->has_value());
}

// A binding whose reply is lost: what the pod itself says decides.
class LostReplyTest : public WritesTest {
 protected:
  // The pod as the server has it when it is asked.
  static Reply PodReply(const std::string& node, const std::string& uid = "u") {
    return Json(200, R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"ns","name":"p","uid":")" +
                         uid + R"("},"spec":{"nodeName":")" + node + R"(","containers":[]}})");
  }
  ApiResult<void> Bind() {
    const auto bound = Start(pods_.Bind(pod_, "n"));
    Advance(1min);
    EXPECT_TRUE(bound->has_value()) << "it never ended";
    return bound->value_or(std::unexpected(ApiError{.message = "it never ended"}));
  }
  std::string Asked() const {
    std::string methods;
    for (const SeenRequest& request : server_.seen) methods += request.method + " ";
    return methods;
  }
};

TEST_F(LostReplyTest, APodThatIsOnItsNodeWasBound) {
  for (const auto kind : {net::ErrorKind::kReset, net::ErrorKind::kTimeout, net::ErrorKind::kProtocol}) {
    server_.seen.clear();
    AddReply(Broken(kind));
    AddReply(PodReply("n"));
    EXPECT_TRUE(Bind().has_value());
    EXPECT_EQ(Asked(), "POST GET ");
    EXPECT_EQ(last_seen().target, "/api/v1/namespaces/ns/pods/p") << "no version: what is stored, not cached";
  }
}

TEST_F(LostReplyTest, TheServersOwnTimeOutLeavesItOpenToo) {
  AddReply(Failure(504, "Timeout", "request did not complete within requested timeout"));
  AddReply(PodReply("n"));
  EXPECT_TRUE(Bind().has_value());
  EXPECT_EQ(Asked(), "POST GET ");
}

TEST_F(LostReplyTest, APodThatIsElsewhereWasNot) {
  AddReply(Broken(net::ErrorKind::kReset));
  AddReply(PodReply("other"));
  EXPECT_EQ(Bind().error().message, "pod p is already assigned to node \"other\"");
  EXPECT_EQ(Asked(), "POST GET ");
}

TEST_F(LostReplyTest, APodThatIsGoneWasNot) {
  AddReply(Broken(net::ErrorKind::kReset));
  AddReply(Failure(404, "NotFound", "pods \\\"p\\\" not found"));
  EXPECT_TRUE(IsNotFound(Bind().error()));
  AddReply(Broken(net::ErrorKind::kReset));
  AddReply(PodReply("n", "another"));
  EXPECT_EQ(Bind().error().message, "pod ns/p was replaced by another one");
}

TEST_F(LostReplyTest, APodThatWaitsIsBoundAgain) {
  AddReply(Broken(net::ErrorKind::kTimeout));
  AddReply(PodReply(""));
  AddReply(Json(201, "{}"));
  EXPECT_TRUE(Bind().has_value());
  EXPECT_EQ(Asked(), "POST GET POST ");
}

// The first request was slow, not lost: it is stored between the look and the second try.
TEST_F(LostReplyTest, AConflictWithOnesOwnEarlierTryIsASuccess) {
  AddReply(Broken(net::ErrorKind::kTimeout));
  AddReply(PodReply(""));
  AddReply(Failure(409, "Conflict", "pod p is already assigned to node"));
  AddReply(PodReply("n"));
  EXPECT_TRUE(Bind().has_value());
  EXPECT_EQ(Asked(), "POST GET POST GET ");

  AddReply(Failure(500, "InternalError"));
  AddReply(Failure(409, "Conflict", "pod p is already assigned to node"));
  AddReply(PodReply("n"));
  EXPECT_TRUE(Bind().has_value()) << "an internal error may come after the binding was stored";

  AddReply(Failure(500, "InternalError"));
  AddReply(Failure(409, "Conflict", "pod p is being deleted"));
  AddReply(PodReply(""));
  EXPECT_EQ(Bind().error().message, "pod p is being deleted");
}

TEST_F(LostReplyTest, AfterFourTriesTheErrorStands) {
  server_.fallback = [](const SeenRequest& request) -> std::optional<Answer> {
    return request.method == "GET" ? PodReply("") : Broken(net::ErrorKind::kReset);
  };
  EXPECT_TRUE(IsConnectionLost(Bind().error()));
  EXPECT_EQ(Asked(), "POST GET POST GET POST GET POST GET ");
}

TEST_F(LostReplyTest, AServerThatDoesNotSayEitherLeavesTheError) {
  AddReply(Broken(net::ErrorKind::kReset));
  AddReply(Failure(403, "Forbidden"));
  EXPECT_TRUE(IsConnectionLost(Bind().error()));
  AddReply(Broken(net::ErrorKind::kReset));
  AddReply(Json(200, "no pod"));
  EXPECT_TRUE(IsConnectionLost(Bind().error()));
}

TEST_F(LostReplyTest, WhatWasNeverSentIsNotAskedAfter) {
  AddReply(Broken(net::ErrorKind::kDns));
  EXPECT_FALSE(Bind().has_value());
  EXPECT_EQ(Asked(), "POST ");
}

TEST_F(WritesTest, AnEmptyPatchIsNoRequest) {
  const auto patched = Start(pods_.PatchStatus(pod_, ""));
  EXPECT_TRUE(patched->has_value() && (*patched)->has_value());
  EXPECT_TRUE(server_.seen.empty());
}

// Case 34.
TEST_F(WritesTest, Case34AVictimThatIsGoneIsASuccess) {
  AddReply(Failure(404, "NotFound"));
  auto done = Start(pods_.Preempt(pod_, "{}"));
  ASSERT_TRUE(done->has_value() && (*done)->has_value());
  EXPECT_FALSE(***done) << "nobody was evicted";
  EXPECT_EQ(server_.seen.size(), 1U);
  EXPECT_EQ(last_seen().method, "PATCH");

  AddReply(Json(200, "{}"));
  AddReply(Failure(404, "NotFound"));
  done = Start(pods_.Preempt(pod_, "{}"));
  ASSERT_TRUE(done->has_value() && (*done)->has_value());
  EXPECT_FALSE(***done);
  EXPECT_EQ(last_seen().method + " " + last_seen().target, "DELETE /api/v1/namespaces/ns/pods/p");

  AddReply(Json(200, "{}"));
  AddReply(Json(200, "{}"));
  done = Start(pods_.Preempt(pod_, "{}"));
  ASSERT_TRUE(done->has_value() && (*done)->has_value());
  EXPECT_TRUE(***done);

  AddReply(Json(200, "{}"));
  AddReply(Failure(403, "Forbidden"));
  done = Start(pods_.Preempt(pod_, "{}"));
  ASSERT_TRUE(done->has_value());
  EXPECT_TRUE(IsForbidden((*done)->error()));
}

api::ResourceClaim Claim() {
  api::ResourceClaim claim;
  claim.metadata.namespace_ = "ns";
  claim.metadata.name = "c";
  claim.metadata.uid = "cu";
  claim.metadata.resource_version = "5";
  claim.metadata.finalizers = {"resource.kubernetes.io/delete-protection"};
  return claim;
}
Reply ClaimReply(const api::ResourceClaim& claim) { return Json(200, wire::EncodeJson(claim)); }

api::ResourceClaimConsumerReference Consumer() {
  return {.api_group = "", .resource = "pods", .name = "p", .uid = "u"};
}

// Case 35.
TEST_F(WritesTest, Case35ClaimConflictIsReadAgainAndWrittenAgain) {
  api::ResourceClaim newer = Claim();
  newer.metadata.resource_version = "6";
  AddReply(Failure(409, "Conflict"));
  AddReply(ClaimReply(newer));
  AddReply(ClaimReply(newer));
  const auto bound = Start(claims_.Bind(Claim(), api::AllocationResult(), Consumer()));
  Advance(20ms);
  ASSERT_TRUE(bound->has_value());
  EXPECT_TRUE((*bound)->has_value());
  ASSERT_EQ(server_.seen.size(), 3U);
  EXPECT_EQ(server_.seen[1].method, "GET");
  EXPECT_EQ(last_seen().target, "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c/status");
  EXPECT_THAT(last_seen().body, HasSubstr(R"("resourceVersion":"6")"));
  EXPECT_THAT(last_seen().body, HasSubstr(R"("uid":"cu")"));
  EXPECT_THAT(last_seen().body, HasSubstr(R"("reservedFor":[{"resource":"pods","name":"p","uid":"u"}])"));
}

// Case 19 of the chapter about devices, too.
TEST_F(WritesTest, Case35ClaimThatWasAllocatedElsewhereIsAnError) {
  api::ResourceClaim newer = Claim();
  newer.status.allocation.emplace();
  AddReply(Failure(409, "Conflict"));
  AddReply(ClaimReply(newer));
  const auto bound = Start(claims_.Bind(Claim(), api::AllocationResult(), Consumer()));
  Advance(20ms);
  ASSERT_TRUE(bound->has_value());
  EXPECT_EQ((*bound)->error().message, "claim ns/c got allocated elsewhere in the meantime");
}

TEST_F(WritesTest, Case35FiveConflictsAreAnError) {
  server_.fallback = [](const SeenRequest& request) -> std::optional<Answer> {
    return request.method == "GET" ? ClaimReply(Claim()) : Failure(409, "Conflict");
  };
  const auto bound = Start(claims_.Bind(Claim(), api::AllocationResult(), Consumer()));
  Advance(1s);
  ASSERT_TRUE(bound->has_value());
  EXPECT_TRUE(IsConflict((*bound)->error()));
  EXPECT_EQ(server_.seen.size(), 9U);
}

api::AllocationResult Allocation(const std::string& device) {
  api::AllocationResult allocation;
  api::DeviceRequestAllocationResult& result = allocation.devices.results.emplace_back();
  result.request = "r";
  result.driver = "d";
  result.pool = "p";
  result.device = device;
  return allocation;
}

api::ResourceClaim Reserved(const std::string& device) {
  api::ResourceClaim claim = Claim();
  claim.metadata.resource_version = "6";
  claim.status.allocation = Allocation(device);
  claim.status.reserved_for.push_back(Consumer());
  return claim;
}

TEST_F(WritesTest, AReservationNamesAllThatItWritesAndWhatItIsFor) {
  api::ResourceClaim claim = Claim();
  api::ResourceClaimConsumerReference& other = claim.status.reserved_for.emplace_back(Consumer());
  other.name = "o<p>\"";
  other.uid = "o";
  api::AllocationResult allocation = Allocation("a");
  api::DeviceAllocationConfiguration& config = allocation.devices.config.emplace_back();
  config.source = "FromClaim";
  config.device_configuration.opaque = {.driver = "d", .parameters = {R"({"b":[1,1.5,"x"],"a":null})"}};
  AddReply(ClaimReply(claim));
  Start(claims_.Bind(claim, allocation, Consumer()));
  EXPECT_EQ(
      last_seen().body,
      R"({"status":{"allocation":{"devices":{"results":[{"request":"r","driver":"d","pool":"p","device":"a"}],)"
      R"("config":[{"source":"FromClaim","opaque":{"driver":"d","parameters":{"b":[1,1.5,"x"],"a":null}}}]}},)"
      R"("reservedFor":[{"resource":"pods","name":"o\u003cp\u003e\"","uid":"o"},{"resource":"pods","name":"p","uid":"u"}]},)"
      R"("metadata":{"uid":"cu","resourceVersion":"5"}})");
  claim.status.allocation = allocation;
  AddReply(ClaimReply(claim));
  Start(claims_.Deallocate(claim));
  EXPECT_EQ(last_seen().body, R"({"status":{"allocation":null,"reservedFor":null,"devices":null},)"
                              R"("metadata":{"uid":"cu","resourceVersion":"5"}})");
}

// The devices of such a claim would be given to another one, if nobody asked what became of the write.
TEST_F(WritesTest, AReservationWhoseAnswerIsLostIsAskedFor) {
  AddReply(Broken(net::ErrorKind::kTimeout));
  AddReply(Broken(net::ErrorKind::kTimeout));
  AddReply(Failure(503, "ServiceUnavailable"));
  AddReply(ClaimReply(Reserved("a")));
  const auto bound = Start(claims_.Bind(Claim(), Allocation("a"), Consumer()));
  Advance(10s);
  ASSERT_TRUE(bound->has_value());
  ASSERT_TRUE((*bound)->has_value());
  EXPECT_EQ((**bound)->metadata.resource_version, "6");
  EXPECT_EQ(server_.seen.size(), 4U) << "one write and three questions";
}

TEST_F(WritesTest, AReservationThatWasNotDoneIsMadeAgainIfItsAnswerWasLost) {
  AddReply(Broken(net::ErrorKind::kTimeout));
  AddReply(ClaimReply(Claim()));
  AddReply(ClaimReply(Reserved("a")));
  const auto bound = Start(claims_.Bind(Claim(), Allocation("a"), Consumer()));
  Advance(1s);
  ASSERT_TRUE(bound->has_value());
  EXPECT_TRUE((*bound)->has_value());
  EXPECT_EQ(last_seen().method, "PATCH");
}

TEST_F(WritesTest, AReservationInWhichTheServerFailedMayBeDoneAllTheSame) {
  AddReply(Failure(500, "InternalError", "etcdserver: request timed out"));
  AddReply(ClaimReply(Reserved("a")));
  auto bound = Start(claims_.Bind(Claim(), Allocation("a"), Consumer()));
  Advance(1s);
  ASSERT_TRUE(bound->has_value());
  EXPECT_TRUE((*bound)->has_value());

  AddReply(Failure(500, "InternalError", "no"));
  AddReply(ClaimReply(Claim()));
  bound = Start(claims_.Bind(Claim(), Allocation("a"), Consumer()));
  Advance(1s);
  ASSERT_TRUE(bound->has_value());
  EXPECT_EQ((*bound)->error().message, "add allocation and reservation to claim ns/c: no");

  AddReply(Failure(500, "InternalError", "no"));
  AddReply(ClaimReply(Reserved("b")));
  bound = Start(claims_.Bind(Claim(), Allocation("a"), Consumer()));
  Advance(1s);
  ASSERT_TRUE(bound->has_value());
  EXPECT_FALSE((*bound)->has_value()) << "these are other devices";
}

TEST_F(WritesTest, AClaimThatIsReservedForThePodAlreadyIsNotReservedTwice) {
  AddReply(Failure(409, "Conflict"));
  AddReply(ClaimReply(Reserved("a")));
  api::ResourceClaim known = Claim();
  known.status.allocation = Allocation("a");
  const auto bound = Start(claims_.Bind(known, std::nullopt, Consumer()));
  Advance(1s);
  ASSERT_TRUE(bound->has_value());
  ASSERT_TRUE((*bound)->has_value());
  EXPECT_EQ((**bound)->status.reserved_for.size(), 1U);
}

TEST_F(WritesTest, ClaimIsProtectedBeforeItIsAllocated) {
  api::ResourceClaim bare = Claim();
  bare.metadata.finalizers = {"other"};
  AddReply(ClaimReply(Claim()));
  AddReply(ClaimReply(Claim()));
  Start(claims_.Bind(bare, api::AllocationResult(), Consumer()));
  ASSERT_EQ(server_.seen.size(), 2U);
  EXPECT_EQ(server_.seen[0].target, "/apis/resource.k8s.io/v1/namespaces/ns/resourceclaims/c");
  EXPECT_THAT(server_.seen[0].body,
              HasSubstr(R"("finalizers":["other","resource.kubernetes.io/delete-protection"])"));
}

// Case 36: the write names what it changes, so what berth does not know stays as it is.
TEST_F(WritesTest, Case36SelectedNodeTouchesNothingElse) {
  api::PersistentVolumeClaim claim;
  claim.metadata.namespace_ = "ns";
  claim.metadata.name = "data";
  claim.metadata.uid = "cu";
  claim.metadata.resource_version = "7";
  AddReply(Json(200, R"({"metadata":{"name":"data","resourceVersion":"8"},"spec":{"unknownToBerth":1}})"));
  const auto written = Start(volumes_.SelectNode(claim, "node-1"));
  ASSERT_TRUE(written->has_value() && (*written)->has_value());
  EXPECT_EQ((**written)->metadata.resource_version, "8");
  EXPECT_EQ(last_seen().method, "PATCH");
  EXPECT_EQ(*last_seen().headers.Find("Content-Type"), "application/merge-patch+json");
  EXPECT_EQ(last_seen().body,
            R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"node-1"},"uid":"cu",)"
            R"("resourceVersion":"7"}})");
}

TEST_F(WritesTest, VolumeIsReservedForItsClaim) {
  api::PersistentVolume volume;
  volume.metadata.name = "pv";
  volume.metadata.uid = "vu";
  volume.metadata.resource_version = "3";
  api::PersistentVolumeClaim claim;
  claim.metadata.namespace_ = "ns";
  claim.metadata.name = "data";
  claim.metadata.uid = "cu";
  claim.metadata.resource_version = "7";
  AddReply(Json(200, "{}"));
  Start(volumes_.Reserve(volume, claim));
  EXPECT_EQ(last_seen().target, "/api/v1/persistentvolumes/pv");
  EXPECT_THAT(last_seen().body, HasSubstr(R"("pv.kubernetes.io/bound-by-controller":"yes")"));
  EXPECT_THAT(last_seen().body,
              HasSubstr(R"("claimRef":{"kind":"PersistentVolumeClaim","namespace":"ns",)"
                        R"("name":"data","uid":"cu","apiVersion":"v1","resourceVersion":"7"})"));
  volume.spec.claim_ref.emplace();
  volume.spec.claim_ref->namespace_ = "ns";
  volume.spec.claim_ref->name = "data";
  AddReply(Failure(409, "Conflict"));
  const auto conflict = Start(volumes_.Reserve(volume, claim));
  EXPECT_THAT(last_seen().body, testing::Not(HasSubstr("bound-by-controller")));
  ASSERT_TRUE(conflict->has_value());
  EXPECT_TRUE(IsConflict((*conflict)->error())) << "not tried again";
}

// Case 37.
TEST_F(WritesTest, Case37UnreserveOfARecreatedClaimIsAnErrorAtOnce) {
  AddReply(Failure(422, "Invalid", "metadata.uid: field is immutable"));
  auto done = Start(claims_.Unreserve(Claim().metadata, "u"));
  ASSERT_TRUE(done->has_value());
  EXPECT_TRUE(IsInvalid((*done)->error()));
  EXPECT_EQ(server_.seen.size(), 1U);
  EXPECT_EQ(
      last_seen().body,
      R"({"metadata": {"uid": "cu"}, "status": { "reservedFor": [ {"$patch": "delete", "uid": "u"} ] }})");
  AddReply(ClaimReply(Claim()));
  done = Start(claims_.Unreserve(Claim().metadata, "absent"));
  EXPECT_TRUE(done->has_value() && (*done)->has_value());
}

TEST_F(WritesTest, OwnClaimIsFreedAndDeleted) {
  AddReply(Failure(409, "Conflict"));
  AddReply(ClaimReply(Claim()));
  AddReply(ClaimReply(Claim()));
  AddReply(Failure(404, "NotFound"));
  const auto done = Start(claims_.Delete(Claim()));
  Advance(20ms);
  EXPECT_TRUE(done->has_value() && (*done)->has_value());
  EXPECT_EQ(last_seen().method, "DELETE");
  EXPECT_THAT(server_.seen[2].body, HasSubstr(R"("finalizers":[])"));
  const api::ResourceClaim made = ExtendedResourceClaim(pod_);
  EXPECT_EQ(made.metadata.generate_name, "p-extended-resources-");
}

}  // namespace
}  // namespace berth::client
