#include "sandbox/validation_kinds.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <span>

#include "base/go_text.h"
#include "sandbox/document.h"
#include "sandbox/field_rules.h"
#include "sandbox/label_query.h"
#include "sandbox/validation_devices.h"
#include "sandbox/validation_placement.h"
#include "sandbox/validation_pod.h"
#include "sandbox/validation_storage.h"
#include "wire/json_document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::int64_t kUserPriorityMax = 1'000'000'000;

void CheckSpecNumber(const json::object& document, std::string_view key, FieldErrorList& errors) {
  if (const json::object* spec = FindObject(document, {"spec"})) CheckNotNegative(*spec, key, "spec", errors);
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
  UnsupportedChoice(errors, "spec.template.spec.restartPolicy", policy, supported);
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
  CheckSpecNumber(document, "replicas", errors);
  CheckSelector(document, errors);
  CheckTemplate(document, errors);
  CheckRestartPolicy(document, kAlways, errors);
}

// Its template alone says little: volumes come from the claim templates. The pods are checked when they are
// made.
void CheckStatefulSet(const json::object& document, FieldErrorList& errors) {
  CheckSpecNumber(document, "replicas", errors);
  CheckSelector(document, errors);
  CheckRestartPolicy(document, kAlways, errors);
}

void CheckJob(const json::object& document, FieldErrorList& errors) {
  for (const std::string_view key :
       {"parallelism", "completions", "backoffLimit", "ttlSecondsAfterFinished", "activeDeadlineSeconds"}) {
    CheckSpecNumber(document, key, errors);
  }
  CheckTemplate(document, errors);
  // It is what a template gets that says nothing, so that the answer is as if nothing had been said.
  if (TextAt(document, {"spec", "template", "spec", "restartPolicy"}) == "Always") {
    RequireField(errors, "spec.template.spec.restartPolicy", "valid values: \"OnFailure\", \"Never\"");
    return;
  }
  CheckRestartPolicy(document, kEnding, errors);
}

// A number that is not negative, or a share, of at most 100% unless there may be more.
struct ShareRule {
  std::string path = "spec";
  bool may_exceed_whole = false;
};
void CheckShare(const json::object& holder, std::string_view key, const ShareRule& rule,
                FieldErrorList& errors) {
  const json::value* value = holder.if_contains(key);
  if (value == nullptr) return;
  const std::string field = fmt::format("{}.{}", rule.path, key);
  if (!value->is_string()) {
    CheckNotNegative(holder, key, rule.path, errors);
    return;
  }
  const std::string_view text = TextOf(*value);
  const std::string_view digits = text.substr(0, text.empty() ? 0 : text.size() - 1);
  const bool is_share = text.ends_with('%') && !digits.empty() &&
                        std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  if (!is_share) {
    AddError(errors, FieldErrorType::kInvalid, field, base::QuoteGo(text),
             "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or "
             "'93%', regex used for validation is '[0-9]+%')");
  } else if (!rule.may_exceed_whole && (digits.size() > 3 || std::stoi(std::string(digits)) > 100)) {
    AddError(errors, FieldErrorType::kInvalid, field, base::QuoteGo(text), "must not be greater than 100%");
  }
}

// "0", 0 and "0%" alike.
bool IsNoShare(const json::object& holder, std::string_view key) {
  const json::value* value = holder.if_contains(key);
  if (value == nullptr || !value->is_string()) return value == nullptr || value->to_number<double>() == 0;
  const std::string_view text = TextOf(*value);
  return text.find_first_not_of("0%") == std::string_view::npos;
}

void CheckRollingUpdate(const json::object& update, FieldErrorList& errors) {
  const std::string path = "spec.strategy.rollingUpdate";
  CheckShare(update, "maxUnavailable", {.path = path}, errors);
  CheckShare(update, "maxSurge", {.path = path, .may_exceed_whole = true}, errors);
  if (IsNoShare(update, "maxUnavailable") && IsNoShare(update, "maxSurge")) {
    AddError(errors, FieldErrorType::kInvalid, path + ".maxUnavailable", Shown(update, {"maxUnavailable"}),
             "may not be 0 when `maxSurge` is 0");
  }
}

void CheckDeployment(const json::object& document, FieldErrorList& errors) {
  CheckWorkload(document, errors);
  const json::object* strategy = FindObject(document, {"spec", "strategy"});
  if (strategy == nullptr) return;
  const std::string_view type = TextAt(*strategy, {"type"});
  const json::object* update = FindObject(*strategy, {"rollingUpdate"});
  if (type == "Recreate") {
    if (update != nullptr) {
      ForbidField(errors, "spec.strategy.rollingUpdate",
                  "may not be specified when strategy `type` is 'Recreate'");
    }
  } else if (type == "RollingUpdate") {
    if (update != nullptr) CheckRollingUpdate(*update, errors);
  } else {
    // Upstream prints its own form of the whole strategy.
    json::object shown{{"Type", type}, {"RollingUpdate", nullptr}};
    if (update != nullptr) {
      json::object& inner = shown["RollingUpdate"].emplace_object();
      for (const auto& [name, key] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
               {"MaxUnavailable", "maxUnavailable"}, {"MaxSurge", "maxSurge"}}) {
        const json::value* value = update->if_contains(key);
        inner[name] = value != nullptr ? *value : json::value(0);
      }
    }
    AddError(errors, FieldErrorType::kNotSupported, "spec.strategy", wire::WriteJson(shown),
             "supported values: \"Recreate\", \"RollingUpdate\"");
  }
}

void CheckBudget(const json::object& document, FieldErrorList& errors) {
  constexpr std::array<std::string_view, 2> kPolicies = {"AlwaysAllow", "IfHealthyBudget"};
  const json::object* spec = FindObject(document, {"spec"});
  if (spec == nullptr) return;
  if (spec->contains("minAvailable") && spec->contains("maxUnavailable")) {
    // Upstream prints its own form of the spec.
    json::object shown;
    for (const auto& [name, key] : std::initializer_list<std::pair<std::string_view, std::string_view>>{
             {"MinAvailable", "minAvailable"},
             {"Selector", "selector"},
             {"MaxUnavailable", "maxUnavailable"},
             {"UnhealthyPodEvictionPolicy", "unhealthyPodEvictionPolicy"}}) {
      const json::value* value = spec->if_contains(key);
      shown[name] = value != nullptr ? *value : json::value();
    }
    AddError(errors, FieldErrorType::kInvalid, "spec", wire::WriteJson(shown),
             "minAvailable and maxUnavailable cannot be both set");
  }
  CheckShare(*spec, "minAvailable", {}, errors);
  CheckShare(*spec, "maxUnavailable", {}, errors);
  CheckLabelSelector(FindObject(*spec, {"selector"}), "spec.selector", errors);
  CheckChoice(*spec, "unhealthyPodEvictionPolicy", kPolicies, "spec", errors);
}

void CheckConfigMap(const json::object& document, FieldErrorList& errors) {
  constexpr std::size_t kBytesMax = 1024 * 1024;
  const json::object* binary = FindObject(document, {"binaryData"});
  std::size_t bytes = 0;
  for (const std::string_view part : {"data", "binaryData"}) {
    const json::object* data = FindObject(document, {part});
    if (data == nullptr) continue;
    for (const json::key_value_pair& entry : *data) {
      const std::string_view key(entry.key().data(), entry.key().size());
      const std::string field = fmt::format("{}[{}]", part, key);
      AddProblems(errors, field, key, ConfigKeyProblems(key));
      if (part == "data" && binary != nullptr && binary->contains(key)) {
        AddError(errors, FieldErrorType::kInvalid, field, base::QuoteGo(key),
                 "duplicate of key present in binaryData");
      }
      // Binary data stands in base64 here.
      const std::size_t size = TextOf(entry.value()).size();
      bytes += part == "data" ? size : size / 4 * 3;
    }
  }
  if (bytes > kBytesMax) {
    AddError(errors, FieldErrorType::kTooLong, "", "",
             fmt::format("may not be more than {} bytes", kBytesMax));
  }
}

void CheckConfigMapUpdate(const json::object& document, const json::object& old, FieldErrorList& errors) {
  if (!FlagAt(old, {"immutable"})) return;
  for (const std::string_view key : {"immutable", "data", "binaryData"}) {
    if (Differs(document, old, {key})) {
      ForbidField(errors, key, "field is immutable when `immutable` is set");
    }
  }
}

void CheckLease(const json::object& document, FieldErrorList& errors) {
  const json::object* spec = FindObject(document, {"spec"});
  if (spec == nullptr) return;
  const std::optional<std::int64_t> duration = FindNumber(*spec, {"leaseDurationSeconds"});
  if (duration && *duration <= 0) {
    AddError(errors, FieldErrorType::kInvalid, "spec.leaseDurationSeconds", std::to_string(*duration),
             "must be greater than 0");
  }
  CheckNotNegative(*spec, "leaseTransitions", "spec", errors);
}

void CheckDeviceClaimUpdate(const json::object& document, const json::object& old, FieldErrorList& errors) {
  if (!Differs(document, old, {"spec"})) return;
  AddError(errors, FieldErrorType::kInvalid, "spec", Shown(document, {"spec"}), kImmutable);
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

struct KindRules {
  std::string_view api_version;
  std::string_view kind;
  void (*check)(const json::object& document, FieldErrorList& errors);
  void (*check_update)(const json::object& document, const json::object& old, FieldErrorList& errors);
};

constexpr KindRules kRules[] = {
    {"apps/v1", "Deployment", CheckDeployment, CheckSameSelector},
    {"apps/v1", "ReplicaSet", CheckWorkload, CheckSameSelector},
    {"apps/v1", "DaemonSet", CheckWorkload, CheckSameSelector},
    {"apps/v1", "StatefulSet", CheckStatefulSet, CheckStatefulSetUpdate},
    {"batch/v1", "Job", CheckJob, CheckJobUpdate},
    {"policy/v1", "PodDisruptionBudget", CheckBudget, nullptr},
    {"scheduling.k8s.io/v1", "PriorityClass", CheckPriorityClass, CheckPriorityClassUpdate},
    {"storage.k8s.io/v1", "StorageClass", CheckStorageClass, CheckStorageClassUpdate},
    {"storage.k8s.io/v1", "CSINode", CheckCsiNode, nullptr},
    {"resource.k8s.io/v1", "DeviceClass", CheckDeviceClass, nullptr},
    {"resource.k8s.io/v1", "ResourceClaim", CheckDeviceClaim, CheckDeviceClaimUpdate},
    {"resource.k8s.io/v1", "ResourceClaimTemplate", CheckDeviceClaimTemplate, CheckDeviceClaimUpdate},
    {"coordination.k8s.io/v1", "Lease", CheckLease, nullptr},
    {"v1", "ConfigMap", CheckConfigMap, CheckConfigMapUpdate},
    {"v1", "Node", CheckTaints, nullptr},
    {"v1", "PersistentVolume", CheckVolume, CheckVolumeUpdate},
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
