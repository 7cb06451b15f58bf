#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

// The parsed form of a text template, between its parser and its evaluation.
namespace berth::bench {

struct TemplatePipeline;

struct TemplateTerm {
  enum class Kind : std::uint8_t { kLiteral, kDot, kVariable, kFunction, kPipeline };
  Kind kind = Kind::kLiteral;
  boost::json::value literal;
  std::string name;                     // of the variable or function
  std::vector<std::string> fields;      // behind the dot, the variable or the parenthesis
  std::vector<TemplatePipeline> inner;  // the one in parentheses
};

struct TemplatePipeline {
  std::vector<std::string> variables;  // that are set to the result
  bool declares = false;               // with :=
  // Each command is a function with its arguments, or one value.
  std::vector<std::vector<TemplateTerm>> commands;
};

struct TemplateNode;
struct TemplateBlock {
  std::vector<TemplateNode> nodes;
};

struct TemplateNode {
  enum class Kind : std::uint8_t { kText, kAction, kIf, kRange };
  Kind kind = Kind::kText;
  std::string text;
  TemplatePipeline pipeline;
  TemplateBlock body;
  TemplateBlock otherwise;
};

base::Result<TemplateBlock> ParseTemplate(std::string_view text);

bool IsTemplateFunction(std::string_view name);
base::Result<boost::json::value> CallTemplateFunction(std::string_view name,
                                                      std::span<const boost::json::value> arguments);
// Neither false, 0, null nor empty.
bool IsTrueInTemplate(const boost::json::value& value);
// As Go's %v.
void AppendTemplateValue(std::string& out, const boost::json::value& value);

}  // namespace berth::bench
