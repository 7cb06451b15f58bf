#include "bench/params.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/operations.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

Operation Parsed(const char* text) {
  auto operation = ParseOperation(json::parse(text));
  EXPECT_TRUE(operation.has_value()) << operation.error().message;
  return *std::move(operation);
}

std::string UnrollError(const char* operation, json::object params) {
  Params values(std::move(params));
  const auto unrolled = Unroll({Parsed(operation)}, values);
  return unrolled ? "" : unrolled.error().message;
}

CreatePods Resolved(const char* operation, json::object params) {
  Params values(std::move(params));
  auto unrolled = Unroll({Parsed(operation)}, values);
  EXPECT_TRUE(unrolled.has_value()) << unrolled.error().message;
  return std::get<CreatePods>(unrolled->front().action);
}

// case 5
TEST(Params, CountsAreNumbersCutOffAtThePoint) {
  const char* const op = R"({"opcode": "createPods", "countParam": "$n"})";
  EXPECT_EQ(Resolved(op, {{"n", 3.9}}).count.number(), 3);
  EXPECT_EQ(Resolved(op, {{"n", 3}}).count.number(), 3);
  EXPECT_EQ(UnrollError(op, {{"n", "3"}}),
            "op 0 (createPods): field \"countParam\": parameter n has the wrong type string");
  EXPECT_EQ(UnrollError(op, {{"m", 3}}), "op 0 (createPods): field \"countParam\": parameter n is undefined");
  EXPECT_EQ(UnrollError(op, {{"n", -1}}),
            "op 0 (createPods): field \"countParam\": invalid Count=-1 / CountParam=\"$n\"");
  EXPECT_EQ(UnrollError(R"({"opcode": "createPods", "countParam": "$n|4"})", {{"n", 3}}),
            "op 0 (createPods): field \"countParam\": parameter n|4 is undefined");
}

// case 6
TEST(Params, TemplateParametersHaveDefaults) {
  Params params({{"x", nullptr}, {"list", json::array{1, 2}}, {"n", 7}});
  const auto resolved = params.ResolveAll({{"a", "$absent|"},
                                           {"b", "$x|5"},
                                           {"c", "$absent|[1,2]"},
                                           {"d", "$list"},
                                           {"e", "plain"},
                                           {"f", 4},
                                           {"g", "$absent|1"}});
  ASSERT_TRUE(resolved.has_value()) << resolved.error().message;
  EXPECT_TRUE(resolved->at("a").is_null());
  EXPECT_TRUE(resolved->at("b").is_null());
  EXPECT_EQ(resolved->at("c"), (json::array{1.0, 2.0}));
  EXPECT_EQ(resolved->at("d"), (json::array{1.0, 2.0}));
  EXPECT_EQ(resolved->at("e"), "plain");
  EXPECT_EQ(resolved->at("f"), 4);
  EXPECT_TRUE(resolved->at("g").is_double());
  EXPECT_EQ(params.Resolve("$absent").error().message, "parameter \"absent\" not found");
  // case 7: what nobody read is known.
  EXPECT_THAT(params.Unused(), testing::ElementsAre("n"));
}

// case 8
TEST(Params, MultiplierAndBatchSize) {
  const char* const op =
      R"({"opcode": "createPods", "countParam": "$n", "countMultiplierParam": "$m",
          "signatureBatchSizeParam": "$b"})";
  const CreatePods pods = Resolved(op, {{"n", 3}, {"m", 4}, {"b", 2}});
  EXPECT_EQ(pods.count.number(), 12);
  EXPECT_EQ(pods.signature_batch_size.number(), 2);
  EXPECT_EQ(Resolved(op, {{"n", 3}, {"m", 4}, {"b", 0}}).signature_batch_size.number(), 1);
}

// case 9
TEST(Params, SteadyStateNeedsATime) {
  const char* const op =
      R"({"opcode": "createPods", "count": 1, "steadyStateParam": "$s", "durationParam": "$d"})";
  EXPECT_EQ(Resolved(op, {{"s", true}, {"d", "10s"}}).duration, std::chrono::seconds(10));
  EXPECT_THAT(UnrollError(op, {{"s", true}, {"d", "0s"}}), testing::HasSubstr("duration must be > 0"));
  EXPECT_THAT(UnrollError(op, {{"s", true}, {"d", "soon"}}), testing::HasSubstr("invalid duration"));
  EXPECT_THAT(UnrollError(op, {{"s", "yes"}, {"d", "1s"}}), testing::HasSubstr("wrong type string"));
}

// case 23
TEST(Params, EverySetOfPodsIsAnOperation) {
  Params params({{"sets", 3}});
  const auto unrolled = Unroll({Parsed(R"({"opcode": "createNodes", "count": 1})"),
                                Parsed(R"({"opcode": "createPodSets", "countParam": "$sets",
                                           "namespacePrefix": "ns", "createPodsOp": {"count": 2}})"),
                                Parsed(R"({"opcode": "stopCollectingMetrics"})")},
                               params);
  ASSERT_TRUE(unrolled.has_value()) << unrolled.error().message;
  ASSERT_EQ(unrolled->size(), 5);
  EXPECT_EQ(std::get<CreatePods>((*unrolled)[1].action).namespace_name, "ns-0");
  EXPECT_EQ(std::get<CreatePods>((*unrolled)[3].action).namespace_name, "ns-2");
  EXPECT_EQ(std::get<CreatePods>((*unrolled)[3].action).count.number(), 2);
}

}  // namespace
}  // namespace berth::bench
