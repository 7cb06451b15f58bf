#include "dra/claim_cache.h"

#include <gtest/gtest.h>

#include "dra/device_bed.h"
#include "dra/pod_claims.h"
#include "support/builders.h"

namespace berth::dra::test {
namespace {

ClaimRef Ref(const api::ResourceClaim& claim) { return std::make_shared<const api::ResourceClaim>(claim); }

// Case 80.
TEST(ClaimCache, AssumedClaimCountsUntilTheWatchHasIt) {
  DeviceBed bed;
  ClaimCache& claims = bed.state().claims();
  bed.Add(MakeClaim("c").Version("5"));
  const auto older = claims.Assume(Ref(MakeClaim("c").Version("4")));
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().message, "ResourceClaim \"default/c\" is out of sync (stored: 5, assume: 4)");
  ASSERT_TRUE(claims.Assume(Ref(MakeClaim("c").Version("7").Has({"p/d"}))));
  EXPECT_TRUE(claims.Find("default", "c")->status.allocation);

  bed.Add(MakeClaim("c").Version("6"));  // on its way before the write
  EXPECT_TRUE(claims.Find("default", "c")->status.allocation);
  bed.Add(MakeClaim("c").Version("8"));
  EXPECT_FALSE(claims.Find("default", "c")->status.allocation);
  EXPECT_FALSE(claims.Assume(Ref(MakeClaim("gone"))));
}

TEST(ClaimCache, RestoreGoesBackToTheWatch) {
  DeviceBed bed;
  ClaimCache& claims = bed.state().claims();
  bed.Add(MakeClaim("c").Version("1"));
  ASSERT_TRUE(claims.Assume(Ref(MakeClaim("c").Version("2").Has({"p/d"}))));
  claims.Restore("default", "c");
  EXPECT_FALSE(claims.Find("default", "c")->status.allocation);
  EXPECT_TRUE(bed.state().devices().empty());
}

// The claim shows a reservation until the watch brings its end; whoever asked for that end must not rely on
// it.
TEST(ClaimCache, AReservationThatIsBeingTakenBackIsNotReliedOn) {
  DeviceBed bed;
  ClaimCache& claims = bed.state().claims();
  const auto reserved = [](const std::string& version, const std::vector<std::string>& pods) {
    api::ResourceClaim claim = MakeClaim("c").Version(version).Has({"p/d"});
    for (const std::string& pod : pods) {
      claim.status.reserved_for.push_back(
          {.api_group = "", .resource = "pods", .name = pod, .uid = pod + "-uid"});
    }
    return claim;
  };
  const auto is_sure = [&](const std::string& pod) {
    return claims.IsSurelyReserved(*claims.Find("default", "c"), pod + "-uid");
  };
  bed.Add(reserved("1", {"a", "b"}));
  EXPECT_TRUE(is_sure("a"));
  claims.DoubtReservation(*claims.Find("default", "c"), "a-uid");
  EXPECT_FALSE(is_sure("a"));
  EXPECT_TRUE(is_sure("b"));
  bed.Add(reserved("2", {"a", "b"}));  // some other change
  EXPECT_FALSE(is_sure("a"));
  bed.Add(reserved("3", {"b"}));
  EXPECT_FALSE(is_sure("a"));
  bed.Add(reserved("4", {"a", "b"}));
  EXPECT_TRUE(is_sure("a")) << "it ended and began again";

  claims.DoubtReservation(*claims.Find("default", "c"), "a-uid");
  claims.TrustReservation(*claims.Find("default", "c"), "a-uid");
  EXPECT_TRUE(is_sure("a"));
}

// Devices of a claim count once, whichever way they are known: in flight, assumed, seen.
TEST(ClaimCache, DevicesCountOnceFromReserveToWatch) {
  DeviceBed bed;
  ClaimCache& claims = bed.state().claims();
  bed.Add(MakeSlice("s", "p", {MakeDevice("d").Shared().Capacity("memory", "3")}));
  bed.Add(MakeClaim("c").Version("1"));
  const api::ResourceClaim allocated =
      MakeClaim("c").Version("2").HasShare("p/d", "x", {{"memory", Amount("2")}});
  const DeviceId id = bed.state().devices().Find("drvA", "p", "d");
  const auto consumed = [&] { return bed.state().devices().use(id).consumed.find("memory")->ToString(); };

  ASSERT_TRUE(claims.Signal("c-uid", Ref(allocated)));
  EXPECT_EQ(consumed(), "2");
  ASSERT_TRUE(claims.Assume(Ref(allocated)));
  EXPECT_EQ(consumed(), "2");
  EXPECT_TRUE(claims.MaybeRemove("c-uid", true));
  EXPECT_EQ(consumed(), "2");
  bed.Add(allocated);
  EXPECT_EQ(consumed(), "2");
  bed.RemoveClaim("c");
  EXPECT_FALSE(bed.state().devices().use(id).IsUsed());
}

TEST(ClaimCache, SharedAllocationStaysInFlightUntilTheLastIsDone) {
  DeviceBed bed;
  ClaimCache& claims = bed.state().claims();
  bed.Add(MakeClaim("c"));
  ASSERT_TRUE(claims.Signal("c-uid", Ref(MakeClaim("c").Has({"p/d"}))));
  ASSERT_TRUE(claims.Signal("c-uid", Ref(MakeClaim("c").Has({"p/other"}))));
  EXPECT_FALSE(bed.state().devices().Find("drvA", "p", "other").IsValid());
  EXPECT_FALSE(claims.MaybeRemove("c-uid", false));
  EXPECT_TRUE(claims.IsInFlight("c-uid"));
  EXPECT_TRUE(claims.MaybeRemove("c-uid", false));
  EXPECT_FALSE(claims.MaybeRemove("c-uid", false));
  EXPECT_FALSE(claims.Signal("gone-uid", Ref(MakeClaim("gone"))));
}

std::string Outcome(DeviceBed& bed, const api::Pod& pod) {
  api::SharedParts parts;
  const auto claims = ClaimsOf(api::MakeRecord(api::Pod(pod), parts), bed.state().claims());
  return claims ? std::to_string(claims->size()) : claims.error().message;
}

api::Pod PodWithTemplate(std::optional<std::string> claim, bool has_status = true) {
  api::Pod pod = berth::test::MakePod("my-pod").Uid("my-pod-uid");
  pod.spec.resource_claims.emplace_back().name = "entry";
  pod.spec.resource_claims.back().resource_claim_template_name = "template";
  if (!has_status) return pod;
  pod.status.resource_claim_statuses.emplace_back().name = "entry";
  pod.status.resource_claim_statuses.back().resource_claim_name = std::move(claim);
  return pod;
}

api::ResourceClaim OwnedBy(std::string name, std::string uid) {
  auto claim = MakeClaim(std::move(name));
  claim.claim().metadata.owner_references.push_back({.api_version = "v1",
                                                     .kind = "Pod",
                                                     .name = "my-pod",
                                                     .uid = std::move(uid),
                                                     .controller = true,
                                                     .block_owner_deletion = {}});
  return claim;
}

// Cases 1 to 6.
TEST(PodClaims, AreFoundOrSaidWhyNot) {
  DeviceBed bed;
  EXPECT_EQ(Outcome(bed, PodWithTemplate({}, false)),
            "pod \"default/my-pod\": ResourceClaim not created yet");
  EXPECT_EQ(Outcome(bed, PodWithTemplate(std::nullopt)), "0");
  const api::Pod by_name = berth::test::MakePod("my-pod").Uid("my-pod-uid").ResourceClaim("entry", "c");
  EXPECT_EQ(Outcome(bed, by_name), "could not find ResourceClaim \"default/c\"");
  bed.Add(OwnedBy("c", "another-uid"));
  EXPECT_EQ(Outcome(bed, PodWithTemplate("c")),
            "ResourceClaim default/c was not created for Pod default/my-pod (Pod is not owner)");
  EXPECT_EQ(Outcome(bed, by_name), "1");
  bed.Add(OwnedBy("c", "my-pod-uid"));
  EXPECT_EQ(Outcome(bed, PodWithTemplate("c")), "1");
  api::ResourceClaim leaving = OwnedBy("c", "my-pod-uid");
  leaving.metadata.deletion_timestamp.emplace();
  bed.Add(leaving);
  EXPECT_EQ(Outcome(bed, PodWithTemplate("c")), "resourceclaim \"c\" is being deleted");
  api::Pod neither = PodWithTemplate({});
  neither.spec.resource_claims.front().resource_claim_template_name.reset();
  EXPECT_EQ(Outcome(bed, neither),
            "pod \"default/my-pod\", spec.resourceClaim \"entry\": none of the supported fields are set");
}

api::DeviceClass Offering(std::string name, std::string resource, std::int64_t created) {
  api::DeviceClass made = MakeClass(std::move(name), "drvA");
  made.spec.extended_resource_name = std::move(resource);
  made.metadata.creation_timestamp.unix_seconds = created;
  return made;
}

TEST(ExtendedNames, YoungerClassWinsThenTheFirstByName) {
  DeviceBed bed;
  const ExtendedNames& names = bed.state().extended_names();
  const auto class_of = [&](std::string_view resource) {
    const std::string* const found = names.Find(resource);
    return found == nullptr ? std::string("none") : *found;
  };
  EXPECT_EQ(class_of("deviceclass.resource.kubernetes.io/A"), "A");
  bed.Add(Offering("old", "example.com/gpu", 1));
  bed.Add(Offering("young", "example.com/gpu", 2));
  EXPECT_EQ(class_of("example.com/gpu"), "young");
  bed.Add(Offering("older", "example.com/gpu", 0));
  EXPECT_EQ(class_of("example.com/gpu"), "young");
  EXPECT_EQ(class_of("deviceclass.resource.kubernetes.io/older"), "none");
  bed.Add(Offering("twin", "example.com/gpu", 2));
  EXPECT_EQ(class_of("example.com/gpu"), "twin");
  bed.objects().Of<api::DeviceClass>().Remove("", "twin");
  EXPECT_EQ(class_of("example.com/gpu"), "none");
}

}  // namespace
}  // namespace berth::dra::test
