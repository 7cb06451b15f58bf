#include "sandbox/patch_json.h"

#include <boost/json.hpp>
#include <gtest/gtest.h>
#include <string>

#include "wire/json_document.h"

// RFC 6902, operation by operation.
namespace berth::sandbox {
namespace {

namespace json = boost::json;

std::string Patched(std::string_view document, std::string_view patch) {
  json::value value = *wire::ParseJson(document);
  const ApiResult<void> patched = ApplyJsonPatch(value, *wire::ParseJson(patch));
  return patched ? wire::WriteJson(value) : "error " + std::to_string(patched.error().code);
}

struct PatchCase {
  std::string_view name;
  std::string_view document;
  std::string_view patch;
  std::string_view want;
};

class JsonPatchTest : public testing::TestWithParam<PatchCase> {};

TEST_P(JsonPatchTest, DoesWhatTheOperationSays) {
  EXPECT_EQ(Patched(GetParam().document, GetParam().patch), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Operations, JsonPatchTest,
    testing::Values(
        PatchCase{"AddMember", R"({"a":1})", R"([{"op":"add","path":"/b","value":{"c":2}}])",
                  R"({"a":1,"b":{"c":2}})"},
        PatchCase{"AddInserts", R"({"l":[1,3]})", R"([{"op":"add","path":"/l/1","value":2}])",
                  R"({"l":[1,2,3]})"},
        PatchCase{"AddAppends", R"({"l":[1]})", R"([{"op":"add","path":"/l/-","value":2}])",
                  R"({"l":[1,2]})"},
        PatchCase{"AddBeyondTheEnd", R"({"l":[1]})", R"([{"op":"add","path":"/l/3","value":2}])",
                  "error 422"},
        PatchCase{"AddBelowNothing", R"({})", R"([{"op":"add","path":"/a/b","value":2}])", "error 422"},
        PatchCase{"RemoveMember", R"({"a":1,"b":2})", R"([{"op":"remove","path":"/a"}])", R"({"b":2})"},
        PatchCase{"RemoveElement", R"({"l":[1,2,3]})", R"([{"op":"remove","path":"/l/1"}])",
                  R"({"l":[1,3]})"},
        PatchCase{"RemoveWhatIsNotThere", R"({"a":1})", R"([{"op":"remove","path":"/b"}])", "error 422"},
        PatchCase{"Replace", R"({"a":1})", R"([{"op":"replace","path":"/a","value":"x"}])", R"({"a":"x"})"},
        PatchCase{"ReplaceWhatIsNotThere", R"({})", R"([{"op":"replace","path":"/a","value":1}])",
                  "error 422"},
        PatchCase{"Move", R"({"a":{"b":1},"c":{}})", R"([{"op":"move","from":"/a/b","path":"/c/d"}])",
                  R"({"a":{},"c":{"d":1}})"},
        PatchCase{"Copy", R"({"a":1})", R"([{"op":"copy","from":"/a","path":"/b"}])", R"({"a":1,"b":1})"},
        PatchCase{"TestHolds", R"({"a":[1]})", R"([{"op":"test","path":"/a","value":[1]}])", R"({"a":[1]})"},
        PatchCase{"TestFails", R"({"a":1})", R"([{"op":"test","path":"/a","value":2}])", "error 422"},
        PatchCase{
            "EscapedKeys", R"({"a/b":1,"m~n":2,"~1":3})",
            R"([{"op":"remove","path":"/a~1b"},{"op":"remove","path":"/m~0n"},{"op":"remove","path":"/~01"}])",
            R"({})"},
        PatchCase{"UnknownOperation", R"({})", R"([{"op":"jump","path":"/a"}])", "error 422"},
        PatchCase{"NoList", R"({})", R"({"op":"add"})", "error 400"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(JsonPatch, TooManyOperationsAreRefused) {
  json::array operations;
  for (int i = 0; i < 10'001; ++i) {
    operations.push_back(json::object({{"op", "test"}, {"path", "/a"}, {"value", 1}}));
  }
  json::value document = json::object({{"a", 1}});
  const ApiResult<void> patched = ApplyJsonPatch(document, operations);
  ASSERT_FALSE(patched.has_value());
  EXPECT_EQ(patched.error().code, 413);
}

}  // namespace
}  // namespace berth::sandbox
