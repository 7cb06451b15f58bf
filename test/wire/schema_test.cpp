#include "wire/schema.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <vector>

namespace berth::wire {
namespace {

using testing::ElementsAre;
using testing::IsNull;
using testing::NotNull;

const Message& Find(std::string_view name) {
  const Message* message = Schema::Get().FindMessage(name);
  EXPECT_THAT(message, NotNull()) << name;
  return *message;
}

TEST(Schema, KnowsTheNumbersAndShapesOfPodSpec) {
  const Message& spec = Find("core.v1.PodSpec");

  const Field* priority = spec.ByNumber(25);
  ASSERT_THAT(priority, NotNull());
  EXPECT_EQ(priority->name, "priority");
  EXPECT_EQ(priority->kind, ValueKind::kInt32);
  EXPECT_EQ(priority->shape, Shape::kPointer);
  EXPECT_TRUE(priority->omit_empty);
  EXPECT_TRUE(priority->used);

  const Field* overhead = spec.ByNumber(32);
  ASSERT_THAT(overhead, NotNull());
  EXPECT_EQ(overhead->shape, Shape::kMap);
  EXPECT_EQ(overhead->message, Schema::Get().FindMessage("resource.Quantity"));
}

TEST(Schema, AbsentNamesAndNumbersAreNotFound) {
  const Message& pod = Find("core.v1.Pod");
  EXPECT_THAT(pod.ByNumber(0), IsNull());
  EXPECT_THAT(pod.ByNumber(9999), IsNull());
  EXPECT_THAT(pod.ByJsonKey("Spec"), IsNull());
  EXPECT_THAT(Schema::Get().FindMessage("core.v1.Nothing"), IsNull());
  EXPECT_THAT(Schema::Get().FindKind("apps/v1", "Pod"), IsNull());
}

TEST(Schema, EveryFieldIsFoundByNumberAndByJsonKey) {
  for (const Message& message : Schema::Get().messages()) {
    SCOPED_TRACE(message.name);
    std::set<std::uint32_t> numbers;
    for (const Field& field : message.fields) {
      EXPECT_TRUE(numbers.insert(field.number).second) << field.name << " repeats a number";
      EXPECT_EQ(message.ByNumber(field.number), &field);
      if (field.json_name.empty() || message.form != SpecialForm::kNone) continue;
      ASSERT_THAT(message.ByJsonKey(field.json_name), NotNull()) << field.json_name;
      EXPECT_EQ(message.ByJsonKey(field.json_name)->field, &field);
    }
    EXPECT_EQ(message.json_output_order.size(), message.fields.size());
    EXPECT_EQ(Schema::Get().FindMessage(message.name), &message);
  }
}

TEST(Schema, JsonKeysOfAMessageAreUnique) {
  for (const Message& message : Schema::Get().messages()) {
    std::set<std::string_view> keys;
    for (const Message::JsonKey& key : message.json_keys) {
      EXPECT_TRUE(keys.insert(key.key).second) << message.name << "." << key.key;
      EXPECT_FALSE(key.key.empty()) << message.name;
    }
  }
}

TEST(Schema, FieldsAreMessagesExactlyWhenTheyPointToOne) {
  for (const Message& message : Schema::Get().messages()) {
    for (const Field& field : message.fields) {
      EXPECT_EQ(field.kind == ValueKind::kMessage, field.message != nullptr)
          << message.name << "." << field.name;
    }
  }
}

// The codecs have no case for doubles: a table that brings one in has to bring that too.
TEST(Schema, NoFieldIsADouble) {
  for (const Message& message : Schema::Get().messages()) {
    for (const Field& field : message.fields) {
      EXPECT_NE(field.kind, ValueKind::kDouble) << message.name << "." << field.name;
    }
  }
}

TEST(Schema, InlinedFieldsAppearInTheParentsJson) {
  const Message& volume = Find("core.v1.Volume");
  const Message::JsonKey* key = volume.ByJsonKey("hostPath");
  ASSERT_THAT(key, NotNull());
  EXPECT_EQ(key->through, volume.ByNumber(2));
  EXPECT_EQ(key->field, Find("core.v1.VolumeSource").ByNumber(1));
  EXPECT_THAT(volume.ByJsonKey("volumeSource"), IsNull());
}

TEST(Schema, OutputOrderIsTheOrderOfDeclaration) {
  std::vector<std::string_view> names;
  for (const Field* field : Find("core.v1.ContainerPort").json_output_order)
    names.push_back(field->json_name);
  EXPECT_THAT(names, ElementsAre("name", "hostPort", "containerPort", "protocol", "hostIP"));
  // Declared after lastProbeTime and friends, although its number is higher.
  names.clear();
  for (const Field* field : Find("core.v1.PodCondition").json_output_order) names.push_back(field->json_name);
  EXPECT_THAT(names, ElementsAre("type", "observedGeneration", "status", "lastProbeTime",
                                 "lastTransitionTime", "reason", "message"));
}

TEST(Schema, SpecialFormsAreMarked) {
  EXPECT_EQ(Find("meta.v1.Time").form, SpecialForm::kTime);
  EXPECT_EQ(Find("meta.v1.MicroTime").form, SpecialForm::kMicroTime);
  EXPECT_EQ(Find("resource.Quantity").form, SpecialForm::kQuantity);
  EXPECT_EQ(Find("intstr.IntOrString").form, SpecialForm::kIntOrString);
  EXPECT_EQ(Find("runtime.RawExtension").form, SpecialForm::kRawJson);
  EXPECT_EQ(Find("meta.v1.FieldsV1").form, SpecialForm::kRawJson);
  EXPECT_EQ(Find("authorization.v1.ExtraValue").form, SpecialForm::kStringList);
  EXPECT_EQ(Find("core.v1.Pod").form, SpecialForm::kNone);
}

TEST(Schema, MergeRulesOfStrategicMergePatch) {
  const Field* volumes = Find("core.v1.PodSpec").ByJsonKey("volumes")->field;
  EXPECT_TRUE(volumes->patch.merge);
  EXPECT_TRUE(volumes->patch.retain_keys);
  EXPECT_EQ(volumes->patch.merge_key, "name");

  const Field* finalizers = Find("meta.v1.ObjectMeta").ByJsonKey("finalizers")->field;
  EXPECT_TRUE(finalizers->patch.merge);
  EXPECT_EQ(finalizers->patch.merge_key, "");

  EXPECT_FALSE(Find("core.v1.PodSpec").ByJsonKey("tolerations")->field->patch.merge);
  EXPECT_TRUE(Find("policy.v1.PodDisruptionBudgetSpec").ByJsonKey("selector")->field->patch.replace);
}

struct KindCase {
  std::string_view api_version;
  std::string_view kind;
  std::string_view message;
};

class KindTest : public testing::TestWithParam<KindCase> {};

TEST_P(KindTest, IsFoundUnderItsApiVersion) {
  const KindInfo* info = Schema::Get().FindKind(GetParam().api_version, GetParam().kind);
  ASSERT_THAT(info, NotNull());
  EXPECT_EQ(info->message->name, GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    Schema, KindTest,
    testing::Values(
        KindCase{"v1", "Pod", "core.v1.Pod"}, KindCase{"v1", "PodList", "core.v1.PodList"},
        KindCase{"v1", "Binding", "core.v1.Binding"}, KindCase{"v1", "Status", "meta.v1.Status"},
        KindCase{"v1", "DeleteOptions", "meta.v1.DeleteOptions"},
        KindCase{"apps/v1", "DeleteOptions", "meta.v1.DeleteOptions"},
        KindCase{"apps/v1", "ReplicaSet", "apps.v1.ReplicaSet"},
        KindCase{"policy/v1", "Eviction", "policy.v1.Eviction"}, KindCase{"batch/v1", "Job", "batch.v1.Job"},
        KindCase{"storage.k8s.io/v1", "CSINode", "storage.v1.CSINode"},
        KindCase{"coordination.k8s.io/v1", "Lease", "coordination.v1.Lease"},
        KindCase{"events.k8s.io/v1", "Event", "events.v1.Event"}, KindCase{"v1", "Event", "core.v1.Event"},
        KindCase{"resource.k8s.io/v1", "ResourceClaimTemplate", "resource.v1.ResourceClaimTemplate"},
        KindCase{"scheduling.k8s.io/v1", "PriorityClass", "scheduling.v1.PriorityClass"},
        KindCase{"scheduling.k8s.io/v1beta1", "PodGroup", "scheduling.v1beta1.PodGroup"},
        KindCase{"scheduling.k8s.io/v1alpha3", "CompositePodGroup", "scheduling.v1alpha3.CompositePodGroup"},
        KindCase{"rbac.authorization.k8s.io/v1", "Role", "rbac.v1.Role"},
        KindCase{"authentication.k8s.io/v1", "TokenReview", "authentication.v1.TokenReview"},
        KindCase{"meta.k8s.io/v1", "PartialObjectMetadata", "meta.v1.PartialObjectMetadata"}));

TEST(Schema, TemplatesAreNoKinds) {
  EXPECT_THAT(Schema::Get().FindKind("v1", "PodTemplateSpec"), IsNull());
  EXPECT_THAT(Schema::Get().FindKind("v1", "PersistentVolumeClaimTemplate"), IsNull());
  EXPECT_THAT(Schema::Get().FindKind("batch/v1", "JobTemplateSpec"), IsNull());
}

}  // namespace
}  // namespace berth::wire
