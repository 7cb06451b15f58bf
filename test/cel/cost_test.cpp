#include <gtest/gtest.h>
#include <string>
#include <string_view>

#include "cel/device_support.h"

namespace berth::cel {
namespace {

// Costs are upstream's, to the unit: the limit is a behaviour that users meet.
struct CostCase {
  std::string_view expression;
  std::uint64_t want;
};

class Cost : public testing::TestWithParam<CostCase> {};

TEST_P(Cost, IsUpstreams) {
  const auto program = CompileExpression(Expand(GetParam().expression), ExpressionKind::kSelector);
  ASSERT_TRUE(program) << program.error().message;
  const DeviceView device("dra.example.com", MakeTestDevice());
  EXPECT_EQ((*program)->Evaluate(device).cost, GetParam().want) << GetParam().expression;
}

constexpr CostCase kChains[] = {
    {"true", 0},
    {"A.bool", 4},
    {"A.missing", 4},
    {"device.attributes[device.driver].bool", 5},
    {"has(A.bool)", 3},
    {"has({\"a\": 1}.a)", 1},
    {"A.?missing.hasValue()", 4},
    {"A.?bool.orValue(false)", 4},
    {"true ? device.allowMultipleAllocations : false", 1},
    {"(true ? A : A).bool", 3},
    {"[1, 2][0] == 1", 3},
    {"cel.bind(x, A.bool, x && x)", 6},
    {"A.?missing.orValue(true)", 3},
};
INSTANTIATE_TEST_SUITE_P(Chains, Cost, testing::ValuesIn(kChains));

constexpr CostCase kCalls[] = {
    {"device.driver == \"dra.example.com\"", 4},
    {"A.ver == semver(\"1.2.3\")", 6},
    {"device.driver.startsWith(\"dra\")", 3},
    {"device.driver.contains(\"a\")", 4},
    {"device.driver.matches(\"^dra\")", 4},
    {"A.int in [1, 5]", 4},
    {"A.int in A.ints", 9},
    {"5 in [A.int]", 15},
    {"A.ints.sum() == 6", 8},
    {"[3, 1, 2].sort() == [1, 2, 3]", 30},
    {"[\"b\", \"a\"].sort() == [\"a\", \"b\"]", 20},
    {"lists.range(100).size() == 100", 113},
    {"sets.contains([1, 2, 3], [2])", 4},
    {"format.uuid().validate(\"x\").hasValue()", 20},
    {"cidr(\"10.0.0.0/8\").containsIP(\"10.1.2.3\")", 3},
    {"[A.int].size() == 1", 16},
    {"{\"a\": A.int}.size() == 1", 36},
    {"google.protobuf.Int32Value{value: 1} == 1", 41},
};
INSTANTIATE_TEST_SUITE_P(Calls, Cost, testing::ValuesIn(kCalls));

// Calls of one or two arguments evaluate them all, the others stop at the first error and are then free.
constexpr CostCase kErrors[] = {
    {"A.missing + A.int == 1", 10},        {"A.str.replace(A.missing, A.str) == \"\"", 8},
    {"A.missing.isGreaterThan(A.ver)", 4}, {"A.missing.sort().size() == 0", 7},
    {"[A.missing].size() == 0", 16},
};
INSTANTIATE_TEST_SUITE_P(Errors, Cost, testing::ValuesIn(kErrors));

constexpr CostCase kLoops[] = {
    {"[1, 2, 3].all(x, x > 0)", 16},      {"[1, 2, 3].exists(x, x == 2)", 16},
    {"[1, 2].map(x, x).size() == 2", 29}, {"[1, 2].filter(x, x > 1).size() == 1", 20},
    {"[1, 2].exists_one(x, x == 1)", 8},
};
INSTANTIATE_TEST_SUITE_P(Loops, Cost, testing::ValuesIn(kLoops));

// || absorbs errors, but not that the evaluation was ended.
TEST(CostLimit, EndsTheEvaluationWhateverIsAround) {
  const std::string_view nested = "true || [0,1,2,3,4,5,6,7,8,9].all(a, true) || false";
  EXPECT_EQ(Outcome(nested, MakeTestDevice(), {.cost_limit = 0}), "true");
  EXPECT_EQ(Outcome("[0,1,2,3,4,5,6,7,8,9].all(a, a >= 0) || true", MakeTestDevice(), {.cost_limit = 20}),
            "RE operation cancelled: actual cost limit exceeded");
  EXPECT_EQ(Outcome("lists.range(1000).all(x, lists.range(1000).all(y, x + y >= 0))"),
            "RE operation cancelled: actual cost limit exceeded");
}

// Case 120: ten million rounds, of which the limit allows a small part.
TEST(CostLimit, EndsNestedLoops) {
  std::string text = "int('1'.find('[0-9]*')) < 100";
  for (int i = 0; i < 7; ++i) {
    text = "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10].all(x" + std::to_string(i) + ", " + text + ")";
  }
  EXPECT_EQ(Outcome(text), "RE operation cancelled: actual cost limit exceeded");
}

TEST(CostLimit, IsNotExceededByReachingIt) {
  EXPECT_EQ(Outcome("A.bool", MakeTestDevice(), {.cost_limit = 4}), "true");
  EXPECT_EQ(Outcome("A.bool", MakeTestDevice(), {.cost_limit = 3}),
            "RE operation cancelled: actual cost limit exceeded");
}

// Case 121.
TEST(Interruption, IsAskedForEveryHundredIterations) {
  int asked = 0;
  const Budget budget{.interrupted = [&asked] { return ++asked == 2; }};
  EXPECT_EQ(Outcome("lists.range(150).all(x, true)", MakeTestDevice(), budget), "true");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(Outcome("lists.range(1000).all(x, true) || true", MakeTestDevice(), budget),
            "RE operation interrupted");
}

// The cost of an expression bounds its time, not its memory.
TEST(Limits, ValuesDoNotGrowWithoutBound) {
  EXPECT_EQ(
      Outcome("cel.bind(a, lists.range(100000), cel.bind(b, a+a+a+a+a+a+a+a+a+a, (b+b+b+b+b).size() > 0))"),
      "RE list is too large");
  EXPECT_EQ(
      Outcome("cel.bind(a, '0123456789', cel.bind(b, a+a+a+a+a+a+a+a+a+a, cel.bind(c, b+b+b+b+b+b+b+b+b+b, "
              "cel.bind(d, c+c+c+c+c+c+c+c+c+c, d.replace('', d).size() > 0))))"),
      "RE result of replace is too large");
  EXPECT_TRUE(
      Outcome("'%.999999999f'.format([1.0]).size() > 0").contains("exceeds maximum allowed precision"));
}

// Lists that share their items hold exponentially many of them.
TEST(Limits, SharedStructureDoesNotHang) {
  std::string text = "a0 == b0";
  for (int i = 0; i < 40; ++i) {
    const std::string inner = std::to_string(i + 1);
    const std::string outer = std::to_string(i);
    text = "cel.bind(a" + outer + ", [a" + inner + ", a" + inner + "], cel.bind(b" + outer + ", [b" + inner +
           ", b" + inner + "], " + text + "))";
  }
  EXPECT_EQ(Outcome("cel.bind(a40, [1], cel.bind(b40, [1], " + text + "))"), "RE comparison takes too long");
}

}  // namespace
}  // namespace berth::cel
