#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck.h"

#include "cluster/speculation.h"
#include "plugins/volume_bed.h"
#include "plugins/volume_free_index.h"

// The indexes may be clever only because a recount that is not clever agrees with them.
namespace berth::plugins::test {
namespace {

int Pick(int count) { return *rc::gen::inRange(0, count); }
bool Flip() { return Pick(2) == 1; }
std::string Numbered(const char* prefix, int count) { return prefix + std::to_string(Pick(count)); }
std::string OneOf(const std::vector<std::string>& texts) {
  return texts[static_cast<std::size_t>(Pick(static_cast<int>(texts.size())))];
}

// Everything that was said to a cluster and is still true.
struct Said {
  std::map<std::string, api::Node> nodes;
  std::map<std::string, PodBuilder> pods;
  std::map<std::string, api::PersistentVolumeClaim> claims;
  std::map<std::string, api::PersistentVolume> volumes;
  std::map<std::string, api::StorageClass> classes;
  std::map<std::string, api::CSINode> csi_nodes;
  std::map<std::string, api::VolumeAttachment> attachments;
};

std::unique_ptr<VolumeBed> MakeBed() {
  auto bed = std::make_unique<VolumeBed>(PluginHarness::Options{
      .plugins = {
          {"VolumeRestrictions", 0}, {"NodeVolumeLimits", 0}, {"VolumeBinding", 1}, {"VolumeZone", 0}}});
  return bed;
}

// In another order than anything ever happened.
std::unique_ptr<VolumeBed> Retell(const Said& said) {
  auto bed = MakeBed();
  for (const auto& [name, object] : said.attachments) bed->Set(object);
  for (const auto& [name, pod] : said.pods) bed->Add(pod);
  for (const auto& [name, object] : said.csi_nodes) bed->Set(object);
  for (const auto& [name, object] : said.volumes) bed->Set(object);
  for (const auto& [name, node] : said.nodes) bed->Add(node);
  for (const auto& [name, object] : said.classes) bed->Set(object);
  for (const auto& [name, object] : said.claims) bed->Set(object);
  return bed;
}

std::vector<PodBuilder> Waiting() {
  return {MakePod("w0").VolumeClaim("c0"), MakePod("w1").VolumeClaim("c1").VolumeClaim("c2"),
          MakePod("w2").Volume(GceDisk("d0")).Volume(EbsDisk("d1")),
          MakePod("w3").VolumeClaim("c3").Volume(EbsDisk("d0", true))};
}

// Of several nodes and pods in error any one may be told, so only that there is one counts.
std::string AnswerFor(VolumeBed& bed, const PodBuilder& pod) {
  const framework::Explanation got = bed.Explain(pod);
  std::string text =
      berth::test::ShortText(got.pre_filter) + "|" + (got.error.IsSuccess() ? "" : "error") + "|";
  for (const auto& [row, status] : got.refused) {
    text += std::string(bed.cluster().nodes().name(row)) + ": " + std::string(status.plugin()) + " " +
            berth::test::ShortText(status) + "; ";
  }
  for (const cluster::NodeRow row : got.feasible) text += std::string(bed.cluster().nodes().name(row)) + " ";
  return text;
}

class VolumeHistory {
 public:
  VolumeHistory() : bed_(MakeBed()) {}

  void Step() {
    switch (Pick(9)) {
      case 0:
      case 1:
        return PodComesOrGoes();
      case 2:
        return NodeComesOrGoes();
      case 3:
      case 4:
        return ClaimChanges();
      case 5:
        return VolumeChanges();
      case 6:
        return Toggle(said_.classes,
                      MakeClass(Numbered("s", 2), OneOf({kEbs, "kubernetes.io/aws-ebs", "x"})));
      case 7:
        return Toggle(said_.csi_nodes, MakeCsiNode(Numbered("n", 3), {{kEbs, Pick(4) - 1}},
                                                   Flip() ? "kubernetes.io/aws-ebs" : ""));
      default:
        return Toggle(said_.attachments,
                      MakeAttachment(Numbered("a", 4), Numbered("n", 3), kEbs, Numbered("v", 4)));
    }
  }

  void Compare() {
    const auto fresh = Retell(said_);
    for (const PodBuilder& pod : Waiting()) RC_ASSERT(AnswerFor(*bed_, pod) == AnswerFor(*fresh, pod));
  }

  // Moves pods about for a while; each time what is seen must be what was, and nothing may stay.
  void Try() {
    cluster::Cluster& cluster = bed_->cluster();
    const std::uint64_t before = cluster.Digest();
    {
      cluster::Speculation trial(cluster);
      for (const auto& [name, pod] : said_.pods) {
        const cluster::PodSlot slot = cluster.pods().Find(pod.Record()->uid);
        if (Flip()) trial.Displace(slot);
        const cluster::NodeRow to = cluster.nodes().Find(Numbered("n", 3));
        if (!cluster.pods().row(slot).IsValid() && to.IsValid() && Flip()) trial.Place(slot, to);
      }
    }
    RC_ASSERT(cluster.Digest() == before);
  }

 private:
  template <class T>
  void Toggle(std::map<std::string, T>& known, const T& object) {
    const std::string& name = object.metadata.name;
    if (known.contains(name) && Pick(3) == 0) {
      known.erase(name);
      bed_->Remove<T>(name, object.metadata.namespace_);
    } else {
      known.insert_or_assign(name, object);
      bed_->Set(object);
    }
  }

  void PodComesOrGoes() {
    const std::string name = Numbered("p", 5);
    if (const auto found = said_.pods.find(name); found != said_.pods.end()) {
      RC_ASSERT(bed_->cluster().RemovePod(*found->second.Record()).has_value());
      said_.pods.erase(found);
      return;
    }
    PodBuilder pod = MakePod(name).Uid("uid-" + name).Node(Numbered("n", 3));
    for (int i = Pick(3); i > 0; --i) pod.VolumeClaim(Numbered("c", 4));
    if (Pick(3) == 0) pod.Volume(GceDisk(Numbered("d", 2), Flip()));
    if (Pick(3) == 0) pod.Volume(EbsDisk(Numbered("d", 2)));
    if (Pick(4) == 0) pod.Volume(EphemeralVolume("e"));
    bed_->Add(pod);
    said_.pods.emplace(name, pod);
  }

  void NodeComesOrGoes() {
    const std::string name = Numbered("n", 3);
    if (const auto found = said_.nodes.find(name); found != said_.nodes.end() && Flip()) {
      RC_ASSERT(bed_->cluster().RemoveNode(found->second).has_value());
      said_.nodes.erase(found);
      return;
    }
    const api::Node node = MakeNode(name).Hostname().Zone(OneOf({"a", "b"}));
    said_.nodes.insert_or_assign(name, node);
    bed_->Add(node);
  }

  void ClaimChanges() {
    ClaimBuilder claim = MakeClaim(Pick(4) == 0 ? Numbered("p", 5) + "-e" : Numbered("c", 4));
    claim.Class(Numbered("s", 3)).Request(OneOf({"1G", "2G"}));
    claim.Modes({OneOf({"ReadWriteOnce", "ReadWriteOncePod"})});
    if (Flip()) claim.BoundTo(Numbered("v", 4));
    if (Flip()) claim.Owner("uid-" + Numbered("p", 5));
    Toggle<api::PersistentVolumeClaim>(said_.claims, claim);
  }

  void VolumeChanges() {
    VolumeBuilder volume = MakeVolume(Numbered("v", 4)).Class(Numbered("s", 2)).Capacity(OneOf({"1G", "3G"}));
    if (Flip()) {
      volume.Csi(OneOf({kEbs, "x"}), Numbered("h", 3));
    } else if (Flip()) {
      volume.Ebs(Numbered("h", 3));
    }
    if (Flip()) volume.Label(kZone, OneOf({"a", "b"}));
    if (Flip()) volume.Affinity(OneOf({kZone, kHost}), {OneOf({"a", "n0", "n1"})});
    Toggle<api::PersistentVolume>(said_.volumes, volume);
  }

  std::unique_ptr<VolumeBed> bed_;
  Said said_;
};

TEST(VolumeIndexProperty, AnswersAreThoseOfANewcomer) {
  EXPECT_TRUE(rc::check("any history", [] {
    VolumeHistory world;
    for (int i = 0; i < 6; ++i) {
      for (int j = 0; j < 8; ++j) world.Step();
      world.Compare();
    }
  }));
}

TEST(VolumeIndexProperty, TrialsLeaveNoTrace) {
  EXPECT_TRUE(rc::check("any history with trials", [] {
    VolumeHistory world;
    for (int i = 0; i < 5; ++i) {
      for (int j = 0; j < 8; ++j) world.Step();
      world.Try();
      world.Compare();
    }
  }));
}

// ---------------------------------------------------------------------------------------------------------

// The rules of static matching, volume by volume.
std::optional<std::string> NaiveMatch(const std::map<std::string, api::PersistentVolume>& volumes,
                                      const VolumeWish& wish, const api::StringMap& node,
                                      const std::vector<VolumeRef>& taken) {
  const api::PersistentVolumeClaim& claim = *wish.claim;
  const api::PersistentVolume* best = nullptr;
  for (const auto& [name, volume] : volumes) {
    if (volume.spec.storage_class_name != *claim.spec.storage_class_name) continue;
    if (std::ranges::any_of(taken, [&](const VolumeRef& other) { return other->metadata.name == name; })) {
      continue;
    }
    const bool meant = IsMeantFor(volume, claim);
    if (volume.spec.claim_ref && !meant) continue;
    if (CapacityOf(volume).Compare(wish.request) < 0) continue;
    if (volume.spec.volume_mode.value_or("Filesystem") != claim.spec.volume_mode.value_or("Filesystem"))
      continue;
    bool usable = true;
    if (volume.spec.node_affinity) {
      usable = api::NodeMatcher::Compile(*volume.spec.node_affinity->required).Matches("", node);
    }
    if (meant) return usable ? std::optional(name) : std::nullopt;
    if (volume.status.phase != "Available") continue;
    if (wish.selector && !wish.selector->Matches(volume.metadata.labels)) continue;
    if (!usable) continue;
    if (std::ranges::find(volume.spec.access_modes, claim.spec.access_modes.front()) ==
        volume.spec.access_modes.end()) {
      continue;
    }
    if (best == nullptr || CapacityOf(volume).Compare(CapacityOf(*best)) < 0) best = &volume;
  }
  return best == nullptr ? std::nullopt : std::optional(best->metadata.name);
}

api::PersistentVolume AnyVolume() {
  VolumeBuilder volume = MakeVolume(Numbered("v", 8)).Class(Numbered("s", 2));
  volume.Capacity(OneOf({"1G", "2G", "1500M"})).Phase(OneOf({"Available", "Available", "Released"}));
  if (Flip()) volume.Affinity(kZone, {OneOf({"a", "b"}), "c"});
  if (Pick(3) == 0) volume.Affinity(kHost, {OneOf({"n0", "n1"})}, OneOf({"In", "NotIn", "Foo"}));
  if (Pick(4) == 0) volume.MeantFor(Numbered("c", 2), OneOf({"", "uid-c0", "uid-x"}));
  if (Pick(4) == 0) volume.volume().spec.volume_mode = "Block";
  if (Flip()) volume.Label("tier", OneOf({"x", "y"}));
  if (Flip()) volume.Modes({"ReadWriteOnce", "ReadOnlyMany"});
  return volume;
}

VolumeWish AnyWish() {
  ClaimBuilder claim = MakeClaim(Numbered("c", 2)).Class(Numbered("s", 2));
  claim.Request(OneOf({"1G", "1200M", "2G"})).Modes({OneOf({"ReadWriteOnce", "ReadOnlyMany"})});
  VolumeWish wish;
  wish.request = *RequestOf(claim.claim());
  if (Pick(3) == 0) wish.selector = api::Selector::FromMap({{"tier", "x"}});
  wish.claim = std::make_shared<const api::PersistentVolumeClaim>(claim);
  wish.claim_key = KeyOf(wish.claim->metadata);
  return wish;
}

TEST(FreeVolumesProperty, MatchIsThatOfTheRules) {
  EXPECT_TRUE(rc::check("any volumes", [] {
    cluster::Cluster cluster;
    VolumePlaces places(cluster);
    FreeVolumes index(places);
    std::map<std::string, api::PersistentVolume> volumes;
    // A node says where it is again and again, and another place each time.
    const auto place = [&](const std::string& name, const api::StringMap& labels) {
      berth::test::NodeBuilder node = MakeNode(name);
      for (const auto& [key, value] : labels) node.Label(key, value);
      const cluster::NodeRow row = cluster.SetNode(node.Ref());
      places.OnNodeChanged(row);
      return row;
    };
    // Of many nodes each has volumes of its own, which are then looked for in another way.
    for (int i = Flip() ? 70 : 0; i > 0; --i) {
      const api::PersistentVolume volume = MakeVolume("far-" + std::to_string(i))
                                               .Class(Numbered("s", 2))
                                               .Capacity("1G")
                                               .Affinity(kHost, {"far-" + std::to_string(i)});
      index.Set(volume.metadata.name, std::make_shared<const api::PersistentVolume>(volume));
      volumes.emplace(volume.metadata.name, volume);
    }
    for (int i = 0; i < 30; ++i) {
      const api::PersistentVolume volume = AnyVolume();
      const std::string& name = volume.metadata.name;
      if (Pick(5) == 0) {
        index.Set(name, nullptr);
        volumes.erase(name);
      } else {
        index.Set(name, std::make_shared<const api::PersistentVolume>(volume));
        volumes.insert_or_assign(name, volume);
      }
      const api::StringMap node{{kZone, OneOf({"a", "b", "d"})}, {kHost, OneOf({"n0", "n1"})}};
      const cluster::NodeRow row = place("here", node);
      std::vector<VolumeRef> taken;
      for (int j = 0; j < 2; ++j) {
        const VolumeWish wish = AnyWish();
        ClassVolumes::Memo memo(2);
        if (Flip()) {
          // Another node asked before, for the same.
          const cluster::NodeRow other = place("there", {{kZone, OneOf({"a", "b", "d"})}});
          const ClassVolumes* const asked = index.Find(*wish.claim->spec.storage_class_name);
          if (asked != nullptr) asked->Match(wish, other, taken, memo);
        }
        const ClassVolumes* const of_class = index.Find(*wish.claim->spec.storage_class_name);
        std::optional<VolumeFit> found;
        if (of_class != nullptr) found = of_class->Match(wish, row, taken, memo);
        const VolumeRef got = found ? *found->volume : nullptr;
        const std::optional<std::string> want = NaiveMatch(volumes, wish, node, taken);
        RC_ASSERT((got ? std::optional(got->metadata.name) : std::nullopt) == want);
        if (got) taken.push_back(got);
      }
    }
    for (const auto& [name, volume] : volumes) index.Set(name, nullptr);
    RC_ASSERT(index.Find("s0") == nullptr && index.Find("s1") == nullptr);
  }));
}

}  // namespace
}  // namespace berth::plugins::test
