#include "sim/volume_world.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <set>
#include <utility>
#include <vector>

#include "sandbox/document.h"

namespace berth::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kStorage = "storage.k8s.io/v1";
constexpr std::string_view kVolumeDriver = "volumes.example.com";
constexpr std::string_view kHostLabel = "kubernetes.io/hostname";
constexpr std::string_view kChosenNode = "volume.kubernetes.io/selected-node";
constexpr std::string_view kOneUser = "ReadWriteOncePod";

// How many volumes a node attaches follows from its name alone.
int LimitOf(int number) { return 2 + number % 3; }
std::string NodeName(int number) { return fmt::format("node-{}", number); }

json::object VolumeClaimSpec(std::string_view class_name, std::string_view mode, std::string_view size) {
  return {{"storageClassName", class_name},
          {"accessModes", json::array{json::string(mode)}},
          {"resources", json::object{{"requests", json::object{{"storage", size}}}}}};
}

json::object VolumeOf(std::string_view name, const std::string& claim) {
  return {{"name", name}, {"persistentVolumeClaim", json::object{{"claimName", claim}}}};
}

// The claims that a pod names, those of ephemeral volumes too.
std::vector<std::string> VolumeClaimsOf(const json::object& pod) {
  std::vector<std::string> claims;
  const json::array* const volumes = sandbox::FindArray(pod, {"spec", "volumes"});
  if (volumes == nullptr) return claims;
  for (const json::value& volume : *volumes) {
    const json::object& object = volume.as_object();
    if (const std::string name = TextIn(object, {"persistentVolumeClaim", "claimName"}); !name.empty()) {
      claims.push_back(name);
    } else if (object.contains("ephemeral")) {
      claims.push_back(TextIn(pod, {"metadata", "name"}) + "-" + TextIn(object, {"name"}));
    }
  }
  return claims;
}

// The label and values that a volume made in a simulation asks of its node; empty: it asks nothing.
std::pair<std::string, std::vector<std::string>> AffinityOf(const json::object& volume) {
  std::pair<std::string, std::vector<std::string>> affinity;
  const json::array* const terms =
      sandbox::FindArray(volume, {"spec", "nodeAffinity", "required", "nodeSelectorTerms"});
  if (terms == nullptr || terms->empty()) return affinity;
  const json::object& label = terms->front().at("matchExpressions").at(0).as_object();
  affinity.first = TextIn(label, {"key"});
  for (const json::value& value : label.at("values").as_array()) {
    affinity.second.emplace_back(sandbox::ViewOf(value.as_string()));
  }
  return affinity;
}

}  // namespace

void VolumeWorld::Begin() {
  const auto add_class = [&](std::string name, std::string_view provisioner, std::string_view mode) {
    json::object made = Named(std::move(name));
    made["provisioner"] = provisioner;
    made["volumeBindingMode"] = mode;
    made["reclaimPolicy"] = "Delete";
    objects_.Create(kStorage, "StorageClass", std::move(made));
  };
  add_class("local", "kubernetes.io/no-provisioner", "WaitForFirstConsumer");
  add_class("made", kVolumeDriver, "WaitForFirstConsumer");
  add_class("now", kVolumeDriver, "Immediate");
  for (int number = 1; number <= size_.nodes; ++number) {
    json::object node = Named(NodeName(number));
    json::object driver{{"name", kVolumeDriver},
                        {"nodeID", NodeName(number)},
                        {"topologyKeys", json::array{}},
                        {"allocatable", json::object{{"count", LimitOf(number)}}}};
    node["spec"] = json::object{{"drivers", json::array{std::move(driver)}}};
    objects_.Create(kStorage, "CSINode", std::move(node));
    for (int i = 0; i < 2; ++i) CreateLocalVolume(NodeName(number), ++volumes_made_);
  }
}

void VolumeWorld::CreateLocalVolume(const std::string& node, int number) {
  json::object label{{"key", kHostLabel}, {"operator", "In"}, {"values", json::array{json::string(node)}}};
  json::object term{{"matchExpressions", json::array{std::move(label)}}};
  json::object required{{"nodeSelectorTerms", json::array{std::move(term)}}};
  json::object volume = Named(fmt::format("local-{}", number));
  volume["spec"] =
      json::object{{"capacity", json::object{{"storage", number % 2 == 0 ? "1Gi" : "3Gi"}}},
                   {"accessModes", json::array{json::string(number % 3 == 0 ? kOneUser : "ReadWriteOnce")}},
                   {"persistentVolumeReclaimPolicy", "Retain"},
                   {"storageClassName", "local"},
                   {"local", json::object{{"path", "/disk"}}},
                   {"nodeAffinity", json::object{{"required", std::move(required)}}}};
  objects_.Create("v1", "PersistentVolume", std::move(volume));
}

void VolumeWorld::Act() {
  const std::uint64_t what = random_.Uniform(100);
  if (what < 45) {
    CreatePod();
  } else if (what < 70) {
    DeletePod();
  } else if (what < 85) {
    DeleteClaim();
  } else if (what < 95) {
    if (fails_) FailProvisioning();
  } else {
    ReplaceReleased();
  }
}

std::string VolumeWorld::CreateClaim(std::string_view class_name, std::string_view mode) {
  const std::string name = fmt::format("claim-{}", ++claims_made_);
  json::object claim = Named(name);
  claim["spec"] = VolumeClaimSpec(class_name, mode, random_.Chance(0.5) ? "1Gi" : "2Gi");
  objects_.Create("v1", "PersistentVolumeClaim", std::move(claim));
  return name;
}

void VolumeWorld::CreatePod() {
  std::size_t count = 0;
  for (const auto& pod : objects_.All("v1", "Pod")) count += IsOurs(*pod) ? 1 : 0;
  if (count >= static_cast<std::size_t>(size_.pods)) return;
  const std::string_view once = "ReadWriteOnce";
  json::object pod = SmallPod(fmt::format("vol-{}", ++pods_made_), "volumes");
  json::array volumes;
  switch (random_.Uniform(7)) {
    case 0:
      volumes.push_back(VolumeOf("v", CreateClaim("local", once)));
      break;
    case 1:
      volumes.push_back(VolumeOf("v", CreateClaim("made", once)));
      break;
    case 2:
      volumes.push_back(VolumeOf("v", CreateClaim("now", once)));
      break;
    case 3:
      volumes.push_back(VolumeOf("v", CreateClaim("local", once)));
      volumes.push_back(VolumeOf("w", CreateClaim("made", once)));
      break;
    case 4: {
      json::object claim{{"spec", VolumeClaimSpec("made", once, "1Gi")}};
      json::object ephemeral{{"volumeClaimTemplate", std::move(claim)}};
      volumes.push_back(json::object{{"name", "e"}, {"ephemeral", std::move(ephemeral)}});
      break;
    }
    case 5:
      volumes.push_back(VolumeOf("v", CreateClaim(random_.Chance(0.5) ? "local" : "made", kOneUser)));
      break;
    default: {
      // Whatever claim there is, with whoever uses it already.
      const auto claims = objects_.All("v1", "PersistentVolumeClaim");
      const std::string claim = claims.empty() ? CreateClaim("made", kOneUser)
                                               : std::string(claims[random_.Uniform(claims.size())]->name());
      volumes.push_back(VolumeOf("v", claim));
      break;
    }
  }
  pod["spec"].as_object()["volumes"] = std::move(volumes);
  objects_.Create("v1", "Pod", std::move(pod));
}

void VolumeWorld::DeletePod() {
  std::vector<sandbox::RevisionPtr> ours;
  for (const auto& pod : objects_.All("v1", "Pod")) {
    if (IsOurs(*pod)) ours.push_back(pod);
  }
  if (!ours.empty()) objects_.Delete(*ours[random_.Uniform(ours.size())], random_.Chance(0.5));
}

// One that no pod on a node uses: pods that only wait for a node must bear it.
void VolumeWorld::DeleteClaim() {
  std::set<std::string> used;
  for (const auto& pod : objects_.All("v1", "Pod")) {
    const json::object document = pod->Document();
    if (!IsOnNode(document)) continue;
    for (std::string& claim : VolumeClaimsOf(document)) used.insert(std::move(claim));
  }
  std::vector<sandbox::RevisionPtr> idle;
  for (const auto& claim : objects_.All("v1", "PersistentVolumeClaim")) {
    if (!used.contains(std::string(claim->name()))) idle.push_back(claim);
  }
  if (!idle.empty()) objects_.Delete(*idle[random_.Uniform(idle.size())]);
}

// As a provisioner says that the node was a bad choice.
void VolumeWorld::FailProvisioning() {
  for (const auto& claim : objects_.All("v1", "PersistentVolumeClaim")) {
    const json::object document = claim->Document();
    if (!TextIn(document, {"spec", "volumeName"}).empty()) continue;
    if (TextIn(document, {"metadata", "annotations", kChosenNode}).empty()) continue;
    objects_.Change(*claim, [](json::object& changed) {
      sandbox::ObjectAt(changed, {"metadata", "annotations"}).erase(kChosenNode);
    });
    return;
  }
}

// A disk whose claim is gone is wiped and offered again, under another name.
void VolumeWorld::ReplaceReleased() {
  for (const auto& volume : objects_.All("v1", "PersistentVolume")) {
    const json::object document = volume->Document();
    if (TextIn(document, {"status", "phase"}) != "Released" ||
        TextIn(document, {"spec", "storageClassName"}) != "local") {
      continue;
    }
    const std::string node = AffinityOf(document).second.front();
    objects_.Delete(*volume);
    CreateLocalVolume(node, ++volumes_made_);
    return;
  }
}

void VolumeWorld::Check(Violations& violations) {
  CheckClaims(violations);
  CheckPods(violations);
}

void VolumeWorld::CheckClaims(Violations& violations) {
  std::map<std::string, std::string> claim_of;  // by name of the volume
  for (const auto& claim : objects_.All("v1", "PersistentVolumeClaim")) {
    const std::string volume = TextIn(claim->Document(), {"spec", "volumeName"});
    if (volume.empty()) continue;
    const std::string name(claim->name());
    if (const auto [other, is_new] = claim_of.try_emplace(volume, name); !is_new) {
      violations.push_back(fmt::format("{} belongs to {} and to {}", volume, other->second, name));
    }
    if (const auto [before, is_new] = volume_of_.try_emplace(claim->uid(), volume);
        !is_new && before->second != volume) {
      violations.push_back(fmt::format("{} had {} and has {}", name, before->second, volume));
    }
  }
  std::map<std::string, std::string> bound;  // volume by uid of the claim
  for (const auto& volume : objects_.All("v1", "PersistentVolume")) {
    const json::object document = volume->Document();
    if (TextIn(document, {"status", "phase"}) != "Bound") continue;
    const std::string uid = TextIn(document, {"spec", "claimRef", "uid"});
    if (const auto [other, is_new] = bound.try_emplace(uid, volume->name()); !is_new) {
      violations.push_back(fmt::format("{} and {} are bound to one claim", other->second, volume->name()));
    }
  }
}

void VolumeWorld::CheckPods(Violations& violations) {
  std::map<std::string, json::object> claims;
  for (const auto& claim : objects_.All("v1", "PersistentVolumeClaim")) {
    claims.emplace(claim->name(), claim->Document());
  }
  std::map<std::string, json::object> volumes;
  for (const auto& volume : objects_.All("v1", "PersistentVolume")) {
    volumes.emplace(volume->name(), volume->Document());
  }
  std::map<std::string, json::object> nodes;
  for (const auto& node : objects_.All("v1", "Node")) nodes.emplace(node->name(), node->Document());
  std::map<std::string, std::set<std::string>> attached;  // handles by node
  std::map<std::string, std::string> user_of;             // of exclusive claims
  for (const auto& pod : objects_.All("v1", "Pod")) {
    const json::object document = pod->Document();
    if (!IsOurs(*pod) || !IsOnNode(document)) continue;
    const std::string node = TextIn(document, {"spec", "nodeName"});
    for (const std::string& name : VolumeClaimsOf(document)) {
      const auto claim = claims.find(name);
      if (claim == claims.end()) continue;
      if (sandbox::ViewOf(claim->second.at("spec").at("accessModes").at(0).as_string()) == kOneUser) {
        if (const auto [other, is_new] = user_of.try_emplace(name, pod->name()); !is_new) {
          violations.push_back(fmt::format("{} and {} use {}", other->second, pod->name(), name));
        }
      }
      const auto volume = volumes.find(TextIn(claim->second, {"spec", "volumeName"}));
      if (volume == volumes.end()) {
        violations.push_back(fmt::format("{} runs without the volume of {}", pod->name(), name));
        continue;
      }
      const std::string handle = TextIn(volume->second, {"spec", "csi", "volumeHandle"});
      if (!handle.empty()) attached[node].insert(handle);
      const auto [label, values] = AffinityOf(volume->second);
      const auto there = nodes.find(node);
      if (label.empty() || there == nodes.end()) continue;
      const std::string value = TextIn(there->second, {"metadata", "labels", label});
      if (std::ranges::find(values, value) == values.end()) {
        violations.push_back(fmt::format("{} on {} cannot reach {}", pod->name(), node, volume->first));
      }
    }
  }
  for (const auto& [node, handles] : attached) {
    const int limit = LimitOf(std::stoi(node.substr(node.find('-') + 1)));
    if (handles.size() > static_cast<std::size_t>(limit)) {
      violations.push_back(fmt::format("{} has {} volumes and attaches {}", node, handles.size(), limit));
    }
  }
}

}  // namespace berth::sim
