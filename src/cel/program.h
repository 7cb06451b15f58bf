#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "api/devices.h"
#include "cel/device_environment.h"
#include "cel/evaluator.h"

namespace berth::cel {

// What an expression is for decides what it may evaluate to.
enum class ExpressionKind : std::uint8_t {
  kSelector,          // a bool: does the device match?
  kDerivedAttribute,  // a value that an attribute can hold
};

// The outcome of an evaluation; the error is the text for the user.
template <class T>
struct Evaluation {
  std::expected<T, std::string> value;
  std::uint64_t cost = 0;
};

// A compiled expression. Immutable: evaluations share it.
class Program {
 public:
  Program(std::string expression, ExpressionKind kind, std::string result_type, Plan plan);

  const std::string& expression() const { return expression_; }
  ExpressionKind kind() const { return kind_; }
  // "bool", "dyn", "list(int)".
  const std::string& result_type() const { return result_type_; }

  // Requires a selector.
  Evaluation<bool> Evaluate(const DeviceView& device, const Budget& budget = {}) const;
  // Requires a derived attribute.
  Evaluation<api::DeviceAttribute> EvaluateAttribute(const DeviceView& device,
                                                     const Budget& budget = {}) const;

 private:
  std::string expression_;
  ExpressionKind kind_;
  std::string result_type_;
  Plan plan_;
};

// The error of a selector as users see it: with a hint, once, if a key is missing.
std::string WithMissingKeyHint(std::string error);

}  // namespace berth::cel
