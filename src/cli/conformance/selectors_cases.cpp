#include <boost/json.hpp>
#include <exception>
#include <fmt/format.h>
#include <stdexcept>
#include <utility>
#include <vector>

#include "cli/conformance/case_json.h"
#include "cli/conformance/cases.h"

#include "api/field_selector.h"
#include "api/label_selector.h"
#include "api/node_matching.h"
#include "api/tolerations.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

using Difference = std::optional<std::string>;

template <class T>
std::optional<T> DecodeUnlessNull(const json::value& value) {
  return value.is_null() ? std::nullopt : std::optional<T>(DecodeObject<T>(value));
}

template <class T>
std::vector<T> DecodeList(const json::value& list) {
  std::vector<T> decoded;
  for (const json::value& value : list.as_array()) decoded.push_back(DecodeObject<T>(value));
  return decoded;
}

std::string_view Text(const json::value& value) { return value.as_string(); }

api::StringMap Map(const json::value& value) {
  api::StringMap map;
  if (value.is_null()) return map;
  for (const auto& [key, text] : value.as_object())
    map.insert_or_assign(std::string(key), std::string(Text(text)));
  return map;
}

std::string_view WantedError(const json::object& test_case) {
  const json::value* error = test_case.if_contains("error");
  return error == nullptr ? std::string_view() : Text(*error);
}

// `ok` and `error` of a case, or of a target: an error that is not there reads "".
template <class T>
Difference CompareError(const base::Result<T>& got, const json::object& wanted) {
  if (const json::value* ok = wanted.if_contains("ok")) {
    if (auto difference = Compare("ok", got.has_value(), ok->as_bool())) return difference;
  }
  return Compare<std::string_view>("error", got ? std::string_view() : std::string_view(got.error().message),
                                   WantedError(wanted));
}

template <class Check>
Difference FirstDifference(const json::object& test_case, std::string_view list, const Check& check) {
  const json::value* items = test_case.if_contains(list);
  if (items == nullptr || items->is_null()) return std::nullopt;
  std::size_t index = 0;
  for (const json::value& item : items->as_array()) {
    if (Difference difference = check(item.as_object()))
      return fmt::format("{}[{}]: {}", list, index, *difference);
    ++index;
  }
  return std::nullopt;
}

Difference CheckLabelTargets(const json::object& test_case, const api::Selector& selector) {
  return FirstDifference(test_case, "targets", [&](const json::object& target) {
    return Compare("match", selector.Matches(Map(target.at("labels"))), target.at("match").as_bool());
  });
}

Difference CheckLabelSelector(const json::object& test_case) {
  const auto selector =
      api::Selector::Compile(DecodeUnlessNull<api::LabelSelector>(test_case.at("selector")));
  if (auto difference = CompareError(selector, test_case)) return difference;
  if (!selector) return std::nullopt;
  if (auto difference =
          Compare<std::string_view>("string", selector->ToString(), Text(test_case.at("string")))) {
    return difference;
  }
  if (auto difference = Compare("empty", selector->matches_everything(), test_case.at("empty").as_bool())) {
    return difference;
  }
  const bool nothing = test_case.at("matchesNothing").as_bool();
  if (auto difference = Compare("matchesNothing", selector->matches_nothing(), nothing)) return difference;
  return CheckLabelTargets(test_case, *selector);
}

// `key op (values)` of both sides, so that a difference shows the whole requirement.
std::string ShowRequirement(std::string_view key, std::string_view op,
                            const std::vector<std::string>& values) {
  std::string text = fmt::format("{} {} (", key, op);
  for (const std::string& value : values) text += fmt::format("'{}'", value);
  return text + ")";
}

template <class Show>
Difference CompareRequirements(const json::object& test_case, std::size_t count, const Show& show) {
  const json::value* wanted = test_case.if_contains("requirements");
  const std::size_t wanted_count = wanted == nullptr ? 0 : wanted->as_array().size();
  if (auto difference = Compare("number of requirements", count, wanted_count)) return difference;
  std::size_t index = 0;
  return FirstDifference(test_case, "requirements", [&](const json::object& want) {
    std::vector<std::string> values;
    if (const json::value* list = want.if_contains("values")) {
      for (const json::value& value : list->as_array()) values.emplace_back(Text(value));
    }
    return Compare("requirement", show(index++),
                   ShowRequirement(Text(want.at("key")), Text(want.at("operator")), values));
  });
}

Difference CheckLabelString(const json::object& test_case) {
  const auto selector = api::Selector::Parse(Text(test_case.at("in")));
  if (auto difference = CompareError(selector, test_case)) return difference;
  if (!selector) return std::nullopt;
  if (auto difference =
          Compare<std::string_view>("string", selector->ToString(), Text(test_case.at("string")))) {
    return difference;
  }
  const auto requirements = selector->requirements();
  const auto show = [&](std::size_t i) {
    const api::Requirement& requirement = requirements[i];
    return ShowRequirement(requirement.key(), api::OperatorText(requirement.op()), requirement.values());
  };
  if (auto difference = CompareRequirements(test_case, requirements.size(), show)) return difference;
  return CheckLabelTargets(test_case, *selector);
}

Difference CheckFieldString(const json::object& test_case) {
  const auto selector = api::FieldSelector::Parse(Text(test_case.at("in")));
  if (auto difference = CompareError(selector, test_case)) return difference;
  if (!selector) return std::nullopt;
  if (auto difference =
          Compare<std::string_view>("string", selector->ToString(), Text(test_case.at("string")))) {
    return difference;
  }
  const auto requirements = selector->requirements();
  const auto show = [&](std::size_t i) {
    const api::FieldRequirement& requirement = requirements[i];
    return ShowRequirement(requirement.field, requirement.equal ? "=" : "!=", {requirement.value});
  };
  if (auto difference = CompareRequirements(test_case, requirements.size(), show)) return difference;
  return FirstDifference(test_case, "targets", [&](const json::object& target) {
    return Compare("match", selector->Matches(Map(target.at("fields"))), target.at("match").as_bool());
  });
}

template <class Matcher>
Difference CheckNodeTargets(const json::object& test_case, const Matcher& matcher) {
  return FirstDifference(test_case, "targets", [&](const json::object& target) -> Difference {
    const std::string_view name = Text(target.at("name"));
    const api::StringMap labels = Map(target.at("labels"));
    const base::Result<bool> match = matcher.Match(name, labels);
    if (auto difference = CompareError(match, target)) return difference;
    const bool wanted = target.at("match").as_bool();
    if (auto difference = Compare("match", match.value_or(false), wanted)) return difference;
    return Compare("match without errors", matcher.Matches(name, labels), wanted);
  });
}

Difference CheckNodeSelector(const json::object& test_case) {
  const auto selector = DecodeObject<api::NodeSelector>(test_case.at("selector"));
  if (auto difference = CompareError(api::NodeMatcher::CompileStrict(selector), test_case)) {
    return difference;
  }
  return CheckNodeTargets(test_case, api::NodeMatcher::Compile(selector));
}

Difference CheckRequiredNodeAffinity(const json::object& test_case) {
  base::Boxed<api::Affinity> affinity;
  if (auto given = DecodeUnlessNull<api::Affinity>(test_case.at("affinity"))) affinity = *std::move(given);
  return CheckNodeTargets(test_case, api::RequiredNodeAffinity(Map(test_case.at("nodeSelector")), affinity));
}

Difference CheckPreferredNodeAffinity(const json::object& test_case) {
  const auto preferred =
      api::PreferredNodeTerms::Compile(DecodeList<api::PreferredSchedulingTerm>(test_case.at("terms")));
  if (auto difference = CompareError(preferred, test_case)) return difference;
  if (!preferred) return std::nullopt;
  return FirstDifference(test_case, "targets", [&](const json::object& target) {
    return Compare("score", preferred->Score(Text(target.at("name")), Map(target.at("labels"))),
                   target.at("score").to_number<std::int64_t>());
  });
}

Difference CheckToleration(const json::object& test_case) {
  const auto toleration = DecodeObject<api::Toleration>(test_case.at("toleration"));
  const auto taint = DecodeObject<api::Taint>(test_case.at("taint"));
  if (auto difference = Compare("tolerated", api::Tolerates(toleration, taint, false),
                                test_case.at("tolerated").as_bool())) {
    return difference;
  }
  return Compare("toleratedWithComparison", api::Tolerates(toleration, taint, true),
                 test_case.at("toleratedWithComparison").as_bool());
}

std::string ShowTaint(const api::Taint* taint) {
  return taint == nullptr ? "none" : fmt::format("{}={}:{}", taint->key, taint->value, taint->effect);
}

Difference CheckUntolerated(const json::object& test_case) {
  const auto tolerations = DecodeList<api::Toleration>(test_case.at("tolerations"));
  const auto taints = DecodeList<api::Taint>(test_case.at("taints"));
  const bool comparison = test_case.at("comparison").as_bool();
  std::vector<std::string_view> effects;
  for (const json::value& effect : test_case.at("effects").as_array()) effects.push_back(Text(effect));

  const auto wanted = DecodeUnlessNull<api::Taint>(test_case.at("untolerated"));
  const api::Taint* found = api::FindUntolerated(tolerations, taints, effects, comparison);
  if (auto difference = Compare("untolerated", ShowTaint(found), ShowTaint(wanted ? &*wanted : nullptr))) {
    return difference;
  }
  return Compare("intolerablePreferNoSchedule",
                 api::CountIntolerablePreferNoSchedule(tolerations, taints, comparison),
                 test_case.at("intolerablePreferNoSchedule").to_number<std::size_t>());
}

struct Kind {
  std::string_view name;
  CheckCase check;
};

constexpr Kind kSelectorKinds[] = {
    {"labelSelector", CheckLabelSelector},
    {"nodeSelector", CheckNodeSelector},
    {"requiredNodeAffinity", CheckRequiredNodeAffinity},
    {"preferredNodeAffinity", CheckPreferredNodeAffinity},
    {"toleration", CheckToleration},
    {"untolerated", CheckUntolerated},
    {"labelString", CheckLabelString},
    {"fieldString", CheckFieldString},
};

}  // namespace

std::optional<std::string> CheckSelectorsCase(const json::object& test_case) {
  try {
    const std::string_view name = Text(test_case.at("kind"));
    for (const Kind& kind : kSelectorKinds) {
      if (kind.name == name) return kind.check(test_case);
    }
    return fmt::format("unknown kind '{}'", name);
  } catch (const std::exception& error) {
    return fmt::format("cannot read the case: {}", error.what());
  }
}

}  // namespace berth::cli
