#include "sandbox/validation_placement.h"

#include <algorithm>
#include <array>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>

#include "api/validation.h"
#include "base/go_text.h"
#include "sandbox/document.h"
#include "sandbox/field_rules.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::string_view kRequiredTerms = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferredTerms = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr std::array<std::string_view, 3> kTaintEffects = {"NoSchedule", "PreferNoSchedule", "NoExecute"};

void RefuseOperator(const json::object& requirement, const std::string& path, FieldErrorList& errors) {
  AddError(errors, FieldErrorType::kInvalid, path + ".operator",
           base::QuoteGo(TextAt(requirement, {"operator"})), "not a valid selector operator");
}

// Preferences may name values that no label can have: they match nothing, and that is all.
void CheckNodeRequirement(const json::object& requirement, bool allow_odd_values, const std::string& path,
                          FieldErrorList& errors) {
  const std::string_view op = TextAt(requirement, {"operator"});
  const json::array* values = FindArray(requirement, {"values"});
  const std::size_t count = values != nullptr ? values->size() : 0;
  if (op == "In" || op == "NotIn") {
    if (count == 0) {
      RequireField(errors, path + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (count > 0) {
      ForbidField(errors, path + ".values",
                  "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else if (op == "Gt" || op == "Lt") {
    if (count != 1) {
      RequireField(errors, path + ".values",
                   "must be specified single value when `operator` is 'Lt' or 'Gt'");
    }
  } else {
    RefuseOperator(requirement, path, errors);
  }
  CheckLabelKey(TextAt(requirement, {"key"}), path + ".key", errors);
  for (std::size_t i = 0; !allow_odd_values && i < count; ++i) {
    const std::string_view value = TextOf((*values)[i]);
    AddProblems(errors, fmt::format("{}.values[{}]", path, i), value, api::LabelValueProblems(value));
  }
}

void CheckFieldRequirement(const json::object& requirement, const std::string& path, FieldErrorList& errors) {
  const std::string_view op = TextAt(requirement, {"operator"});
  const json::array* values = FindArray(requirement, {"values"});
  const std::size_t count = values != nullptr ? values->size() : 0;
  if (op != "In" && op != "NotIn") {
    RefuseOperator(requirement, path, errors);
  } else if (count != 1) {
    RequireField(errors, path + ".values",
                 "must be only one value when `operator` is 'In' or 'NotIn' for node field selector");
  }
  const std::string_view key = TextAt(requirement, {"key"});
  if (key != "metadata.name") {
    AddError(errors, FieldErrorType::kInvalid, path + ".key", base::QuoteGo(key),
             "not a valid field selector key");
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    CheckSubdomain(TextOf((*values)[i]), fmt::format("{}.values[{}]", path, i), errors);
  }
}

void CheckNodeTerm(const json::object& term, bool allow_odd_values, const std::string& path,
                   FieldErrorList& errors) {
  ForEachElement(term, "matchExpressions", path, [&](const json::object& one, const std::string& at) {
    CheckNodeRequirement(one, allow_odd_values, at, errors);
  });
  ForEachElement(term, "matchFields", path, [&](const json::object& one, const std::string& at) {
    CheckFieldRequirement(one, at, errors);
  });
}

void CheckWeight(const json::object& term, const std::string& path, FieldErrorList& errors) {
  const std::int64_t weight = NumberAt(term, {"weight"});
  if (weight >= 1 && weight <= 100) return;
  AddError(errors, FieldErrorType::kInvalid, path + ".weight", std::to_string(weight),
           "must be in the range 1-100");
}

void CheckNodeAffinity(const json::object& affinity, const std::string& path, FieldErrorList& errors) {
  if (const json::object* required = FindObject(affinity, {kRequiredTerms})) {
    CheckNodeSelector(*required, fmt::format("{}.{}", path, kRequiredTerms), errors);
  }
  ForEachElement(affinity, kPreferredTerms, path, [&](const json::object& term, const std::string& at) {
    CheckWeight(term, at, errors);
    if (const json::object* preference = FindObject(term, {"preference"})) {
      CheckNodeTerm(*preference, true, at + ".preference", errors);
    }
  });
}

// The keys whose values are taken from the pod itself; they have gone into the selector already.
void CheckKeysOfPod(const json::object& term, const std::string& path, FieldErrorList& errors) {
  const bool has_selector = FindObject(term, {"labelSelector"}) != nullptr;
  for (const std::string_view list : {"matchLabelKeys", "mismatchLabelKeys"}) {
    const json::array* keys = FindArray(term, {list});
    if (keys == nullptr || keys->empty()) continue;
    const std::string at = fmt::format("{}.{}", path, list);
    if (!has_selector) {
      ForbidField(errors, at, "must not be specified when labelSelector is not set");
      continue;
    }
    for (std::size_t i = 0; i < keys->size(); ++i) {
      CheckLabelKey(TextOf((*keys)[i]), fmt::format("{}[{}]", at, i), errors);
    }
  }
  const json::array* keys = FindArray(term, {"matchLabelKeys"});
  const json::array* others = FindArray(term, {"mismatchLabelKeys"});
  for (std::size_t i = 0; keys != nullptr && others != nullptr && i < keys->size(); ++i) {
    if (std::ranges::find(*others, (*keys)[i]) == others->end()) continue;
    AddError(errors, FieldErrorType::kInvalid, fmt::format("{}.matchLabelKeys[{}]", path, i),
             base::QuoteGo(TextOf((*keys)[i])), "exists in both matchLabelKeys and mismatchLabelKeys");
  }
}

void CheckPodTerm(const json::object& term, const std::string& path, FieldErrorList& errors) {
  CheckLabelSelector(FindObject(term, {"labelSelector"}), path + ".labelSelector", errors);
  CheckLabelSelector(FindObject(term, {"namespaceSelector"}), path + ".namespaceSelector", errors);
  if (const json::array* namespaces = FindArray(term, {"namespaces"})) {
    for (const json::value& name : *namespaces) CheckDnsLabel(TextOf(name), path + ".namespace", errors);
  }
  CheckKeysOfPod(term, path, errors);
  const std::string_view key = TextAt(term, {"topologyKey"});
  if (key.empty()) RequireField(errors, path + ".topologyKey", "can not be empty");
  CheckLabelKey(key, path + ".topologyKey", errors);
}

void CheckPodAffinity(const json::object& affinity, const std::string& path, FieldErrorList& errors) {
  ForEachElement(affinity, kRequiredTerms, path,
                 [&](const json::object& term, const std::string& at) { CheckPodTerm(term, at, errors); });
  ForEachElement(affinity, kPreferredTerms, path, [&](const json::object& term, const std::string& at) {
    CheckWeight(term, at, errors);
    if (const json::object* inner = FindObject(term, {"podAffinityTerm"})) {
      CheckPodTerm(*inner, at + ".podAffinityTerm", errors);
    }
  });
}

void RequirePositive(const json::object& object, std::string_view key, const std::string& path,
                     FieldErrorList& errors) {
  const std::int64_t number = NumberAt(object, {key});
  if (number > 0) return;
  AddError(errors, FieldErrorType::kInvalid, fmt::format("{}.{}", path, key), std::to_string(number),
           "must be greater than zero");
}

void CheckConstraint(const json::object& constraint, const std::string& at, FieldErrorList& errors) {
  constexpr std::array<std::string_view, 2> kPolicies = {"Honor", "Ignore"};
  const std::string_view action = TextAt(constraint, {"whenUnsatisfiable"});
  if (constraint.contains("minDomains")) {
    RequirePositive(constraint, "minDomains", at, errors);
    if (action != "DoNotSchedule") {
      AddError(errors, FieldErrorType::kInvalid, at + ".minDomains",
               std::to_string(NumberAt(constraint, {"minDomains"})),
               fmt::format("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not {}", action));
    }
  }
  CheckChoice(constraint, "nodeAffinityPolicy", kPolicies, at, errors);
  CheckChoice(constraint, "nodeTaintsPolicy", kPolicies, at, errors);
  CheckKeysOfPod(constraint, at, errors);
  CheckLabelSelector(FindObject(constraint, {"labelSelector"}), at + ".labelSelector", errors);
}

// A toleration's value, by what its operator does with it. Comparing operators pass: a cluster has a gate for
// them, and a scheduler is to be tried with it open too.
void CheckTolerationValue(const json::object& toleration, const std::string& at, FieldErrorList& errors) {
  constexpr std::array<std::string_view, 2> kOperators = {"Equal", "Exists"};
  const std::string_view op = TextAt(toleration, {"operator"});
  const std::string_view value = TextAt(toleration, {"value"});
  if (op == "Exists") {
    if (!value.empty()) {
      AddError(errors, FieldErrorType::kInvalid, at + ".operator", base::QuoteGo(value),
               "value must be empty when `operator` is 'Exists'");
    }
  } else if (op.empty() || op == "Equal") {
    const std::vector<std::string> problems = api::LabelValueProblems(value);
    if (!problems.empty()) {
      AddError(errors, FieldErrorType::kInvalid, at + ".operator", base::QuoteGo(value),
               fmt::format("{}", fmt::join(problems, ";")));
    }
  } else if (op != "Lt" && op != "Gt") {
    UnsupportedChoice(errors, at + ".operator", op, kOperators);
  }
}

}  // namespace

void CheckNodeSelector(const json::object& selector, const std::string& path, FieldErrorList& errors) {
  const json::array* terms = FindArray(selector, {"nodeSelectorTerms"});
  if (terms == nullptr || terms->empty()) {
    RequireField(errors, path + ".nodeSelectorTerms", "must have at least one node selector term");
    return;
  }
  ForEachElement(selector, "nodeSelectorTerms", path, [&](const json::object& term, const std::string& at) {
    CheckNodeTerm(term, false, at, errors);
  });
}

void CheckAffinity(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  const json::object* affinity = FindObject(spec, {"affinity"});
  if (affinity == nullptr) return;
  if (const json::object* nodes = FindObject(*affinity, {"nodeAffinity"})) {
    CheckNodeAffinity(*nodes, path + ".affinity.nodeAffinity", errors);
  }
  for (const std::string_view key : {"podAffinity", "podAntiAffinity"}) {
    const json::object* pods = FindObject(*affinity, {key});
    if (pods != nullptr) CheckPodAffinity(*pods, fmt::format("{}.affinity.{}", path, key), errors);
  }
}

void CheckSchedulingGates(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  std::set<std::string_view> seen;
  ForEachElement(spec, "schedulingGates", path, [&](const json::object& gate, const std::string& at) {
    const std::string_view name = TextAt(gate, {"name"});
    CheckLabelKey(name, at, errors);
    if (!seen.insert(name).second) {
      AddError(errors, FieldErrorType::kDuplicate, at, base::QuoteGo(name), "");
    }
  });
}

void CheckSpread(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  constexpr std::array<std::string_view, 2> kActions = {"DoNotSchedule", "ScheduleAnyway"};
  const auto kind_of = [](const json::object& constraint) {
    return fmt::format("{{{}, {}}}", TextAt(constraint, {"topologyKey"}),
                       TextAt(constraint, {"whenUnsatisfiable"}));
  };
  std::multiset<std::string> kinds;
  ForEachElement(
      spec, "topologySpreadConstraints", path,
      [&](const json::object& constraint, const std::string&) { kinds.insert(kind_of(constraint)); });
  ForEachElement(spec, "topologySpreadConstraints", path,
                 [&](const json::object& constraint, const std::string& at) {
                   RequirePositive(constraint, "maxSkew", at, errors);
                   if (TextAt(constraint, {"topologyKey"}).empty()) {
                     RequireField(errors, at + ".topologyKey", "can not be empty");
                   }
                   const std::string_view action = TextAt(constraint, {"whenUnsatisfiable"});
                   if (std::ranges::find(kActions, action) == kActions.end()) {
                     UnsupportedChoice(errors, at + ".whenUnsatisfiable", action, kActions);
                   }
                   // The first of two is blamed, not the second.
                   const std::string kind = kind_of(constraint);
                   kinds.erase(kinds.find(kind));
                   if (kinds.contains(kind)) {
                     AddError(errors, FieldErrorType::kDuplicate, at + ".{topologyKey, whenUnsatisfiable}",
                              base::QuoteGo(kind), "");
                   }
                   CheckConstraint(constraint, at, errors);
                 });
}

void CheckTolerations(const json::object& spec, const std::string& path, FieldErrorList& errors) {
  ForEachElement(spec, "tolerations", path, [&](const json::object& toleration, const std::string& at) {
    const std::string_view key = TextAt(toleration, {"key"});
    const std::string_view op = TextAt(toleration, {"operator"});
    const std::string_view effect = TextAt(toleration, {"effect"});
    if (!key.empty()) CheckLabelKey(key, at + ".key", errors);
    if (key.empty() && op != "Exists") {
      AddError(errors, FieldErrorType::kInvalid, at + ".operator", base::QuoteGo(op),
               "operator must be Exists when `key` is empty, which means \"match all values and all keys\"");
    }
    if (toleration.contains("tolerationSeconds") && effect != "NoExecute") {
      AddError(errors, FieldErrorType::kInvalid, at + ".effect", base::QuoteGo(effect),
               "effect must be 'NoExecute' when `tolerationSeconds` is set");
    }
    CheckTolerationValue(toleration, at, errors);
    CheckChoice(toleration, "effect", kTaintEffects, at, errors);
  });
}

void CheckTaints(const json::object& node, FieldErrorList& errors) {
  static const json::object kEmpty;
  const json::object* spec = FindObject(node, {"spec"});
  std::set<std::pair<std::string_view, std::string_view>> seen;
  ForEachElement(spec != nullptr ? *spec : kEmpty, "taints", "metadata",
                 [&](const json::object& taint, const std::string& at) {
                   const std::string_view key = TextAt(taint, {"key"});
                   const std::string_view value = TextAt(taint, {"value"});
                   const std::string_view effect = TextAt(taint, {"effect"});
                   CheckLabelKey(key, at + ".key", errors);
                   const std::vector<std::string> problems = api::LabelValueProblems(value);
                   if (!problems.empty()) {
                     AddError(errors, FieldErrorType::kInvalid, at + ".value", base::QuoteGo(value),
                              fmt::format("{}", fmt::join(problems, ";")));
                   }
                   if (effect.empty()) RequireField(errors, at + ".effect");
                   CheckChoice(taint, "effect", kTaintEffects, at, errors);
                   if (seen.emplace(key, effect).second) return;
                   AddError(errors, FieldErrorType::kDuplicate, at,
                            fmt::format(R"({{"Key":{},"Value":{},"Effect":{},"TimeAdded":null}})",
                                        base::QuoteGo(key), base::QuoteGo(value), base::QuoteGo(effect)),
                            "taints must be unique by key and effect pair");
                 });
}

}  // namespace berth::sandbox
