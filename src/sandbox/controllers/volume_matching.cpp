#include "sandbox/controllers/volume_matching.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <optional>

#include "api/quantity.h"
#include "sandbox/document.h"
#include "sandbox/label_query.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";

// What cannot be read counts as nothing.
bool IsLess(std::string_view a, std::string_view b) {
  const auto left = api::Quantity::Parse(a);
  const auto right = api::Quantity::Parse(b);
  return left.value_or(api::Quantity()).Compare(right.value_or(api::Quantity())) < 0;
}

bool HasAll(const json::array* offered, const json::array* wanted) {
  if (wanted == nullptr) return true;
  return std::ranges::all_of(*wanted, [&](const json::value& mode) {
    return offered != nullptr && std::ranges::find(*offered, mode) != offered->end();
  });
}

bool MatchesLabels(const json::object& volume, const json::object& claim) {
  const json::object* wanted = FindObject(claim, {"spec", "selector"});
  if (wanted == nullptr) return true;
  const base::Result<api::Selector> selector = SelectorFrom(wanted);
  const json::object* labels = FindObject(volume, {"metadata", "labels"});
  return selector && selector->Matches([&](std::string_view key) -> std::optional<std::string_view> {
    const json::value* value = labels != nullptr ? labels->if_contains(key) : nullptr;
    return value != nullptr && value->is_string() ? std::optional(ViewOf(value->get_string())) : std::nullopt;
  });
}

}  // namespace

bool CanServe(const json::object& volume, const json::object& claim) {
  return TextAt(volume, {"spec", "storageClassName"}) == TextAt(claim, {"spec", "storageClassName"}) &&
         TextAt(volume, {"spec", "volumeMode"}) == TextAt(claim, {"spec", "volumeMode"}) &&
         HasAll(FindArray(volume, {"spec", "accessModes"}), FindArray(claim, {"spec", "accessModes"})) &&
         !IsLess(TextAt(volume, {"spec", "capacity", "storage"}),
                 TextAt(claim, {"spec", "resources", "requests", "storage"})) &&
         MatchesLabels(volume, claim);
}

bool IsSmaller(const json::object& a, const json::object& b) {
  return IsLess(TextAt(a, {"spec", "capacity", "storage"}), TextAt(b, {"spec", "capacity", "storage"}));
}

bool PointsAt(const json::object& volume, const json::object& claim) {
  const json::object* reference = FindObject(volume, {"spec", "claimRef"});
  if (reference == nullptr) return false;
  const std::string_view uid = TextAt(*reference, {"uid"});
  return TextAt(*reference, {"name"}) == TextAt(claim, {"metadata", "name"}) &&
         TextAt(*reference, {"namespace"}) == TextAt(claim, {"metadata", "namespace"}) &&
         (uid.empty() || uid == TextAt(claim, {"metadata", "uid"}));
}

void SetClaimRef(json::object& volume, const json::object& claim) {
  json::object reference;
  reference["kind"] = "PersistentVolumeClaim";
  reference["apiVersion"] = "v1";
  for (const std::string_view key : {"namespace", "name", "uid", "resourceVersion"}) {
    reference[key] = TextAt(claim, {"metadata", key});
  }
  ObjectAt(volume, {"spec"})["claimRef"] = std::move(reference);
}

json::object MakeVolume(const ProvisionWish& wish) {
  const std::string name = fmt::format("pvc-{}", TextAt(wish.claim, {"metadata", "uid"}));
  const std::string driver(TextAt(wish.storage_class, {"provisioner"}));
  json::object volume;
  ObjectAt(volume, {"metadata"})["name"] = name;
  ObjectAt(volume, {"metadata", "annotations"})["pv.kubernetes.io/provisioned-by"] = driver;
  json::object& spec = ObjectAt(volume, {"spec"});
  spec["capacity"] = json::object(
      {{"storage", json::string(TextAt(wish.claim, {"spec", "resources", "requests", "storage"}))}});
  for (const std::string_view key : {"accessModes", "volumeMode", "storageClassName"}) {
    if (const json::value* value = FindValue(wish.claim, {"spec", key})) spec[key] = *value;
  }
  if (const json::value* options = wish.storage_class.if_contains("mountOptions"))
    spec["mountOptions"] = *options;
  spec["persistentVolumeReclaimPolicy"] = TextAt(wish.storage_class, {"reclaimPolicy"});
  json::object& csi = ObjectAt(volume, {"spec", "csi"});
  csi["driver"] = driver;
  csi["volumeHandle"] = name;
  SetClaimRef(volume, wish.claim);
  const std::string zone(wish.node != nullptr ? TextAt(*wish.node, {"metadata", "labels", kZone}) : "");
  if (zone.empty()) return volume;
  json::object requirement;
  requirement["key"] = kZone;
  requirement["operator"] = "In";
  requirement["values"] = json::array({json::string(zone)});
  json::object term({{"matchExpressions", json::array({std::move(requirement)})}});
  ObjectAt(volume, {"spec", "nodeAffinity", "required"})["nodeSelectorTerms"] =
      json::array({std::move(term)});
  return volume;
}

}  // namespace berth::sandbox
