#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <span>

#include "base/go_text.h"
#include "sandbox/admission_pod.h"
#include "sandbox/document.h"
#include "sandbox/validation_pod.h"

// What may change of a pod that exists.
namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 2> kContainerLists = {"containers", "initContainers"};

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
    AddError(errors, FieldErrorType::kForbidden, fmt::format("spec.schedulingGates[{}].name", i), "",
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

// The same for a resize, which may change two amounts and nothing else.
json::object FixedInResize(const json::object& pod, const json::object& old) {
  json::object spec = Fixed(pod, old, false, {});
  for (const std::string_view list : kContainerLists) {
    json::array* containers = FindArray(spec, {list});
    for (std::size_t i = 0; containers != nullptr && i < containers->size(); ++i) {
      if (!(*containers)[i].is_object()) continue;
      json::object& container = (*containers)[i].get_object();
      for (const std::string_view amounts : {"limits", "requests"}) {
        json::object* found = FindObject(container, {"resources", amounts});
        if (found == nullptr) continue;
        found->erase("cpu");
        found->erase("memory");
        if (found->empty()) RemoveAt(container, {"resources", amounts});
      }
    }
  }
  return spec;
}

void CheckNothingRemoved(const json::object& pod, const json::object& old, FieldErrorList& errors) {
  for (const std::string_view list : {"initContainers", "containers"}) {
    const json::array* before = FindArray(old, {"spec", list});
    const json::array* after = FindArray(pod, {"spec", list});
    for (std::size_t i = 0; before != nullptr && after != nullptr && i < before->size(); ++i) {
      if (!(*before)[i].is_object() || !(*after)[i].is_object()) continue;
      for (const std::string_view amounts : {"requests", "limits"}) {
        const json::object* had = FindObject((*before)[i].get_object(), {"resources", amounts});
        const json::object* has = FindObject((*after)[i].get_object(), {"resources", amounts});
        const bool is_kept = had == nullptr || std::ranges::all_of(*had, [&](const auto& amount) {
                               return has != nullptr && has->contains(amount.key());
                             });
        if (is_kept) continue;
        AddError(errors, FieldErrorType::kForbidden,
                 fmt::format("spec.{}[{}].resources.{}", list, i, amounts), "",
                 fmt::format("resource {} cannot be removed", amounts));
      }
    }
  }
}

FieldErrorList ValidateSpecOf(const json::object& pod) {
  static const json::object kEmpty;
  const json::object* spec = FindObject(pod, {"spec"});
  return ValidatePodSpec(spec != nullptr ? *spec : kEmpty, "spec");
}

constexpr std::string_view kMayNotChange =
    "pod updates may not change fields other than `spec.containers[*].image`,`spec.initContainers[*].image`,"
    "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
    "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

}  // namespace

FieldErrorList ValidatePodUpdate(const json::object& pod, const json::object& old) {
  constexpr std::array<std::string_view, 1> kMutable = {"image"};
  FieldErrorList errors = ValidateSpecOf(pod);
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
  FieldErrorList errors = ValidateSpecOf(pod);
  const std::string_view known = TextAt(old, {"status", "qosClass"});
  if (QosClass(pod) != (known.empty() ? QosClass(old) : known)) {
    AddError(errors, FieldErrorType::kInvalid, "spec", base::QuoteGo(TextAt(pod, {"status", "qosClass"})),
             "Pod QOS Class may not change as a result of resizing");
  }
  if (!CheckContainerCounts(pod, old, errors)) return errors;
  CheckNothingRemoved(pod, old, errors);
  if (FixedInResize(pod, old) != FixedInResize(old, old)) {
    AddError(errors, FieldErrorType::kForbidden, "spec", "", "only cpu and memory resources are mutable");
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
