#include "sandbox/managed_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/api_harness.h"

// Server-side apply: who owns which fields, and what happens when two want the same one.
namespace berth::sandbox::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kWebDeployment = "/apis/apps/v1/namespaces/default/deployments/web";

std::string Config(std::string_view spec) {
  std::string text = R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"spec":{)";
  return text.append(spec).append("}}");
}

constexpr std::string_view kFull = R"("replicas":2,"selector":{"matchLabels":{"app":"web"}},
    "template":{"metadata":{"labels":{"app":"web"}},"spec":{"containers":[{"name":"c","image":"i:1"}]}})";

class ServerSideApply : public testing::Test {
 protected:
  Reply Apply(std::string_view manager, std::string body, bool force = false) {
    return api_.Patch(
        std::string(kWebDeployment) + "?fieldManager=" + std::string(manager) + (force ? "&force=true" : ""),
        std::move(body), "application/apply-patch+yaml");
  }
  json::object Web() { return api_.Get(kWebDeployment).document(); }
  // The paths that a manager owns.
  std::vector<std::string> Owned(std::string_view manager) {
    for (const ManagerEntry& entry : ReadManagers(Web())) {
      if (entry.manager == manager) return entry.fields.Paths();
    }
    return {};
  }

  ApiHarness api_;
};

TEST_F(ServerSideApply, CreatesWhatIsNotThereAndNotesTheManager) {
  const Reply created = Apply("one", Config(kFull));
  ASSERT_EQ(created.code, 201) << created.body;
  EXPECT_THAT(Owned("one"),
              ElementsAre(".spec.replicas", ".spec.selector", ".spec.template.metadata.labels",
                          ".spec.template.metadata.labels.app", ".spec.template.spec.containers[name=\"c\"]",
                          ".spec.template.spec.containers[name=\"c\"].image",
                          ".spec.template.spec.containers[name=\"c\"].name"));
}

TEST_F(ServerSideApply, ApplyingTheSameAgainChangesNothing) {
  ASSERT_EQ(Apply("one", Config(kFull)).code, 201);
  const std::string version = api_.version();
  api_.Advance(std::chrono::seconds(10));
  EXPECT_EQ(Apply("one", Config(kFull)).code, 200);
  EXPECT_EQ(api_.version(), version);
}

TEST_F(ServerSideApply, ConflictNamesTheOwnerAndTheField) {
  ASSERT_EQ(Apply("one", Config(kFull)).code, 201);
  const Reply refused = Apply("two", Config(R"("replicas":5)"));
  EXPECT_EQ(refused.code, 409);
  EXPECT_EQ(refused.text({"reason"}), "Conflict");
  EXPECT_EQ(refused.message(), "Apply failed with 1 conflict: conflict with \"one\": .spec.replicas");
  EXPECT_THAT(refused.body, HasSubstr(R"("reason":"FieldManagerConflict")"));
  EXPECT_EQ(NumberAt(Web(), {"spec", "replicas"}), 2);
}

TEST_F(ServerSideApply, ForceTakesTheFieldOver) {
  ASSERT_EQ(Apply("one", Config(kFull)).code, 201);
  EXPECT_EQ(Apply("two", Config(R"("replicas":5)"), true).code, 200);
  EXPECT_EQ(NumberAt(Web(), {"spec", "replicas"}), 5);
  EXPECT_THAT(Owned("two"), ElementsAre(".spec.replicas"));
  EXPECT_THAT(Owned("one"), testing::Not(testing::Contains(".spec.replicas")));
}

TEST_F(ServerSideApply, TheSameValueIsSharedWithoutConflict) {
  ASSERT_EQ(Apply("one", Config(kFull)).code, 201);
  EXPECT_EQ(Apply("two", Config(R"("replicas":2)")).code, 200);
  // One of them lets go; the other still wants it.
  std::string rest(kFull);
  rest.erase(0, std::string_view(R"("replicas":2,)").size());
  EXPECT_EQ(Apply("one", Config(rest)).code, 200);
  EXPECT_EQ(NumberAt(Web(), {"spec", "replicas"}), 2);
}

TEST_F(ServerSideApply, AFieldThatItsOnlyOwnerDropsIsGone) {
  std::string more(kFull);
  more.insert(more.find(R"("image")"), R"("env":[{"name":"A","value":"1"},{"name":"B","value":"2"}],)");
  ASSERT_EQ(Apply("one", Config(more)).code, 201);
  std::string less(kFull);
  less.insert(less.find(R"("image")"), R"("env":[{"name":"B","value":"2"}],)");
  ASSERT_EQ(Apply("one", Config(less)).code, 200);
  const std::string body = api_.Get(kWebDeployment).body;
  EXPECT_THAT(body, HasSubstr(R"("env":[{"name":"B","value":"2"}])"));
}

TEST_F(ServerSideApply, OrdinaryUpdateTakesOverWhatItChanges) {
  ASSERT_EQ(Apply("one", Config(kFull)).code, 201);
  ASSERT_EQ(api_.Patch(std::string(kWebDeployment) + "?fieldManager=hand", R"({"spec":{"replicas":7}})").code,
            200);
  EXPECT_THAT(Owned("hand"), ElementsAre(".spec.replicas"));
  const Reply refused = Apply("one", Config(kFull));
  EXPECT_EQ(refused.code, 409);
  EXPECT_EQ(refused.message(),
            "Apply failed with 1 conflict: conflict with \"hand\" using apps/v1: .spec.replicas");
}

TEST_F(ServerSideApply, WhatWasThereBeforeBelongsToEverybodyBefore) {
  ASSERT_EQ(api_.Post("/apis/apps/v1/namespaces/default/deployments", Config(kFull)).code, 201);
  EXPECT_THAT(ReadManagers(Web()), IsEmpty());
  EXPECT_EQ(Apply("one", Config(R"("replicas":2)")).code, 200);
  const Reply refused = Apply("one", Config(R"("replicas":3)"));
  EXPECT_EQ(refused.message(),
            "Apply failed with 1 conflict: conflict with \"before-first-apply\" using apps/v1: "
            ".spec.replicas");
}

TEST_F(ServerSideApply, CreationByANamedManagerIsNoted) {
  ASSERT_EQ(
      api_.Post("/apis/apps/v1/namespaces/default/deployments?fieldManager=kubectl-create", Config(kFull))
          .code,
      201);
  const std::vector<ManagerEntry> managers = ReadManagers(Web());
  ASSERT_THAT(managers, SizeIs(1));
  EXPECT_EQ(managers.front().manager, "kubectl-create");
  EXPECT_FALSE(managers.front().applies);
}

TEST_F(ServerSideApply, NeedsAManagerAndTheRightObject) {
  const Reply nobody = api_.Patch(kWebDeployment, Config(kFull), "application/apply-patch+yaml");
  EXPECT_EQ(nobody.code, 422);
  EXPECT_THAT(nobody.message(), HasSubstr("fieldManager: Required value: is required for apply patch"));
  EXPECT_EQ(Apply("one", "]").code, 400);
  EXPECT_EQ(Apply("one", R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"}})").code, 400);
  const Reply given = Apply("one", R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web",
      "managedFields":[{"manager":"x"}]}})");
  EXPECT_EQ(given.code, 400);
  EXPECT_EQ(given.message(), "metadata.managedFields must be nil");
}

TEST_F(ServerSideApply, YamlIsReadToo) {
  const Reply created =
      Apply("one",
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n  selector:\n"
            "    matchLabels: {app: web}\n  template:\n    metadata: {labels: {app: web}}\n"
            "    spec:\n      containers:\n      - {name: c, image: i}\n");
  EXPECT_EQ(created.code, 201) << created.body;
}

TEST(FieldSetTest, PrintsAndReadsTheFormOfManagedFields) {
  const json::object fields = Parse(R"({"f:metadata":{"f:labels":{".":{},"f:app":{}}},
      "f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{}}},"f:finalizers":{"v:\"x\"":{}}}})");
  const FieldSet set = FieldSet::FromJson(fields);
  EXPECT_EQ(set.ToJson(), fields);
  EXPECT_THAT(set.Paths(),
              ElementsAre(".metadata.labels", ".metadata.labels.app", ".spec.containers[name=\"c\"]",
                          ".spec.containers[name=\"c\"].image", ".spec.finalizers[=\"x\"]"));
}

}  // namespace
}  // namespace berth::sandbox::test
