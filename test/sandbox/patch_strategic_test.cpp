#include "sandbox/patch_strategic.h"

#include <boost/json.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "wire/json_document.h"
#include "wire/schema.h"

// What the schema's merge keys and the directives do to lists and objects of a pod.
namespace berth::sandbox {
namespace {

namespace json = boost::json;

std::string Merged(std::string_view document, std::string_view patch) {
  json::object object = wire::ParseJson(document)->as_object();
  const wire::Message* pod = wire::Schema::Get().FindMessage("core.v1.Pod");
  const ApiResult<void> merged = StrategicMerge(*pod, object, wire::ParseJson(patch)->as_object());
  return merged ? wire::WriteJson(object) : "error " + std::to_string(merged.error().code);
}

struct MergeCase {
  std::string_view name;
  std::string_view document;
  std::string_view patch;
  std::string_view want;
};

class StrategicMergeTest : public testing::TestWithParam<MergeCase> {};

TEST_P(StrategicMergeTest, GivesWhatTheServerGives) {
  EXPECT_EQ(Merged(GetParam().document, GetParam().patch), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Case57, StrategicMergeTest,
    testing::Values(
        MergeCase{
            "ServerOnlyConditionKeepsItsPlace",
            R"({"status":{"conditions":[{"type":"A"},{"type":"S"},{"type":"B"}]}})",
            R"({"status":{"$setElementOrder/conditions":[{"type":"A"},{"type":"B"},{"type":"N"}],
                      "conditions":[{"type":"B","status":"True"},{"type":"N"}]}})",
            R"({"status":{"conditions":[{"type":"A"},{"type":"S"},{"type":"B","status":"True"},{"type":"N"}]}})"},
        MergeCase{"ElementWithoutItsKeyIsAnError", R"({"status":{"conditions":[{"type":"A"}]}})",
                  R"({"status":{"conditions":[{"status":"True"}]}})", "error 500"},
        MergeCase{"TolerationsAreReplaced", R"({"spec":{"tolerations":[{"key":"a"},{"key":"b"}]}})",
                  R"({"spec":{"tolerations":[{"key":"c"}]}})", R"({"spec":{"tolerations":[{"key":"c"}]}})"},
        MergeCase{
            "RetainKeysDropsTheOldVolumeSource", R"({"spec":{"volumes":[{"name":"v","emptyDir":{}}]}})",
            R"({"spec":{"volumes":[{"$retainKeys":["name","hostPath"],"name":"v","hostPath":{"path":"/p"}}]}})",
            R"({"spec":{"volumes":[{"name":"v","hostPath":{"path":"/p"}}]}})"},
        MergeCase{"NullEmptiesAList", R"({"status":{"conditions":[{"type":"A"}],"phase":"P"}})",
                  R"({"status":{"conditions":null}})", R"({"status":{"phase":"P"}})"},
        MergeCase{
            "DeleteDirectiveRemovesItsElement", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
            R"({"spec":{"containers":[{"name":"a","$patch":"delete"},{"name":"zz","$patch":"delete"}]}})",
            R"({"spec":{"containers":[{"name":"b"}]}})"},
        MergeCase{"ReplaceDirectiveReplacesTheList", R"({"spec":{"containers":[{"name":"a"},{"name":"b"}]}})",
                  R"({"spec":{"containers":[{"$patch":"replace"},{"name":"c"}]}})",
                  R"({"spec":{"containers":[{"name":"c"}]}})"},
        MergeCase{"ScalarsMergeAsASet", R"({"metadata":{"finalizers":["a","b"]}})",
                  R"({"metadata":{"finalizers":["b","c"]}})", R"({"metadata":{"finalizers":["a","b","c"]}})"},
        MergeCase{"ScalarsAreDeletedByName", R"({"metadata":{"finalizers":["a","b"]}})",
                  R"({"metadata":{"$deleteFromPrimitiveList/finalizers":["a"]}})",
                  R"({"metadata":{"finalizers":["b"]}})"},
        MergeCase{"MapsMergeByKey", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
                  R"({"metadata":{"labels":{"b":null,"c":"3"}}})",
                  R"({"metadata":{"labels":{"a":"1","c":"3"}}})"},
        MergeCase{"OrderThatContradictsThePatchIsAnError", R"({"status":{"conditions":[{"type":"A"}]}})",
                  R"({"status":{"$setElementOrder/conditions":[{"type":"A"},{"type":"B"}],
                      "conditions":[{"type":"B"},{"type":"A"}]}})",
                  "error 400"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace berth::sandbox
