#include <boost/json.hpp>
#include <cstdint>
#include <exception>
#include <fmt/format.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "cli/conformance/cases.h"

#include "api/devices.h"
#include "cel/compiler.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

using Difference = std::optional<std::string>;

std::string TextOf(const json::value& value) { return std::string(std::string_view(value.as_string())); }

api::DeviceAttribute ReadAttribute(const json::object& object) {
  api::DeviceAttribute attribute;
  for (const auto& [key, value] : object) {
    if (key == "int") attribute.int_value = value.to_number<std::int64_t>();
    if (key == "bool") attribute.bool_value = value.as_bool();
    if (key == "string") attribute.string_value = TextOf(value);
    if (key == "version") attribute.version = TextOf(value);
    if (!value.is_array()) continue;
    for (const json::value& item : value.get_array()) {
      if (key == "ints") attribute.ints.push_back(item.to_number<std::int64_t>());
      if (key == "bools") attribute.bools.push_back(item.as_bool());
      if (key == "strings") attribute.strings.push_back(TextOf(item));
      if (key == "versions") attribute.versions.push_back(TextOf(item));
    }
  }
  return attribute;
}

api::Device ReadDevice(const json::object& object) {
  api::Device device;
  if (const json::value* allow = object.if_contains("allowMultipleAllocations")) {
    device.allow_multiple_allocations = allow->as_bool();
  }
  if (const json::value* attributes = object.if_contains("attributes")) {
    for (const auto& [name, value] : attributes->as_object()) {
      device.attributes.insert_or_assign(std::string(name), ReadAttribute(value.as_object()));
    }
  }
  if (const json::value* capacity = object.if_contains("capacity")) {
    for (const auto& [name, value] : capacity->as_object()) {
      auto quantity = api::Quantity::Parse(TextOf(value.at("value")));
      if (!quantity) throw std::invalid_argument("bad quantity in a device");
      device.capacity.insert_or_assign(std::string(name), api::DeviceCapacity{std::move(*quantity), {}});
    }
  }
  return device;
}

std::string_view FirstLine(std::string_view text) { return text.substr(0, text.find('\n')); }

// "ERROR: <input>:1:5: ", which every mistake in the text of an expression starts with.
std::string_view PlaceOf(std::string_view text) {
  const std::size_t start = text.find("ERROR: <input>:");
  if (start == std::string_view::npos) return {};
  const std::size_t end = text.find(": ", start + std::string_view("ERROR: ").size());
  return text.substr(start, end + 2 - start);
}

// berth stops at the first mistake in the grammar; upstream goes on, and may list another one before it.
bool IsSamePlace(std::string_view error, std::string_view wanted) {
  const std::string_view place = PlaceOf(error);
  return error.starts_with("compilation failed: ") && !place.empty() && wanted.contains(place);
}

Difference CompareCompileError(const json::object& expected, std::string_view error) {
  const std::string text = TextOf(expected.at("error"));
  const std::string kind = TextOf(expected.at("class"));
  bool same = error == text;
  // The wording of syntax errors is free, and so are the lines that show the place.
  if (kind == "syntax") same = IsSamePlace(error, text);
  if (kind == "check") same = FirstLine(error) == FirstLine(text);
  if (same) return std::nullopt;
  return fmt::format("compile error is \"{}\", want \"{}\"", error, text);
}

Difference CompareEvaluation(const json::object& expected, const cel::Program& program) {
  const json::object& device = expected.at("device").as_object();
  const cel::DeviceView view(TextOf(device.at("driver")), ReadDevice(device));
  const auto evaluation = program.Evaluate(view);
  const std::string got =
      evaluation.value ? (*evaluation.value ? "true" : "false") : evaluation.value.error();
  const json::value* error = expected.if_contains("error");
  const std::string want =
      error != nullptr ? TextOf(*error) : (expected.at("match").as_bool() ? "true" : "false");
  // Upstream crashed while it counted the cost: there is no answer to compare with.
  if (error != nullptr && want.starts_with("internal error: ")) return std::nullopt;
  if (got != want || evaluation.value.has_value() != (error == nullptr)) {
    return fmt::format("result is {}, want {}, for {}", got, want, json::serialize(device));
  }
  if (const json::value* cost = expected.if_contains("cost")) {
    const auto cost_wanted = cost->to_number<std::uint64_t>();
    if (evaluation.cost != cost_wanted) {
      return fmt::format("cost is {}, want {}, for {}", evaluation.cost, cost_wanted,
                         json::serialize(device));
    }
  }
  return std::nullopt;
}

Difference CheckExpression(const json::object& test_case) {
  const std::string expression = TextOf(test_case.at("expression"));
  const json::object& compile = test_case.at("compile").as_object();
  const auto program = cel::CompileExpression(expression, cel::ExpressionKind::kSelector);
  if (!compile.at("ok").as_bool()) {
    if (program) return "compiles, want error " + TextOf(compile.at("error"));
    return CompareCompileError(compile, program.error().message);
  }
  if (!program) return "does not compile: " + program.error().message;
  const std::string type = TextOf(compile.at("outputType"));
  if ((*program)->result_type() != type) {
    return fmt::format("result type is {}, want {}", (*program)->result_type(), type);
  }
  const json::value* evaluations = test_case.if_contains("evals");
  if (evaluations == nullptr) return std::nullopt;
  for (const json::value& evaluation : evaluations->as_array()) {
    if (Difference difference = CompareEvaluation(evaluation.as_object(), **program)) return difference;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> CheckCelCase(const json::object& test_case) {
  try {
    return CheckExpression(test_case);
  } catch (const std::exception& error) {
    return fmt::format("bad case: {}", error.what());
  }
}

}  // namespace berth::cli
