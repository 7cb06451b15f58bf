#pragma once

#include <string>
#include <string_view>

#include "cel/compiler.h"

namespace berth::cel {

// The device that the tests ask about: an attribute of every kind, one of another domain, one capacity.
inline api::Device MakeTestDevice() {
  api::Device device;
  device.attributes["bool"].bool_value = true;
  device.attributes["int"].int_value = 5;
  device.attributes["str"].string_value = "fish";
  device.attributes["ver"].version = "1.2.3";
  device.attributes["ints"].ints = {1, 2, 3};
  device.attributes["strs"].strings = {"fish", "bird"};
  device.attributes["vers"].versions = {"1.0.0", "2.0.0"};
  device.attributes["other.example.com/name"].string_value = "x";
  device.capacity["memory"].value = api::Quantity::Parse("1Gi").value();
  return device;
}

// A and C stand for the maps of the driver's own attributes and capacity: A.int, C.memory.
inline std::string Expand(std::string_view expression) {
  constexpr std::string_view kBefore = " (![,{?:=&|<>+-*/%";
  std::string expanded;
  for (std::size_t i = 0; i < expression.size(); ++i) {
    const char c = expression[i];
    const bool starts = i == 0 || kBefore.contains(expression[i - 1]);
    const char next = i + 1 < expression.size() ? expression[i + 1] : ' ';
    const bool ends = std::string_view(".[,) ").contains(next);
    if ((c == 'A' || c == 'C') && starts && ends) {
      expanded +=
          c == 'A' ? "device.attributes[\"dra.example.com\"]" : "device.capacity[\"dra.example.com\"]";
    } else {
      expanded += c;
    }
  }
  return expanded;
}

// "true", "false", "CE " and the compile error, or "RE " and the error of the evaluation.
inline std::string Outcome(std::string_view expression, const api::Device& device = MakeTestDevice(),
                           const Budget& budget = {}) {
  const auto program = CompileExpression(Expand(expression), ExpressionKind::kSelector);
  if (!program) return "CE " + program.error().message;
  const auto evaluation = (*program)->Evaluate(DeviceView("dra.example.com", device), budget);
  if (!evaluation.value) return "RE " + evaluation.value.error();
  return *evaluation.value ? "true" : "false";
}

}  // namespace berth::cel
