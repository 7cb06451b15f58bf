#include "shell/extender_messages.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "client/whole_object.h"

#include "support/builders.h"
#include "wire/json_document.h"

// What extenders read and write. Numbers are those of the cases of the cycle chapter.
namespace berth::shell {
namespace {

namespace json = boost::json;
using berth::test::MakeNode;
using berth::test::MakePod;
using cycle::ExtenderCall;
using cycle::ExtenderVerb;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

json::object BodyOf(const ExtenderCall& call, bool node_cache_capable) {
  ObjectTexts texts;
  auto parsed = wire::ParseJson(QuestionBody(call, node_cache_capable, texts));
  EXPECT_TRUE(parsed.has_value());
  return parsed->get_object();
}

ExtenderCall FilterCall() {
  return {.verb = ExtenderVerb::kFilter,
          .pod = MakePod("web").Uid("u1").Record(),
          .nodes = {MakeNode("n1").Ref(), MakeNode("n2").Ref()}};
}

TEST(ExtenderQuestion, NamesOrWholeNodes) {
  const json::object by_name = BodyOf(FilterCall(), true);
  EXPECT_EQ(json::serialize(by_name.at("NodeNames")), R"(["n1","n2"])");
  EXPECT_TRUE(by_name.at("Nodes").is_null());
  EXPECT_EQ(by_name.at("Pod").at("metadata").at("uid"), "u1");
  const json::object whole = BodyOf(FilterCall(), false);
  EXPECT_TRUE(whole.at("NodeNames").is_null());
  EXPECT_EQ(whole.at("Nodes").at("items").at(1).at("metadata").at("name"), "n2");
}

TEST(ExtenderQuestion, PodsAreWholeButForManagedFields) {
  ExtenderCall call = FilterCall();
  call.pod = client::WithWhole<api::PodRecord>(
      call.pod, {.encoding = client::Encoding::kJson,
                 .bytes = R"({"metadata":{"name":"web","managedFields":[{}]},"spec":{"hostname":"h"}})"});
  EXPECT_EQ(json::serialize(BodyOf(call, true).at("Pod")),
            R"({"metadata":{"name":"web"},"spec":{"hostname":"h"}})");
}

TEST(ExtenderQuestion, ANodeThatChangedIsWrittenAnew) {
  ObjectTexts texts;
  EXPECT_THAT(texts.Of(MakeNode("n1").Label("a", "1").Ref()), HasSubstr(R"("a":"1")"));
  EXPECT_THAT(texts.Of(MakeNode("n1").Label("a", "2").Ref()), HasSubstr(R"("a":"2")"));
}

TEST(ExtenderQuestion, Binding) {
  ExtenderCall call = FilterCall();
  call.verb = ExtenderVerb::kBind;
  call.node = "n\"1";
  EXPECT_EQ(json::serialize(BodyOf(call, true)),
            R"({"PodName":"web","PodNamespace":"default","PodUID":"u1","Node":"n\"1"})");
}

TEST(ExtenderQuestion, VictimsByUidOrWhole) {
  ExtenderCall call = FilterCall();
  call.verb = ExtenderVerb::kPreempt;
  call.victims = {{.node = "n1", .pods = {MakePod("low").Uid("v1").Record()}, .budget_violations = 2}};
  const json::object by_uid = BodyOf(call, true);
  EXPECT_EQ(json::serialize(by_uid.at("NodeNameToMetaVictims")),
            R"({"n1":{"Pods":[{"UID":"v1"}],"NumPDBViolations":2}})");
  EXPECT_TRUE(by_uid.at("NodeNameToVictims").is_null());
  const json::object whole = BodyOf(call, false);
  EXPECT_TRUE(whole.at("NodeNameToMetaVictims").is_null());
  const json::value& victims = whole.at("NodeNameToVictims").at("n1");
  EXPECT_EQ(victims.at("Pods").at(0).at("metadata").at("name"), "low");
  EXPECT_EQ(victims.at("NumPDBViolations"), 2);
}

TEST(ExtenderAnswers, Case33KeysInAnyCaseAndWhatFollowsIsNotLookedAt) {
  const auto answer = ReadAnswer(ExtenderVerb::kFilter,
                                 R"({"nodenames":["n1"],"failedNodes":{"n2":"no"},
                                     "FAILEDANDUNRESOLVABLENODES":{"n3":"never"},"other":[{}]} trailing)");
  ASSERT_TRUE(answer.has_value()) << answer.error().message;
  EXPECT_THAT(answer->node_names.value(), ElementsAre("n1"));
  EXPECT_FALSE(answer->nodes.has_value());
  EXPECT_THAT(answer->failed, ElementsAre(Pair("n2", "no")));
  EXPECT_THAT(answer->failed_and_unresolvable, ElementsAre(Pair("n3", "never")));
}

TEST(ExtenderAnswers, Case33AnEmptyBodyIsAnError) {
  for (const auto verb :
       {ExtenderVerb::kFilter, ExtenderVerb::kPrioritize, ExtenderVerb::kPreempt, ExtenderVerb::kBind}) {
    const auto answer = ReadAnswer(verb, " \n");
    ASSERT_FALSE(answer.has_value());
    EXPECT_EQ(answer.error().message, "EOF");
  }
}

TEST(ExtenderAnswers, GarbageIsAnError) {
  for (const char* body :
       {"<html>", "{", "{\"NodeNames\":", "\"text\"", "[1]", "{\"NodeNames\":[1]}", "{\"NodeNames\":\"n1\"}",
        "{\"FailedNodes\":{\"n1\":1}}", "{\"Nodes\":[]}", "{\"Nodes\":{\"items\":[1]}}", "{\"Error\":{}}"}) {
    EXPECT_FALSE(ReadAnswer(ExtenderVerb::kFilter, body).has_value()) << body;
  }
  EXPECT_FALSE(ReadAnswer(ExtenderVerb::kPrioritize, R"([{"Host":"n1","Score":1.5}])").has_value());
  EXPECT_FALSE(ReadAnswer(ExtenderVerb::kPrioritize, R"({"Host":"n1"})").has_value());
  EXPECT_FALSE(ReadAnswer(ExtenderVerb::kPreempt, R"({"NodeNameToMetaVictims":{"n1":[]}})").has_value());
  EXPECT_FALSE(ReadAnswer(ExtenderVerb::kPreempt, std::string(100'000, '[')).has_value());
}

TEST(ExtenderAnswers, NullIsNothing) {
  const auto answer = ReadAnswer(ExtenderVerb::kFilter, "null");
  ASSERT_TRUE(answer.has_value());
  EXPECT_FALSE(answer->node_names.has_value());
  const auto none = ReadAnswer(ExtenderVerb::kFilter, R"({"NodeNames":[],"Nodes":null})");
  EXPECT_THAT(none->node_names.value(), IsEmpty());
}

TEST(ExtenderAnswers, WholeNodesAreReadForTheirNames) {
  const auto answer =
      ReadAnswer(ExtenderVerb::kFilter, R"({"Nodes":{"items":[{"metadata":{"name":"n1"}},{}]}})");
  ASSERT_TRUE(answer.has_value());
  EXPECT_THAT(answer->nodes.value(), ElementsAre("n1", ""));
}

TEST(ExtenderAnswers, ScoresVictimsAndErrors) {
  EXPECT_THAT(
      ReadAnswer(ExtenderVerb::kPrioritize, R"([{"Host":"n1","Score":10},{"host":"n2","score":-3}])")->scores,
      ElementsAre(Pair("n1", 10), Pair("n2", -3)));
  const auto victims = ReadAnswer(
      ExtenderVerb::kPreempt,
      R"({"NodeNameToMetaVictims":{"n1":{"Pods":[{"UID":"a"},{"UID":"b"}],"NumPDBViolations":1},"n2":null}})");
  ASSERT_TRUE(victims.has_value());
  ASSERT_EQ(victims->victims.size(), 2);
  EXPECT_THAT(victims->victims[0].uids, ElementsAre("a", "b"));
  EXPECT_EQ(victims->victims[0].budget_violations, 1);
  EXPECT_THAT(victims->victims[1].uids, IsEmpty());
  EXPECT_EQ(ReadAnswer(ExtenderVerb::kBind, R"({"Error":"no"})")->error, "no");
}

}  // namespace
}  // namespace berth::shell
