#include <algorithm>
#include <array>
#include <boost/json/object.hpp>

#include "cli/conformance/cases.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

bool TextIsOneOf(const json::object& test_case, std::string_view key,
                 std::span<const std::string_view> texts) {
  const json::value* value = test_case.if_contains(key);
  if (value == nullptr || !value->is_string()) return false;
  return std::ranges::find(texts, std::string_view(value->get_string())) != texts.end();
}

bool IsQuantityCase(const json::object& test_case) {
  static constexpr std::string_view kOperations[] = {"parse", "json", "add", "sub", "cmp", "format"};
  return TextIsOneOf(test_case, "op", kOperations);
}

bool IsSelectorsCase(const json::object& test_case) {
  static constexpr std::string_view kKinds[] = {
      "labelSelector", "nodeSelector", "requiredNodeAffinity", "preferredNodeAffinity",
      "toleration",    "untolerated",  "labelString",          "fieldString"};
  return TextIsOneOf(test_case, "kind", kKinds);
}

bool IsResourcesCase(const json::object& test_case) {
  static constexpr std::string_view kTypes[] = {"pod", "node"};
  return TextIsOneOf(test_case, "type", kTypes) && test_case.contains("featureGates");
}

bool IsWireCase(const json::object& test_case) { return test_case.contains("protobufBase64"); }

bool IsCelCase(const json::object& test_case) {
  return test_case.contains("expression") && test_case.contains("compile");
}

bool IsScheduleCase(const json::object& test_case) {
  return test_case.contains("suite") && test_case.contains("objects") && test_case.contains("expect");
}

bool IsHintsCase(const json::object& test_case) {
  static constexpr std::string_view kTypes[] = {"registered", "hint", "classify"};
  return TextIsOneOf(test_case, "type", kTypes);
}

bool IsQueueCase(const json::object& test_case) {
  return test_case.contains("config") && test_case.contains("plugins") && test_case.contains("steps");
}

bool IsConfigCase(const json::object& test_case) {
  return test_case.contains("class") && test_case.contains("yaml");
}

bool IsDispatchCase(const json::object& test_case) {
  return test_case.contains("steps") && !test_case.contains("config");
}

constexpr std::array kSuites = {
    Suite{.name = "quantity", .recognises = IsQuantityCase, .check = CheckQuantityCase},
    Suite{.name = "selectors", .recognises = IsSelectorsCase, .check = CheckSelectorsCase},
    Suite{.name = "resources", .recognises = IsResourcesCase, .check = CheckResourcesCase},
    Suite{.name = "wire", .recognises = IsWireCase, .check = CheckWireCase},
    Suite{.name = "cel", .recognises = IsCelCase, .check = CheckCelCase},
    Suite{.name = "schedule", .recognises = IsScheduleCase, .check = CheckScheduleCase},
    Suite{.name = "hints", .recognises = IsHintsCase, .check = CheckHintsCase},
    Suite{.name = "queue", .recognises = IsQueueCase, .check = CheckQueueCase},
    Suite{.name = "dispatch", .recognises = IsDispatchCase, .check = CheckDispatchCase},
    Suite{.name = "config", .recognises = IsConfigCase, .check = CheckConfigCase},
};

}  // namespace

std::span<const Suite> Suites() { return kSuites; }

const Suite* SuiteOf(const json::object& test_case) {
  const auto suite = std::ranges::find_if(kSuites, [&](const Suite& s) { return s.recognises(test_case); });
  return suite == kSuites.end() ? nullptr : &*suite;
}

}  // namespace berth::cli
