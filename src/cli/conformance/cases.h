#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace berth::cli {

// One checker per kind of case: it runs berth on the case's input and gives the first difference from what
// kube-scheduler's code answered, in words, or nothing. A case that cannot be read is a difference too.
using CheckCase = std::optional<std::string> (*)(const boost::json::object& test_case);

// How a difference begins that is none: berth lacks the plugin that is named behind it.
inline constexpr std::string_view kNotDecided = "not decided: needs ";

std::optional<std::string> CheckQuantityCase(const boost::json::object& test_case);
std::optional<std::string> CheckSelectorsCase(const boost::json::object& test_case);
std::optional<std::string> CheckResourcesCase(const boost::json::object& test_case);
std::optional<std::string> CheckWireCase(const boost::json::object& test_case);
std::optional<std::string> CheckCelCase(const boost::json::object& test_case);
std::optional<std::string> CheckScheduleCase(const boost::json::object& test_case);
std::optional<std::string> CheckHintsCase(const boost::json::object& test_case);
std::optional<std::string> CheckQueueCase(const boost::json::object& test_case);
std::optional<std::string> CheckDispatchCase(const boost::json::object& test_case);
std::optional<std::string> CheckConfigCase(const boost::json::object& test_case);

// A kind of conformance file. It is told by its content, not by its name: users rename and merge files.
struct Suite {
  std::string_view name;
  bool (*recognises)(const boost::json::object& test_case);
  CheckCase check;
};

std::span<const Suite> Suites();
// Null: no suite knows such cases.
const Suite* SuiteOf(const boost::json::object& test_case);

}  // namespace berth::cli
