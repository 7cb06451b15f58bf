#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/cluster_harness.h"

// Claims find volumes, or get one made for them.
namespace berth::sandbox::test {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kVolumes = "/api/v1/persistentvolumes";
constexpr const char* kClaims = "/api/v1/namespaces/default/persistentvolumeclaims";
constexpr const char* kClasses = "/apis/storage.k8s.io/v1/storageclasses";

std::string VolumeJson(std::string_view name, std::string_view size, std::string_view policy = "Retain") {
  std::string text = R"({"metadata":{"name":")";
  text.append(name).append(R"("},"spec":{"capacity":{"storage":")").append(size);
  text.append(R"("},"accessModes":["ReadWriteOnce"],"storageClassName":"manual","hostPath":{"path":"/x"},)");
  return text.append(R"("persistentVolumeReclaimPolicy":")").append(policy).append("\"}}");
}

std::string ClaimJson(std::string_view name, std::string_view size, std::string_view storage_class) {
  std::string text = R"({"metadata":{"name":")";
  text.append(name).append(
      R"("},"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":")");
  text.append(size).append(R"("}},"storageClassName":")").append(storage_class).append("\"}}");
  return text;
}

class Volumes : public testing::Test {
 protected:
  void CreateClass(std::string_view name, std::string_view mode, std::string_view provisioner = "fake.csi") {
    std::string text = R"({"metadata":{"name":")";
    text.append(name).append(R"("},"provisioner":")").append(provisioner);
    text.append(R"(","volumeBindingMode":")").append(mode).append("\"}");
    cluster_.Create(kClasses, text);
  }
  std::string Phase(const char* collection, std::string_view name) {
    return std::string(
        TextAt(cluster_.Get(std::string(collection) + "/" + std::string(name)), {"status", "phase"}));
  }

  ClusterHarness cluster_;
};

TEST_F(Volumes, ClaimGetsTheSmallestVolumeThatFits) {
  for (const auto& [name, size] : {std::pair("big", "10Gi"), {"fits", "2Gi"}, {"small", "512Mi"}}) {
    cluster_.Create(kVolumes, VolumeJson(name, size));
  }
  cluster_.Create(kClaims, ClaimJson("c", "1Gi", "manual"));
  const json::object claim = cluster_.Get(std::string(kClaims) + "/c");
  EXPECT_EQ(TextAt(claim, {"spec", "volumeName"}), "fits");
  EXPECT_EQ(TextAt(claim, {"status", "phase"}), "Bound");
  EXPECT_EQ(TextAt(claim, {"status", "capacity", "storage"}), "2Gi");
  const json::object volume = cluster_.Get(std::string(kVolumes) + "/fits");
  EXPECT_EQ(TextAt(volume, {"spec", "claimRef", "uid"}), TextAt(claim, {"metadata", "uid"}));
  EXPECT_EQ(TextAt(volume, {"status", "phase"}), "Bound");
  EXPECT_EQ(Phase(kVolumes, "big"), "Available");
}

TEST_F(Volumes, ClaimWaitsUntilAVolumeThatFitsAppears) {
  cluster_.Create(kClaims, ClaimJson("c", "1Gi", "manual"));
  cluster_.Create(kVolumes, VolumeJson("small", "512Mi"));
  EXPECT_EQ(Phase(kClaims, "c"), "Pending");
  cluster_.Create(kVolumes, VolumeJson("fits", "1Gi"));
  EXPECT_EQ(Phase(kClaims, "c"), "Bound");
}

TEST_F(Volumes, RetainedVolumeIsReleasedAndADeletableOneGoes) {
  cluster_.Create(kVolumes, VolumeJson("kept", "1Gi"));
  cluster_.Create(kClaims, ClaimJson("c", "1Gi", "manual"));
  cluster_.api().Delete(std::string(kClaims) + "/c");
  EXPECT_EQ(Phase(kVolumes, "kept"), "Released");
  cluster_.Create(kVolumes, VolumeJson("temporary", "1Gi", "Delete"));
  cluster_.Create(kClaims, ClaimJson("c", "1Gi", "manual"));
  EXPECT_EQ(TextAt(cluster_.Get(std::string(kClaims) + "/c"), {"spec", "volumeName"}), "temporary");
  cluster_.api().Delete(std::string(kClaims) + "/c");
  EXPECT_EQ(cluster_.api().Get(std::string(kVolumes) + "/temporary").code, 404);
}

TEST_F(Volumes, ImmediateClassProvisionsAfterAWhile) {
  CreateClass("fast", "Immediate");
  cluster_.Create(kClaims, ClaimJson("c", "1Gi", "fast"));
  EXPECT_EQ(Phase(kClaims, "c"), "Pending");
  cluster_.Run(2);
  EXPECT_EQ(Phase(kClaims, "c"), "Bound");
  ASSERT_THAT(cluster_.List(kVolumes), SizeIs(1));
  EXPECT_EQ(TextAt(cluster_.List(kVolumes).front(), {"spec", "csi", "driver"}), "fake.csi");
  EXPECT_THAT(cluster_.api().Get("/api/v1/namespaces/default/events").body,
              HasSubstr("ProvisioningSucceeded"));
  cluster_.api().Delete(std::string(kClaims) + "/c");
  EXPECT_THAT(cluster_.List(kVolumes), IsEmpty());
}

// Another process makes the volumes: the claim says for whom it waits, and takes what comes.
TEST(VolumesOfOthers, NothingIsMadeInTheirName) {
  ApiHarness api;
  const Controllers controllers(api.plane(), {.disabled = {"csi-provisioner"}});
  api.Post(kClasses, R"({"metadata":{"name":"made"},"provisioner":"theirs.csi"})");
  api.Post(kClaims, ClaimJson("c", "1Gi", "made"));
  api.Advance(std::chrono::minutes(5));
  EXPECT_THAT(api.Get(kVolumes).body, testing::Not(HasSubstr("claimRef")));
  const std::string claim = std::string(kClaims) + "/c";
  EXPECT_EQ(TextAt(api.Get(claim).document(),
                   {"metadata", "annotations", "volume.kubernetes.io/storage-provisioner"}),
            "theirs.csi");
  std::string volume = VolumeJson("theirs", "1Gi");
  volume.replace(volume.find("manual"), 6, "made");
  ASSERT_EQ(api.Post(kVolumes, volume).code, 201);
  api.Advance(std::chrono::seconds(1));
  EXPECT_EQ(TextAt(api.Get(claim).document(), {"status", "phase"}), "Bound");
}

TEST_F(Volumes, WaitingClassProvisionsInTheZoneOfTheChosenNode) {
  CreateClass("near", "WaitForFirstConsumer");
  cluster_.Create(kClaims, ClaimJson("c", "1Gi", "near"));
  cluster_.Run(5);
  EXPECT_THAT(cluster_.List(kVolumes), IsEmpty());
  cluster_.api().Patch(std::string(kClaims) + "/c",
                       R"({"metadata":{"annotations":{"volume.kubernetes.io/selected-node":"node-2"}}})");
  cluster_.Run(2);
  EXPECT_EQ(Phase(kClaims, "c"), "Bound");
  EXPECT_THAT(cluster_.api().Get(kVolumes).body,
              HasSubstr(R"({"key":"topology.kubernetes.io/zone","operator":"In","values":["zone-2"]})"));
}

TEST_F(Volumes, VolumeThatTheSchedulerPointsAtAClaimIsBoundToIt) {
  CreateClass("manual", "WaitForFirstConsumer", "kubernetes.io/no-provisioner");
  cluster_.Create(kVolumes, VolumeJson("local", "1Gi"));
  const json::object claim = cluster_.Create(kClaims, ClaimJson("c", "1Gi", "manual"));
  EXPECT_EQ(Phase(kClaims, "c"), "Pending");
  std::string patch =
      R"({"spec":{"claimRef":{"kind":"PersistentVolumeClaim","namespace":"default","name":"c","uid":")";
  patch.append(TextAt(claim, {"metadata", "uid"})).append("\"}}}");
  cluster_.api().Patch(std::string(kVolumes) + "/local", patch);
  EXPECT_EQ(Phase(kClaims, "c"), "Bound");
  EXPECT_EQ(Phase(kVolumes, "local"), "Bound");
}

TEST_F(Volumes, ClaimWithoutAClassGetsTheDefaultOne) {
  cluster_.Create(kClasses, R"({"metadata":{"name":"std","annotations":{
      "storageclass.kubernetes.io/is-default-class":"true"}},"provisioner":"fake.csi"})");
  cluster_.Create(kClaims, R"({"metadata":{"name":"c"},"spec":{"accessModes":["ReadWriteOnce"],
      "resources":{"requests":{"storage":"1Gi"}}}})");
  EXPECT_EQ(TextAt(cluster_.Get(std::string(kClaims) + "/c"), {"spec", "storageClassName"}), "std");
}

TEST_F(Volumes, EphemeralVolumeOfAPodIsAClaimThatGoesWithIt) {
  CreateClass("fast", "Immediate");
  cluster_.Create(kPods,
                  PodJson("p", R"(,"volumes":[{"name":"scratch","ephemeral":{"volumeClaimTemplate":{"spec":{
      "accessModes":["ReadWriteOnce"],"storageClassName":"fast","resources":{"requests":{"storage":"1Gi"}}}}}}])"));
  EXPECT_EQ(cluster_.api().Get(std::string(kClaims) + "/p-scratch").code, 200);
  cluster_.api().Delete(PodPath("p"), R"({"gracePeriodSeconds":0})");
  EXPECT_EQ(cluster_.api().Get(std::string(kClaims) + "/p-scratch").code, 404);
}

}  // namespace
}  // namespace berth::sandbox::test
