#include "sim/device_world.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <map>
#include <utility>
#include <vector>

#include "sandbox/document.h"

namespace berth::sim {
namespace {

namespace json = boost::json;

constexpr std::string_view kDevices = "resource.k8s.io/v1";
constexpr std::string_view kDeviceDriver = "devices.example.com";

json::object Request(std::string_view name, std::string_view device_class, int count) {
  return {
      {"name", name},
      {"exactly",
       json::object{{"deviceClassName", device_class}, {"allocationMode", "ExactCount"}, {"count", count}}}};
}

// One of a few kinds of claim.
json::object DeviceClaimSpec(std::uint64_t kind) {
  json::array requests;
  if (kind == 0) {
    requests.push_back(Request("r", "any", 1));
  } else if (kind == 1) {
    requests.push_back(Request("r", "any", 2));
  } else if (kind == 2) {
    requests.push_back(Request("a", "any", 1));
    requests.push_back(Request("b", "large", 1));
  } else {
    json::object large{
        {"name", "large"}, {"deviceClassName", "large"}, {"allocationMode", "ExactCount"}, {"count", 2}};
    json::object any{
        {"name", "any"}, {"deviceClassName", "any"}, {"allocationMode", "ExactCount"}, {"count", 1}};
    requests.push_back(
        json::object{{"name", "r"}, {"firstAvailable", json::array{std::move(large), std::move(any)}}});
  }
  return {{"devices", json::object{{"requests", std::move(requests)}}}};
}

json::object DeviceClass(std::string name, std::string expression) {
  json::object made = Named(std::move(name));
  json::object selector{{"cel", json::object{{"expression", std::move(expression)}}}};
  made["spec"] = json::object{{"selectors", json::array{std::move(selector)}}};
  return made;
}

// The names of the claims that the pod uses, as far as they are made.
std::vector<std::string> NamedClaims(const json::object& pod) {
  std::vector<std::string> names;
  const json::array* const entries = sandbox::FindArray(pod, {"spec", "resourceClaims"});
  const json::array* const made = sandbox::FindArray(pod, {"status", "resourceClaimStatuses"});
  if (entries != nullptr) {
    for (const json::value& entry : *entries) {
      if (std::string name = TextIn(entry.as_object(), {"resourceClaimName"}); !name.empty()) {
        names.push_back(std::move(name));
      }
    }
  }
  if (made != nullptr) {
    for (const json::value& status : *made)
      names.push_back(TextIn(status.as_object(), {"resourceClaimName"}));
  }
  return names;
}

const json::array* ResultsOf(const json::object& claim) {
  return sandbox::FindArray(claim, {"status", "allocation", "devices", "results"});
}

bool IsReservedFor(const json::object& claim, std::string_view uid) {
  const json::array* const users = sandbox::FindArray(claim, {"status", "reservedFor"});
  return users != nullptr && std::ranges::any_of(*users, [&](const json::value& user) {
           return TextIn(user.as_object(), {"uid"}) == uid;
         });
}

}  // namespace

json::object DeviceWorld::Slice(int number, int generation, int devices) const {
  const std::string node = fmt::format("node-{}", number);
  json::array list;
  for (int i = 0; i < devices; ++i) {
    json::object attributes{{"size", json::object{{"int", i % 2 + 1}}}};
    list.push_back(json::object{{"name", fmt::format("d{}", i)}, {"attributes", std::move(attributes)}});
  }
  json::object slice = Named("slice-" + node);
  json::object pool{{"name", node}, {"generation", generation}, {"resourceSliceCount", 1}};
  slice["spec"] = json::object{
      {"driver", kDeviceDriver}, {"nodeName", node}, {"pool", std::move(pool)}, {"devices", std::move(list)}};
  return slice;
}

void DeviceWorld::Begin() {
  const std::string ours = fmt::format("device.driver == \"{}\"", kDeviceDriver);
  objects_.Create(kDevices, "DeviceClass", DeviceClass("any", ours));
  objects_.Create(
      kDevices, "DeviceClass",
      DeviceClass("large", fmt::format("{} && device.attributes[\"{}\"].size >= 2", ours, kDeviceDriver)));
  for (std::uint64_t kind = 0; kind < 4; ++kind) {
    json::object made = Named(fmt::format("kind-{}", kind));
    made["spec"] = json::object{{"spec", DeviceClaimSpec(kind)}};
    objects_.Create(kDevices, "ResourceClaimTemplate", std::move(made));
  }
  for (int number = 1; number <= size_.nodes; ++number) {
    objects_.Create(kDevices, "ResourceSlice", Slice(number, 1, 1 + number % 4));
  }
}

void DeviceWorld::Act() {
  const std::uint64_t what = random_.Uniform(100);
  if (what < 50) {
    CreatePod();
  } else if (what < 78) {
    DeletePod();
  } else if (what < 86) {
    DeleteSharedClaim();
  } else if (what < 95) {
    ChangeSlice();
  } else {
    ToggleRule();
  }
}

void DeviceWorld::CreatePod() {
  std::size_t count = 0;
  for (const auto& pod : objects_.All("v1", "Pod")) count += IsOurs(*pod) ? 1 : 0;
  if (count >= static_cast<std::size_t>(size_.pods)) return;
  json::object entry{{"name", "entry"}};
  if (random_.Chance(0.6)) {
    entry["resourceClaimTemplateName"] = fmt::format("kind-{}", random_.Uniform(4));
  } else {
    if (claims_made_ == 0 || random_.Chance(0.4)) {
      json::object claim = Named(fmt::format("shared-{}", ++claims_made_));
      claim["spec"] = DeviceClaimSpec(random_.Uniform(4));
      objects_.Create(kDevices, "ResourceClaim", std::move(claim));
    }
    // It may be gone already: then the pod has to wait for ever.
    const int last = std::max(1, claims_made_ - 2);
    entry["resourceClaimName"] = fmt::format(
        "shared-{}",
        last + static_cast<int>(random_.Uniform(static_cast<std::uint64_t>(claims_made_ - last + 1))));
  }
  json::object pod = SmallPod(fmt::format("dev-{}", ++pods_made_), "devices");
  json::object& spec = pod["spec"].as_object();
  spec["resourceClaims"] = json::array{std::move(entry)};
  spec["containers"].as_array().front().as_object()["resources"].as_object()["claims"] =
      json::array{json::object{{"name", "entry"}}};
  objects_.Create("v1", "Pod", std::move(pod));
}

void DeviceWorld::DeletePod() {
  std::vector<sandbox::RevisionPtr> ours;
  for (const auto& pod : objects_.All("v1", "Pod")) {
    if (IsOurs(*pod)) ours.push_back(pod);
  }
  if (!ours.empty()) objects_.Delete(*ours[random_.Uniform(ours.size())], random_.Chance(0.5));
}

// A claim that is in use is only marked, and goes when nobody uses it any more.
void DeviceWorld::DeleteSharedClaim() {
  std::vector<sandbox::RevisionPtr> shared;
  for (const auto& claim : objects_.All(kDevices, "ResourceClaim")) {
    if (claim->name().starts_with("shared-")) shared.push_back(claim);
  }
  if (!shared.empty()) objects_.Delete(*shared[random_.Uniform(shared.size())]);
}

// The driver publishes another set of devices; those that are in use may be missing from it.
void DeviceWorld::ChangeSlice() {
  const auto slices = objects_.All(kDevices, "ResourceSlice");
  const sandbox::Revision& slice = *slices[random_.Uniform(slices.size())];
  const int devices = static_cast<int>(random_.Uniform(5));
  const int number = std::stoi(std::string(slice.name().substr(slice.name().rfind('-') + 1)));
  objects_.Change(slice, [&](json::object& changed) {
    const auto generation = changed.at("spec").at("pool").at("generation").to_number<int>();
    changed["spec"] = Slice(number, generation + 1, devices).at("spec");
  });
}

void DeviceWorld::ToggleRule() {
  const auto rules = objects_.All(kDevices, "DeviceTaintRule");
  if (!rules.empty()) {
    objects_.Delete(*rules.front());
    return;
  }
  json::object rule = Named("rule");
  json::object selector{{"driver", kDeviceDriver}, {"device", "d0"}};
  json::object taint{{"key", "broken"}, {"effect", "NoSchedule"}};
  rule["spec"] = json::object{{"deviceSelector", std::move(selector)}, {"taint", std::move(taint)}};
  objects_.Create(kDevices, "DeviceTaintRule", std::move(rule));
}

void DeviceWorld::Check(Violations& violations) {
  std::map<std::string, json::object> claims;
  std::map<std::string, std::string> user_of;  // of devices
  for (const auto& claim : objects_.All(kDevices, "ResourceClaim")) {
    json::object document = claim->Document();
    if (const json::array* const results = ResultsOf(document)) {
      allocated_.insert(claim->uid());
      for (const json::value& result : *results) {
        const std::string device =
            TextIn(result.as_object(), {"pool"}) + "/" + TextIn(result.as_object(), {"device"});
        if (const auto [other, is_new] = user_of.try_emplace(device, claim->name()); !is_new) {
          violations.push_back(
              fmt::format("{} belongs to {} and to {}", device, other->second, claim->name()));
        }
      }
    }
    claims.emplace(claim->name(), std::move(document));
  }
  for (const auto& pod : objects_.All("v1", "Pod")) {
    const json::object document = pod->Document();
    if (!IsOurs(*pod) || !IsOnNode(document)) continue;
    const std::string node = TextIn(document, {"spec", "nodeName"});
    for (const std::string& name : NamedClaims(document)) {
      const auto claim = claims.find(name);
      const json::array* const results = claim == claims.end() ? nullptr : ResultsOf(claim->second);
      if (results == nullptr) {
        violations.push_back(fmt::format("{} runs without the devices of {}", pod->name(), name));
        continue;
      }
      if (!IsReservedFor(claim->second, pod->uid())) {
        violations.push_back(fmt::format("{} uses {} which is not reserved for it", pod->name(), name));
      }
      for (const json::value& result : *results) {
        if (const std::string pool = TextIn(result.as_object(), {"pool"}); pool != node) {
          violations.push_back(fmt::format("{} on {} has a device of {}", pod->name(), node, pool));
        }
      }
    }
  }
}

void DeviceWorld::CheckNothingIsHeld(Violations& violations) const {
  for (const auto& claim : objects_.All(kDevices, "ResourceClaim")) {
    const json::object document = claim->Document();
    const json::array* const users = sandbox::FindArray(document, {"status", "reservedFor"});
    if (users != nullptr && !users->empty()) {
      violations.push_back(fmt::format("{} is reserved when all pods are gone", claim->name()));
    }
    if (!claim->name().starts_with("shared-")) {
      violations.push_back(fmt::format("{} is there when all pods are gone{}", claim->name(),
                                       ResultsOf(document) != nullptr ? ", with devices" : ""));
    }
  }
}

}  // namespace berth::sim
