#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <string>
#include <string_view>
#include <vector>

#include "cel/device_support.h"
#include "cel/semver.h"
#include "cel/utf8.h"

namespace berth::cel {
namespace {

// Pieces that expressions are made of: put together at random they are mostly wrong, sometimes right.
rc::Gen<std::string> AnyExpression() {
  const auto piece = rc::gen::element<std::string>(
      "device", ".driver", ".attributes", "[\"dra.example.com\"]", ".int", ".missing", "A", "(", ")", "[",
      "]", "{", "}", "1", "2u", "1.5", "\"a\"", "b\"a\"", "null", "true", "false", " == ", " != ", " < ",
      " + ", " - ", " / ", " && ", " || ", " ? ", " : ", ", ", "!", "-", ".?int", "[?0]", ".all(x, x > 0)",
      ".map(x, x)", ".size()", "dyn(", "string(", "semver(\"1.2.3\")", "quantity(\"1Gi\")", ".orValue(1)",
      ".format([1])", " in ", ".sort()", "cel.bind(y, 1, y)", "'");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece),
                      [](const std::vector<std::string>& pieces) {
                        std::string text;
                        for (const std::string& each : pieces) text += each;
                        return text;
                      });
}

// Whatever is written: an answer, the same each time, and no crash.
RC_GTEST_PROP(AnyText, HasOneOutcome, ()) {
  const std::string expression = *AnyExpression();
  RC_ASSERT(Outcome(expression) == Outcome(expression));
}

// A limit only ever replaces an outcome by "cancelled", and what fits the limit is what there is without one.
RC_GTEST_PROP(AnyText, CostsNoMoreThanItsLimitOrIsCancelled, ()) {
  const auto program = CompileExpression(*AnyExpression(), ExpressionKind::kSelector);
  if (!program) return;
  const DeviceView device("dra.example.com", MakeTestDevice());
  const auto whole = (*program)->Evaluate(device);
  const auto limit = *rc::gen::inRange<std::uint64_t>(0, 40);
  const auto limited = (*program)->Evaluate(device, {.cost_limit = limit});
  if (whole.cost <= limit) {
    RC_ASSERT((limited.value == whole.value));
    RC_ASSERT(limited.cost == whole.cost);
  } else {
    RC_ASSERT(limited.value.error() == "operation cancelled: actual cost limit exceeded");
  }
}

std::string Outcome3(const std::string& left, std::string_view op, const std::string& right) {
  return Outcome("(" + left + ") " + std::string(op) + " (" + right + ")");
}

// true, false and an error: && and || commute in their value, though not in their error.
RC_GTEST_PROP(Logic, CommutesUnlessBothFail, ()) {
  const auto operand = rc::gen::element<std::string>("true", "false", "1 / 0 == 1", "A.missing", "dyn(5)");
  const std::string left = *operand;
  const std::string right = *operand;
  const std::string_view op = *rc::gen::element<std::string_view>("&&", "||");
  const std::string one = Outcome3(left, op, right);
  const std::string two = Outcome3(right, op, left);
  RC_ASSERT(one.starts_with("RE") == two.starts_with("RE"));
  if (!one.starts_with("RE")) RC_ASSERT(one == two);
}

// Numbers of different types have one order.
RC_GTEST_PROP(Numbers, AreOrderedAcrossTypes, ()) {
  const auto left = *rc::gen::arbitrary<std::int64_t>();
  const auto right = *rc::gen::arbitrary<std::int64_t>();
  const std::string one = "dyn(" + std::to_string(left) + ")";
  const std::string two = right >= 0 ? std::to_string(right) + "u" : std::to_string(right);
  RC_ASSERT(Outcome(one + " < " + two) == (left < right ? "true" : "false"));
  RC_ASSERT(Outcome(one + " == dyn(" + two + ")") == (left == right ? "true" : "false"));
}

RC_GTEST_PROP(Semver, TextReadsBack, ()) {
  Semver version;
  version.major = *rc::gen::arbitrary<std::uint64_t>();
  version.minor = *rc::gen::arbitrary<std::uint64_t>();
  version.patch = *rc::gen::arbitrary<std::uint64_t>();
  if (*rc::gen::arbitrary<bool>()) version.build = {"b", "007"};
  const auto again = ParseSemver(SemverText(version));
  RC_ASSERT(again.has_value());
  RC_ASSERT(SemverText(*again) == SemverText(version));
  RC_ASSERT(CompareSemver(*again, version) == 0);
}

RC_GTEST_PROP(Utf8, ReadsBack, ()) {
  std::u32string text;
  for (const auto c : *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange(0u, 0x110000u))) {
    if (IsScalarValue(c)) text.push_back(c);
  }
  RC_ASSERT(Decode(Encode(text)) == text);
  RC_ASSERT(IsValidUtf8(Encode(text)));
}

}  // namespace
}  // namespace berth::cel
