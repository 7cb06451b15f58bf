#include "sandbox/validation_pod.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "api/quantity.h"
#include "api/validation.h"
#include "base/go_text.h"
#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 2> kContainerLists = {"containers", "initContainers"};

void CheckChoice(const json::object& object, std::string_view key, std::span<const std::string_view> choices,
                 const std::string& path, FieldErrorList& errors) {
  const std::string_view value = TextAt(object, {key});
  if (value.empty() || std::ranges::find(choices, value) != choices.end()) return;
  std::vector<std::string> quoted;
  for (const std::string_view choice : choices) quoted.push_back(base::QuoteGo(choice));
  AddError(errors, FieldErrorType::kNotSupported, fmt::format("{}.{}", path, key), base::QuoteGo(value),
           fmt::format("supported values: {}", fmt::join(quoted, ", ")));
}

std::string_view TextOf(const json::value& value) {
  return value.is_string() ? ViewOf(value.get_string()) : std::string_view();
}

void CheckResources(const json::object& container, const std::string& path, FieldErrorList& errors) {
  for (const std::string_view list : {"limits", "requests"}) {
    const json::object* amounts = FindObject(container, {"resources", list});
    if (amounts == nullptr) continue;
    for (const json::key_value_pair& amount : *amounts) {
      const auto parsed = api::Quantity::Parse(TextOf(amount.value()));
      if (!parsed || parsed->Compare(api::Quantity()) >= 0) continue;
      AddError(errors, FieldErrorType::kInvalid,
               fmt::format("{}.resources.{}[{}]", path, list, std::string_view(amount.key())),
               base::QuoteGo(TextOf(amount.value())), "must be greater than or equal to 0");
    }
  }
  const json::object* requests = FindObject(container, {"resources", "requests"});
  if (requests == nullptr) return;
  for (const json::key_value_pair& request : *requests) {
    const std::string_view name = request.key();
    const std::string_view limit_text = TextAt(container, {"resources", "limits", name});
    const auto limit = api::Quantity::Parse(limit_text);
    const auto wanted = api::Quantity::Parse(TextOf(request.value()));
    if (limit_text.empty() || !limit || !wanted || wanted->Compare(*limit) <= 0) continue;
    AddError(errors, FieldErrorType::kInvalid, fmt::format("{}.resources.requests", path),
             base::QuoteGo(TextOf(request.value())),
             fmt::format("must be less than or equal to {} limit of {}", name, limit_text));
  }
}

void CheckMounts(const json::object& container, const std::set<std::string, std::less<>>& volumes,
                 const std::string& path, FieldErrorList& errors) {
  const json::array* mounts = FindArray(container, {"volumeMounts"});
  if (mounts == nullptr) return;
  for (std::size_t i = 0; i < mounts->size(); ++i) {
    if (!(*mounts)[i].is_object()) continue;
    const json::object& mount = (*mounts)[i].get_object();
    const std::string at = fmt::format("{}.volumeMounts[{}]", path, i);
    if (!volumes.contains(TextAt(mount, {"name"}))) {
      AddError(errors, FieldErrorType::kNotFound, at + ".name", base::QuoteGo(TextAt(mount, {"name"})), "");
    }
    if (TextAt(mount, {"mountPath"}).empty())
      AddError(errors, FieldErrorType::kRequired, at + ".mountPath", "", "");
  }
}

std::set<std::string, std::less<>> CheckVolumes(const json::object& spec, const std::string& path,
                                                FieldErrorList& errors) {
  std::set<std::string, std::less<>> names;
  const json::array* volumes = FindArray(spec, {"volumes"});
  if (volumes == nullptr) return names;
  for (std::size_t i = 0; i < volumes->size(); ++i) {
    if (!(*volumes)[i].is_object()) continue;
    const std::string_view name = TextAt((*volumes)[i].get_object(), {"name"});
    const std::string at = fmt::format("{}.volumes[{}].name", path, i);
    if (name.empty()) {
      AddError(errors, FieldErrorType::kRequired, at, "", "");
    } else if (!names.emplace(name).second) {
      AddError(errors, FieldErrorType::kDuplicate, at, base::QuoteGo(name), "");
    }
  }
  return names;
}

void CheckContainers(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  const std::set<std::string, std::less<>> volumes = CheckVolumes(spec, path, errors);
  std::set<std::string, std::less<>> names;
  for (const std::string_view list : kContainerLists) {
    const json::array* containers = FindArray(spec, {list});
    if (containers == nullptr) continue;
    for (std::size_t i = 0; i < containers->size(); ++i) {
      if (!(*containers)[i].is_object()) continue;
      const json::object& container = (*containers)[i].get_object();
      const std::string at = fmt::format("{}.{}[{}]", path, list, i);
      const std::string_view name = TextAt(container, {"name"});
      if (name.empty()) {
        AddError(errors, FieldErrorType::kRequired, at + ".name", "", "");
      } else if (!names.emplace(name).second) {
        AddError(errors, FieldErrorType::kDuplicate, at + ".name", base::QuoteGo(name), "");
      }
      if (TextAt(container, {"image"}).empty())
        AddError(errors, FieldErrorType::kRequired, at + ".image", "", "");
      CheckResources(container, at, errors);
      CheckMounts(container, volumes, at, errors);
    }
  }
  const json::array* containers = FindArray(spec, {"containers"});
  if (containers == nullptr || containers->empty()) {
    AddError(errors, FieldErrorType::kRequired, path + ".containers", "", "");
  }
}

void CheckSpread(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  constexpr std::array<std::string_view, 2> kActions = {"DoNotSchedule", "ScheduleAnyway"};
  const json::array* constraints = FindArray(spec, {"topologySpreadConstraints"});
  if (constraints == nullptr) return;
  for (std::size_t i = 0; i < constraints->size(); ++i) {
    if (!(*constraints)[i].is_object()) continue;
    const json::object& constraint = (*constraints)[i].get_object();
    const std::string at = fmt::format("{}.topologySpreadConstraints[{}]", path, i);
    if (const std::int64_t skew = NumberAt(constraint, {"maxSkew"}); skew <= 0) {
      AddError(errors, FieldErrorType::kInvalid, at + ".maxSkew", std::to_string(skew),
               "must be greater than zero");
    }
    if (TextAt(constraint, {"topologyKey"}).empty()) {
      AddError(errors, FieldErrorType::kRequired, at + ".topologyKey", "", "can not be empty");
    }
    if (TextAt(constraint, {"whenUnsatisfiable"}).empty()) {
      AddError(errors, FieldErrorType::kNotSupported, at + ".whenUnsatisfiable", "\"\"",
               "supported values: \"DoNotSchedule\", \"ScheduleAnyway\"");
    }
    CheckChoice(constraint, "whenUnsatisfiable", kActions, at, errors);
  }
}

void CheckTolerations(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  constexpr std::array<std::string_view, 4> kOperators = {"Equal", "Exists", "Gt", "Lt"};
  constexpr std::array<std::string_view, 3> kEffects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};
  const json::array* tolerations = FindArray(spec, {"tolerations"});
  if (tolerations == nullptr) return;
  for (std::size_t i = 0; i < tolerations->size(); ++i) {
    if (!(*tolerations)[i].is_object()) continue;
    const json::object& toleration = (*tolerations)[i].get_object();
    const std::string at = fmt::format("{}.tolerations[{}]", path, i);
    const std::string_view op = TextAt(toleration, {"operator"});
    if (TextAt(toleration, {"key"}).empty() && op != "Exists") {
      AddError(errors, FieldErrorType::kInvalid, at + ".operator", base::QuoteGo(op),
               "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
    }
    if (op == "Exists" && !TextAt(toleration, {"value"}).empty()) {
      AddError(errors, FieldErrorType::kInvalid, at + ".operator",
               base::QuoteGo(TextAt(toleration, {"value"})),
               "value must be empty when `operator` is 'Exists'");
    }
    if (toleration.contains("tolerationSeconds") && TextAt(toleration, {"effect"}) != "NoExecute") {
      AddError(errors, FieldErrorType::kInvalid, at + ".effect",
               base::QuoteGo(TextAt(toleration, {"effect"})),
               "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    CheckChoice(toleration, "operator", kOperators, at, errors);
    CheckChoice(toleration, "effect", kEffects, at, errors);
  }
}

bool HasGate(const json::object& pod, std::string_view name) {
  const json::array* gates = FindArray(pod, {"spec", "schedulingGates"});
  return gates != nullptr && std::ranges::any_of(*gates, [&](const json::value& gate) {
           return gate.is_object() && TextAt(gate.get_object(), {"name"}) == name;
         });
}

bool IsGated(const json::object& pod) {
  const json::array* gates = FindArray(pod, {"spec", "schedulingGates"});
  return gates != nullptr && !gates->empty();
}

// Gates hold a pod back until whoever set them lets go: none may be added later.
void CheckGatesOnlyGo(const json::object& pod, const json::object& old, FieldErrorList& errors) {
  const json::array* gates = FindArray(pod, {"spec", "schedulingGates"});
  if (gates == nullptr) return;
  for (std::size_t i = 0; i < gates->size(); ++i) {
    if (!(*gates)[i].is_object()) continue;
    const std::string_view name = TextAt((*gates)[i].get_object(), {"name"});
    if (HasGate(old, name)) continue;
    AddError(errors, FieldErrorType::kForbidden, fmt::format("spec.schedulingGates[{}]", i), "",
             fmt::format("only deletion is allowed, but found new scheduling gate '{}'", name));
  }
}

// More may be tolerated, and for another time; nothing less.
void CheckTolerationsOnlyGrow(const json::object& pod, const json::object& old, FieldErrorList& errors) {
  const json::array* before = FindArray(old, {"spec", "tolerations"});
  const json::array* after = FindArray(pod, {"spec", "tolerations"});
  if (before == nullptr) return;
  const auto bare = [](const json::value& entry) {
    json::object toleration = entry.is_object() ? entry.get_object() : json::object();
    toleration.erase("tolerationSeconds");
    return toleration;
  };
  for (const json::value& kept : *before) {
    const bool is_there = after != nullptr && std::ranges::any_of(*after, [&](const json::value& entry) {
                            return bare(entry) == bare(kept);
                          });
    if (is_there) continue;
    AddError(errors, FieldErrorType::kForbidden, "spec.tolerations", "",
             "existing toleration can not be modified except its tolerationSeconds");
    return;
  }
}

void CheckDeadline(const json::object& pod, const json::object& old, FieldErrorList& errors) {
  const std::optional<std::int64_t> before = FindNumber(old, {"spec", "activeDeadlineSeconds"});
  const std::optional<std::int64_t> after = FindNumber(pod, {"spec", "activeDeadlineSeconds"});
  if (!before) return;
  if (!after) {
    AddError(errors, FieldErrorType::kInvalid, "spec.activeDeadlineSeconds", "null",
             "must not update from a positive integer to nil value");
  } else if (*after > *before) {
    AddError(errors, FieldErrorType::kInvalid, "spec.activeDeadlineSeconds", std::to_string(*after),
             "must be less than or equal to previous value");
  }
}

// While it is gated a pod may be told to go to fewer places, never to more.
bool IsNarrowerAffinity(const json::object& pod, const json::object& old) {
  constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const json::array* before =
      FindArray(old, {"spec", "affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"});
  const json::array* after =
      FindArray(pod, {"spec", "affinity", "nodeAffinity", kRequired, "nodeSelectorTerms"});
  if (before == nullptr || before->empty()) return true;
  if (after == nullptr || after->size() != before->size()) return false;
  for (std::size_t i = 0; i < before->size(); ++i) {
    if (!(*before)[i].is_object() || !(*after)[i].is_object()) return false;
    for (const std::string_view list : {"matchExpressions", "matchFields"}) {
      const json::array* old_list = FindArray((*before)[i].get_object(), {list});
      const json::array* new_list = FindArray((*after)[i].get_object(), {list});
      if (old_list == nullptr) continue;
      for (const json::value& expression : *old_list) {
        if (new_list == nullptr || std::ranges::find(*new_list, expression) == new_list->end()) return false;
      }
    }
  }
  return true;
}

void CheckNarrowing(const json::object& pod, const json::object& old, FieldErrorList& errors) {
  const json::object* before = FindObject(old, {"spec", "nodeSelector"});
  const json::object* after = FindObject(pod, {"spec", "nodeSelector"});
  const bool is_kept = before == nullptr || std::ranges::all_of(*before, [&](const auto& entry) {
                         const json::value* value =
                             after != nullptr ? after->if_contains(entry.key()) : nullptr;
                         return value != nullptr && *value == entry.value();
                       });
  if (!is_kept) {
    AddError(errors, FieldErrorType::kInvalid, "spec.nodeSelector",
             after != nullptr ? json::serialize(*after) : "null",
             "only additions are allowed (no mutations or deletions)");
  }
  if (!IsNarrowerAffinity(pod, old)) {
    AddError(errors, FieldErrorType::kInvalid,
             "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms",
             "", "only additions are allowed (no mutations or deletions)");
  }
}

bool CheckContainerCounts(const json::object& pod, const json::object& old, FieldErrorList& errors) {
  bool is_same = true;
  for (const std::string_view list : kContainerLists) {
    const json::array* before = FindArray(old, {"spec", list});
    const json::array* after = FindArray(pod, {"spec", list});
    if ((before != nullptr ? before->size() : 0) == (after != nullptr ? after->size() : 0)) continue;
    is_same = false;
    AddError(errors, FieldErrorType::kForbidden, fmt::format("spec.{}", list), "",
             "pod updates may not add or remove containers");
  }
  return is_same;
}

// The spec without what may change: equal ones differ in nothing else.
json::object Fixed(const json::object& pod, const json::object& old, bool gated,
                   std::span<const std::string_view> container_keys) {
  const json::object* found = FindObject(pod, {"spec"});
  json::object spec = found != nullptr ? *found : json::object();
  for (const std::string_view list : kContainerLists) {
    json::array* containers = FindArray(spec, {list});
    if (containers == nullptr) continue;
    for (json::value& container : *containers) {
      if (!container.is_object()) continue;
      for (const std::string_view key : container_keys) container.get_object().erase(key);
    }
  }
  for (const std::string_view key : {"activeDeadlineSeconds", "tolerations", "schedulingGates"})
    spec.erase(key);
  if (gated) {
    spec.erase("nodeSelector");
    RemoveAt(spec, {"affinity", "nodeAffinity"});
    if (const json::object* affinity = FindObject(spec, {"affinity"}); affinity && affinity->empty()) {
      spec.erase("affinity");
    }
  }
  const bool was_negative = NumberAt(old, {"spec", "terminationGracePeriodSeconds"}) < 0;
  if (was_negative && NumberAt(spec, {"terminationGracePeriodSeconds"}) == 1) {
    spec["terminationGracePeriodSeconds"] = NumberAt(old, {"spec", "terminationGracePeriodSeconds"});
  }
  return spec;
}

constexpr std::string_view kMayNotChange =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

}  // namespace

FieldErrorList ValidatePodSpec(const json::object& spec, const std::string& path) {
  constexpr std::array<std::string_view, 3> kRestart = {"Always", "OnFailure", "Never"};
  constexpr std::array<std::string_view, 4> kDns = {"ClusterFirstWithHostNet", "ClusterFirst", "Default",
                                                    "None"};
  FieldErrorList errors;
  CheckContainers(spec, path, errors);
  CheckChoice(spec, "restartPolicy", kRestart, path, errors);
  CheckChoice(spec, "dnsPolicy", kDns, path, errors);
  CheckTolerations(spec, path, errors);
  CheckSpread(spec, path, errors);
  return errors;
}

FieldErrorList ValidateNewPod(const json::object& pod) {
  static const json::object kEmpty;
  const json::object* spec = FindObject(pod, {"spec"});
  FieldErrorList errors = ValidatePodSpec(spec != nullptr ? *spec : kEmpty, "spec");
  if (IsGated(pod) && !TextAt(pod, {"spec", "nodeName"}).empty()) {
    AddError(errors, FieldErrorType::kForbidden, "spec.nodeName", "",
             "cannot be set until all schedulingGates have been cleared");
  }
  return errors;
}

FieldErrorList ValidatePodUpdate(const json::object& pod, const json::object& old) {
  constexpr std::array<std::string_view, 1> kMutable = {"image"};
  FieldErrorList errors;
  if (!CheckContainerCounts(pod, old, errors)) return errors;
  CheckDeadline(pod, old, errors);
  CheckTolerationsOnlyGrow(pod, old, errors);
  CheckGatesOnlyGo(pod, old, errors);
  const bool gated = IsGated(old);
  if (gated) CheckNarrowing(pod, old, errors);
  if (Fixed(pod, old, gated, kMutable) != Fixed(old, old, gated, kMutable)) {
    AddError(errors, FieldErrorType::kForbidden, "spec", "", std::string(kMayNotChange));
  }
  return errors;
}

FieldErrorList ValidatePodResize(const json::object& pod, const json::object& old) {
  constexpr std::array<std::string_view, 1> kMutable = {"resources"};
  FieldErrorList errors;
  if (!CheckContainerCounts(pod, old, errors)) return errors;
  if (Fixed(pod, old, false, kMutable) != Fixed(old, old, false, kMutable)) {
    AddError(errors, FieldErrorType::kForbidden, "spec", "", "only cpu and memory resources are mutable");
  }
  const json::object* spec = FindObject(pod, {"spec"});
  const json::array* containers = spec != nullptr ? FindArray(*spec, {"containers"}) : nullptr;
  for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
    if (!(*containers)[i].is_object()) continue;
    CheckResources((*containers)[i].get_object(), fmt::format("spec.containers[{}]", i), errors);
  }
  return errors;
}

FieldErrorList ValidatePodStatusUpdate(const json::object& pod, const json::object& old) {
  FieldErrorList errors;
  const std::string_view nominated = TextAt(pod, {"status", "nominatedNodeName"});
  const bool is_new = !nominated.empty() && nominated != TextAt(old, {"status", "nominatedNodeName"});
  if (is_new && !TextAt(pod, {"spec", "nodeName"}).empty()) {
    AddError(errors, FieldErrorType::kForbidden, "status.nominatedNodeName", "",
             "may not be set on pods that are already bound to a node");
  }
  return errors;
}

}  // namespace berth::sandbox
