#pragma once

#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "cel/device_support.h"

// Expressions with their outcome, in tables. A number is that of the case in the chapter about expressions;
// 0 is none of them.
namespace berth::cel {

struct ExpressionCase {
  int number;
  std::string_view expression;
  std::string_view want;  // "true", "false", or the start of the error: "CE" when compiled, "RE" when run
};

inline void PrintTo(const ExpressionCase& one, std::ostream* out) { *out << one.expression; }

// Case20n3 is one of case 20.
inline std::string NameOfCase(const testing::TestParamInfo<ExpressionCase>& info) {
  const std::string place = std::to_string(info.index);
  return info.param.number == 0 ? "Other" + place : "Case" + std::to_string(info.param.number) + "n" + place;
}

inline void ExpectOutcome(const ExpressionCase& one) {
  const std::string outcome = Outcome(one.expression);
  // A whole answer, so that "true" is not the beginning of something else.
  const bool is_answer = one.want == "true" || one.want == "false";
  EXPECT_TRUE(is_answer ? outcome == one.want : outcome.starts_with(one.want))
      << "case " << one.number << ": " << one.expression << "\n gives " << outcome << "\n, want " << one.want;
}

}  // namespace berth::cel
