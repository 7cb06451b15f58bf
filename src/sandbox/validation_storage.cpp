#include "sandbox/validation_storage.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <set>

#include "base/go_text.h"
#include "sandbox/document.h"
#include "sandbox/field_rules.h"
#include "sandbox/validation_placement.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 4> kAccessModes = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                                          "ReadWriteOncePod"};

// Everything else in the spec of a volume is where it is stored.
constexpr std::string_view kNoSource[] = {"accessModes",      "capacity",
                                          "claimRef",         "mountOptions",
                                          "nodeAffinity",     "persistentVolumeReclaimPolicy",
                                          "storageClassName", "volumeAttributesClassName",
                                          "volumeMode"};

void CheckModes(const json::object& spec, FieldErrorList& errors) {
  const json::array* modes = FindArray(spec, {"accessModes"});
  if (modes == nullptr) return;
  bool is_exclusive = false;
  bool is_shared = false;
  for (const json::value& mode : *modes) {
    const bool is_known = std::ranges::find(kAccessModes, TextOf(mode)) != kAccessModes.end();
    if (!is_known) UnsupportedChoice(errors, "spec.accessModes", TextOf(mode), kAccessModes);
    is_exclusive = is_exclusive || TextOf(mode) == "ReadWriteOncePod";
    is_shared = is_shared || (is_known && TextOf(mode) != "ReadWriteOncePod");
  }
  if (is_exclusive && is_shared) {
    ForbidField(errors, "spec.accessModes", "may not use ReadWriteOncePod with other access modes");
  }
}

void CheckCapacity(const json::object& spec, FieldErrorList& errors) {
  const json::object* capacity = FindObject(spec, {"capacity"});
  if (capacity == nullptr || capacity->empty()) RequireField(errors, "spec.capacity");
  if (capacity == nullptr || !capacity->contains("storage") || capacity->size() > 1) {
    AddError(errors, FieldErrorType::kNotSupported, "spec.capacity", Shown(spec, {"capacity"}),
             "supported values: \"storage\"");
  }
}

json::object SourceOf(const json::object& document) {
  const json::object* found = FindObject(document, {"spec"});
  json::object source = found != nullptr ? *found : json::object();
  for (const std::string_view key : kNoSource) source.erase(key);
  return source;
}

}  // namespace

void CheckVolume(const json::object& document, FieldErrorList& errors) {
  constexpr std::array<std::string_view, 3> kPolicies = {"Delete", "Recycle", "Retain"};
  constexpr std::array<std::string_view, 2> kModes = {"Block", "Filesystem"};
  static const json::object kEmpty;
  const json::object* found = FindObject(document, {"spec"});
  const json::object& spec = found != nullptr ? *found : kEmpty;
  const json::array* modes = FindArray(spec, {"accessModes"});
  if (modes == nullptr || modes->empty()) RequireField(errors, "spec.accessModes");
  CheckModes(spec, errors);
  CheckCapacity(spec, errors);
  CheckChoice(spec, "persistentVolumeReclaimPolicy", kPolicies, "spec", errors);
  if (const json::object* required = FindObject(spec, {"nodeAffinity", "required"})) {
    CheckNodeSelector(*required, "spec.nodeAffinity.required", errors);
  } else if (FindObject(spec, {"nodeAffinity"}) != nullptr) {
    RequireField(errors, "spec.nodeAffinity.required", "must specify required node constraints");
  }
  const json::object source = SourceOf(document);
  if (source.empty()) RequireField(errors, "spec", "must specify a volume type");
  if (source.contains("local") && FindObject(spec, {"nodeAffinity"}) == nullptr) {
    RequireField(errors, "spec.nodeAffinity", "Local volume requires node affinity");
  }
  if (const std::string_view name = TextAt(spec, {"storageClassName"}); !name.empty()) {
    CheckSubdomain(name, "spec.storageClassName", errors);
  }
  CheckChoice(spec, "volumeMode", kModes, "spec", errors);
}

void CheckVolumeUpdate(const json::object& document, const json::object& old, FieldErrorList& errors) {
  if (SourceOf(document) != SourceOf(old)) {
    ForbidField(errors, "spec.persistentvolumesource",
                "spec.persistentvolumesource is immutable after creation");
  }
  if (Differs(document, old, {"spec", "volumeMode"})) {
    AddError(errors, FieldErrorType::kInvalid, "volumeMode", Shown(document, {"spec", "volumeMode"}),
             kImmutable);
  }
}

void CheckStorageClass(const json::object& document, FieldErrorList& errors) {
  if (TextAt(document, {"provisioner"}).empty())
    AddError(errors, FieldErrorType::kRequired, "provisioner", "", "");
}

void CheckClaim(const json::object& document, FieldErrorList& errors) {
  const json::array* modes = FindArray(document, {"spec", "accessModes"});
  if (modes == nullptr || modes->empty()) {
    AddError(errors, FieldErrorType::kRequired, "spec.accessModes", "", "at least 1 access mode is required");
  }
  if (FindValue(document, {"spec", "resources", "requests", "storage"}) == nullptr) {
    AddError(errors, FieldErrorType::kRequired, "spec.resources[storage]", "", "");
  }
}

// A claim is what its volume was bound for: it may be given one, and may grow.
void CheckClaimUpdate(const json::object& document, const json::object& old, FieldErrorList& errors) {
  const auto fixed = [&](const json::object& claim) {
    const json::object* found = FindObject(claim, {"spec"});
    json::object spec = found != nullptr ? *found : json::object();
    RemoveAt(spec, {"resources", "requests"});
    spec.erase("volumeAttributesClassName");
    if (TextAt(old, {"spec", "volumeName"}).empty()) spec.erase("volumeName");
    return spec;
  };
  if (fixed(document) == fixed(old)) return;
  AddError(
      errors, FieldErrorType::kForbidden, "spec", "",
      "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound "
      "claims");
}

void CheckStorageClassUpdate(const json::object& document, const json::object& old, FieldErrorList& errors) {
  for (const std::string_view key : {"parameters", "provisioner", "reclaimPolicy"}) {
    if (!Differs(document, old, {key})) continue;
    AddError(errors, FieldErrorType::kForbidden, key, "", fmt::format("updates to {} are forbidden.", key));
  }
  if (Differs(document, old, {"volumeBindingMode"})) {
    AddError(errors, FieldErrorType::kInvalid, "volumeBindingMode", Shown(document, {"volumeBindingMode"}),
             kImmutable);
  }
}

void CheckCsiNode(const json::object& document, FieldErrorList& errors) {
  constexpr std::size_t kNodeIdMax = 256;
  const json::object* spec = FindObject(document, {"spec"});
  if (spec == nullptr) return;
  std::set<std::string_view> names;
  ForEachElement(*spec, "drivers", "spec", [&](const json::object& driver, const std::string& at) {
    const std::string_view name = TextAt(driver, {"name"});
    const std::string_view node = TextAt(driver, {"nodeID"});
    if (name.empty()) RequireField(errors, at + ".name");
    if (node.empty()) RequireField(errors, at + ".nodeID");
    if (node.size() > kNodeIdMax) {
      AddError(errors, FieldErrorType::kInvalid, at + ".nodeID", base::QuoteGo(node),
               fmt::format("must be {} characters or less", kNodeIdMax));
    }
    if (const json::object* allocatable = FindObject(driver, {"allocatable"})) {
      CheckNotNegative(*allocatable, "count", at + ".allocatable", errors);
    }
    if (!names.insert(name).second) {
      AddError(errors, FieldErrorType::kDuplicate, at + ".name", base::QuoteGo(name), "");
    }
    if (const json::array* keys = FindArray(driver, {"topologyKeys"})) {
      for (const json::value& key : *keys) CheckLabelKey(TextOf(key), at, errors);
    }
  });
}

}  // namespace berth::sandbox
