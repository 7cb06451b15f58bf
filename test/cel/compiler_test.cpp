#include "cel/compiler.h"

#include <gtest/gtest.h>

#include "cel/device_support.h"

namespace berth::cel {
namespace {

TEST(Compiler, GivesTheSameProgramAgain) {
  Compiler compiler;
  const auto first = compiler.Compile("device.driver == 'x'");
  const auto second = compiler.Compile("device.driver == 'x'");
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
}

TEST(Compiler, ForgetsWhatWasNotUsedForLongest) {
  Compiler compiler(2);
  const auto first = compiler.Compile("true");
  compiler.Compile("false").value();
  compiler.Compile("true").value();
  compiler.Compile("1 < 2").value();
  EXPECT_EQ(compiler.size(), 2u);
  EXPECT_EQ(compiler.Compile("true").value(), first.value());
}

TEST(Compiler, DoesNotRememberWhatDoesNotCompile) {
  Compiler compiler;
  EXPECT_FALSE(compiler.Compile("device.nope"));
  EXPECT_EQ(compiler.size(), 0u);
}

// One text may be a selector here and an attribute there.
TEST(Compiler, TellsKindsApart) {
  Compiler compiler;
  EXPECT_EQ(compiler.Compile("true").value()->kind(), ExpressionKind::kSelector);
  EXPECT_EQ(compiler.Compile("true", ExpressionKind::kDerivedAttribute).value()->kind(),
            ExpressionKind::kDerivedAttribute);
  EXPECT_EQ(compiler.size(), 2u);
}

TEST(Program, OutlivesTheCache) {
  std::shared_ptr<const Program> program;
  {
    Compiler compiler;
    program = compiler.Compile("device.driver.matches('^dra') && 5 in [5, 6]").value();
  }
  EXPECT_TRUE(program->Evaluate(DeviceView("dra.example.com", MakeTestDevice())).value.value());
}

TEST(MissingKey, GetsAHintOnce) {
  EXPECT_EQ(
      WithMissingKeyHint("no such key: x"),
      "no such key: x. consider using CEL optional chaining (.? followed by orValue()) or guarding the check "
      "with has() for optional fields");
  EXPECT_EQ(WithMissingKeyHint("no such overload"), "no such overload");
}

std::expected<api::DeviceAttribute, std::string> Derive(std::string_view expression) {
  const auto program = CompileExpression(Expand(expression), ExpressionKind::kDerivedAttribute);
  if (!program) return std::unexpected("CE " + program.error().message);
  return (*program)->EvaluateAttribute(DeviceView("dra.example.com", MakeTestDevice())).value;
}

// Case 122.
TEST(DerivedAttribute, HoldsWhatAnAttributeCan) {
  EXPECT_EQ(Derive("42")->int_value, 42);
  EXPECT_EQ(Derive("'a'")->string_value, "a");
  EXPECT_EQ(Derive("true")->bool_value, true);
  EXPECT_EQ(Derive("[1, 2]")->ints, (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(Derive("semver('1.0.0-a.1+b')")->version, "1.0.0-a.1+b");
  EXPECT_EQ(Derive("A.vers")->versions, (std::vector<std::string>{"1.0.0", "2.0.0"}));
  EXPECT_EQ(Derive("A['int']")->int_value, 5);
}

// Cases 123 and 124.
TEST(DerivedAttribute, RefusesWhatAnAttributeCannotHold) {
  EXPECT_EQ(Derive("null").error(),
            "CE must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these "
            "scalars, not "
            "null_type");
  EXPECT_EQ(Derive("dyn(null)").error(), "unsupported CEL return type: structpb.NullValue");
  EXPECT_EQ(Derive("[dyn(A.int), dyn(A.str)]").error(),
            "expected list element at index 1 to be int, got string");
  EXPECT_EQ(Derive("dyn([1.5])").error(), "unsupported list element type: float64");
  EXPECT_EQ(Derive("A['nope']").error(), "no such key: nope");
}

}  // namespace
}  // namespace berth::cel
