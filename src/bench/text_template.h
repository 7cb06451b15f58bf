#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::bench {

struct TemplateBlock;

// Go's text/template, as far as object templates use it: fields, variables, pipelines, parentheses, if,
// range (over whole numbers too), comparison, and the arithmetic that scheduler_perf adds. Definitions of
// further templates, `with` and methods are refused.
//
// Values are JSON: whole numbers are Go's int, others its float64. Parsed once, it can be executed many
// times.
class TextTemplate {
 public:
  static base::Result<TextTemplate> Parse(std::string_view text);

  // `data` is what the dot and $ stand for.
  base::Result<std::string> Execute(const boost::json::object& data) const;
  // Without any action the result is the same for all data.
  bool is_plain() const;

 private:
  std::shared_ptr<const TemplateBlock> root_;
};

}  // namespace berth::bench
