#include "sandbox/validation_kinds.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <span>

#include "base/go_text.h"
#include "sandbox/document.h"
#include "sandbox/label_query.h"
#include "sandbox/validation_pod.h"
#include "wire/json_document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kImmutable = "field is immutable";
constexpr std::int64_t kUserPriorityMax = 1'000'000'000;

bool Differs(const json::object& a, const json::object& b, Path path) {
  const json::value* left = FindValue(a, path);
  const json::value* right = FindValue(b, path);
  return left == nullptr || right == nullptr ? left != right : *left != *right;
}

std::string Shown(const json::object& document, Path path) {
  const json::value* value = FindValue(document, path);
  return value != nullptr ? wire::WriteJson(*value) : "null";
}

void CheckNotNegative(const json::object& document, Path path, std::string_view field,
                      FieldErrorList& errors) {
  const std::optional<std::int64_t> number = FindNumber(document, path);
  if (!number || *number >= 0) return;
  AddError(errors, FieldErrorType::kInvalid, field, std::to_string(*number),
           "must be greater than or equal to 0");
}

// A workload that would not find its own pods would make them for ever.
void CheckSelector(const json::object& document, FieldErrorList& errors) {
  const json::object* selector = FindObject(document, {"spec", "selector"});
  if (selector == nullptr) {
    AddError(errors, FieldErrorType::kRequired, "spec.selector", "", "");
    return;
  }
  const base::Result<api::Selector> compiled = SelectorFrom(selector);
  if (!compiled) {
    AddError(errors, FieldErrorType::kInvalid, "spec.selector", wire::WriteJson(*selector),
             "invalid label selector");
    return;
  }
  if (compiled->matches_everything()) {
    AddError(errors, FieldErrorType::kInvalid, "spec.selector", wire::WriteJson(*selector),
             "empty selector is invalid for deployment");
    return;
  }
  const json::object* labels = FindObject(document, {"spec", "template", "metadata", "labels"});
  const bool matches = compiled->Matches([&](std::string_view key) -> std::optional<std::string_view> {
    const json::value* value = labels != nullptr ? labels->if_contains(key) : nullptr;
    return value != nullptr && value->is_string() ? std::optional(ViewOf(value->get_string())) : std::nullopt;
  });
  if (!matches) {
    AddError(errors, FieldErrorType::kInvalid, "spec.template.metadata.labels",
             labels != nullptr ? wire::WriteJson(*labels) : "null",
             "`selector` does not match template `labels`");
  }
}

void CheckRestartPolicy(const json::object& document, std::span<const std::string_view> supported,
                        FieldErrorList& errors) {
  const std::string_view policy = TextAt(document, {"spec", "template", "spec", "restartPolicy"});
  if (std::ranges::find(supported, policy) != supported.end()) return;
  std::string listed;
  for (const std::string_view choice : supported)
    listed += (listed.empty() ? "" : ", ") + base::QuoteGo(choice);
  AddError(errors, FieldErrorType::kNotSupported, "spec.template.spec.restartPolicy", base::QuoteGo(policy),
           "supported values: " + listed);
}

void CheckTemplate(const json::object& document, FieldErrorList& errors) {
  static const json::object kEmpty;
  const json::object* spec = FindObject(document, {"spec", "template", "spec"});
  FieldErrorList found = ValidatePodSpec(spec != nullptr ? *spec : kEmpty, "spec.template.spec");
  std::ranges::move(found, std::back_inserter(errors));
}

constexpr std::string_view kAlways[] = {"Always"};
constexpr std::string_view kEnding[] = {"OnFailure", "Never"};

void CheckWorkload(const json::object& document, FieldErrorList& errors) {
  CheckNotNegative(document, {"spec", "replicas"}, "spec.replicas", errors);
  CheckSelector(document, errors);
  CheckTemplate(document, errors);
  CheckRestartPolicy(document, kAlways, errors);
}

// Its template alone says little: volumes come from the claim templates. The pods are checked when they are
// made.
void CheckStatefulSet(const json::object& document, FieldErrorList& errors) {
  CheckNotNegative(document, {"spec", "replicas"}, "spec.replicas", errors);
  CheckSelector(document, errors);
  CheckRestartPolicy(document, kAlways, errors);
}

void CheckJob(const json::object& document, FieldErrorList& errors) {
  for (const std::string_view key :
       {"parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished", "activeDeadlineSeconds"}) {
    CheckNotNegative(document, {"spec", key}, fmt::format("spec.{}", key), errors);
  }
  CheckTemplate(document, errors);
  CheckRestartPolicy(document, kEnding, errors);
}

void CheckBudget(const json::object& document, FieldErrorList& errors) {
  const bool has_both = FindValue(document, {"spec", "minAvailable"}) != nullptr &&
                        FindValue(document, {"spec", "maxUnavailable"}) != nullptr;
  if (has_both) {
    AddError(errors, FieldErrorType::kInvalid, "spec", Shown(document, {"spec"}),
             "minAvailable and maxUnavailable cannot be both set");
  }
}

void CheckPriorityClass(const json::object& document, FieldErrorList& errors) {
  const std::string_view name = TextAt(document, {"metadata", "name"});
  const bool is_system = name == "system-node-critical" || name == "system-cluster-critical";
  if (name.starts_with("system-") && !is_system) {
    AddError(errors, FieldErrorType::kForbidden, "metadata.name", "",
             "priority class names with 'system-' prefix are reserved for system use only. error: " +
                 fmt::format("{} is not a known system priority class", name));
  }
  if (!is_system && NumberAt(document, {"value"}) > kUserPriorityMax) {
    AddError(errors, FieldErrorType::kForbidden, "value", "",
             fmt::format("maximum allowed value of a user defined priority is {}", kUserPriorityMax));
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

void CheckSameSelector(const json::object& document, const json::object& old, FieldErrorList& errors) {
  if (Differs(document, old, {"spec", "selector"})) {
    AddError(errors, FieldErrorType::kInvalid, "spec.selector", Shown(document, {"spec", "selector"}),
             kImmutable);
  }
}

void CheckStatefulSetUpdate(const json::object& document, const json::object& old, FieldErrorList& errors) {
  constexpr std::string_view kMutable[] = {"replicas",
                                           "ordinals",
                                           "template",
                                           "updateStrategy",
                                           "revisionHistoryLimit",
                                           "persistentVolumeClaimRetentionPolicy",
                                           "minReadySeconds"};
  const auto fixed = [&](const json::object& set) {
    const json::object* found = FindObject(set, {"spec"});
    json::object spec = found != nullptr ? *found : json::object();
    for (const std::string_view key : kMutable) spec.erase(key);
    return spec;
  };
  if (fixed(document) == fixed(old)) return;
  AddError(
      errors, FieldErrorType::kForbidden, "spec", "",
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
      "'updateStrategy', "
      "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden");
}

void CheckJobUpdate(const json::object& document, const json::object& old, FieldErrorList& errors) {
  const bool may_change_template =
      FlagAt(old, {"spec", "suspend"}) && TextAt(old, {"status", "startTime"}).empty();
  CheckSameSelector(document, old, errors);
  if (!may_change_template && Differs(document, old, {"spec", "template"})) {
    AddError(errors, FieldErrorType::kInvalid, "spec.template", Shown(document, {"spec", "template"}),
             kImmutable);
  }
  const bool is_elastic = TextAt(document, {"spec", "completionMode"}) == "Indexed";
  for (const std::string_view key : {"completions", "completionMode"}) {
    if (!Differs(document, old, {"spec", key}) || (is_elastic && key == "completions")) continue;
    AddError(errors, FieldErrorType::kInvalid, fmt::format("spec.{}", key), Shown(document, {"spec", key}),
             kImmutable);
  }
}

void CheckPriorityClassUpdate(const json::object& document, const json::object& old, FieldErrorList& errors) {
  if (Differs(document, old, {"value"})) {
    AddError(errors, FieldErrorType::kForbidden, "value", "", "may not be changed in an update.");
  }
  if (Differs(document, old, {"preemptionPolicy"})) {
    AddError(errors, FieldErrorType::kInvalid, "preemptionPolicy", Shown(document, {"preemptionPolicy"}),
             kImmutable);
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

struct KindRules {
  std::string_view api_version;
  std::string_view kind;
  void (*check)(const json::object& document, FieldErrorList& errors);
  void (*check_update)(const json::object& document, const json::object& old, FieldErrorList& errors);
};

constexpr KindRules kRules[] = {
    {"apps/v1", "Deployment", CheckWorkload, CheckSameSelector},
    {"apps/v1", "ReplicaSet", CheckWorkload, CheckSameSelector},
    {"apps/v1", "DaemonSet", CheckWorkload, CheckSameSelector},
    {"apps/v1", "StatefulSet", CheckStatefulSet, CheckStatefulSetUpdate},
    {"batch/v1", "Job", CheckJob, CheckJobUpdate},
    {"policy/v1", "PodDisruptionBudget", CheckBudget, nullptr},
    {"scheduling.k8s.io/v1", "PriorityClass", CheckPriorityClass, CheckPriorityClassUpdate},
    {"storage.k8s.io/v1", "StorageClass", CheckStorageClass, CheckStorageClassUpdate},
    {"v1", "PersistentVolumeClaim", CheckClaim, CheckClaimUpdate},
};

const KindRules* RulesOf(const Resource& resource) {
  const auto it = std::ranges::find_if(kRules, [&](const KindRules& rules) {
    return rules.kind == resource.kind && rules.api_version == resource.api_version;
  });
  return it != std::end(kRules) ? it : nullptr;
}

}  // namespace

FieldErrorList ValidateKind(const Resource& resource, const json::object& document) {
  FieldErrorList errors;
  if (const KindRules* rules = RulesOf(resource)) rules->check(document, errors);
  return errors;
}

FieldErrorList ValidateKindUpdate(const Resource& resource, const json::object& document,
                                  const json::object& old) {
  FieldErrorList errors;
  const KindRules* rules = RulesOf(resource);
  if (rules == nullptr) return errors;
  rules->check(document, errors);
  if (rules->check_update != nullptr) rules->check_update(document, old, errors);
  return errors;
}

}  // namespace berth::sandbox
