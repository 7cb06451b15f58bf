#include "api/pod_template.h"

#include <gtest/gtest.h>
#include <memory>
#include <rapidcheck/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "api/pod_record.h"
#include "api/weak_pool.h"
#include "support/builders.h"

namespace berth::api {
namespace {

PodCondition Condition(std::string type, std::string message) {
  PodCondition condition;
  condition.type = std::move(type);
  condition.status = "True";
  condition.last_transition_time = Time{1000};
  condition.message = std::move(message);
  return condition;
}

Volume MakeVolume(std::string name) {
  Volume volume;
  volume.name = std::move(name);
  return volume;
}

// A replica of one workload: what differs between two of them is what a record holds itself.
Pod Replica(const std::string& name) {
  test::PodBuilder builder("web-" + name);
  builder.Uid("uid-" + name)
      .Label("app", "web")
      .Annotation("team", "a")
      .Owner("apps/v1", "ReplicaSet", "web");
  builder.Cpu("500m").Memory("1.5Gi").HostPort(80).Priority(7).Gate("wait").NodeSelector("disk", "ssd");
  builder.Node("node-" + name).NominatedNode("other").Phase("Running").Created(5).Started(6).Terminating();
  builder.ResourceClaim("device", "claim-" + name);
  Pod pod = builder;
  Volume data = MakeVolume("data");
  data.volume_source.persistent_volume_claim.emplace().claim_name = "data-" + name;
  Volume logs = data;
  logs.name = "logs";
  logs.volume_source.persistent_volume_claim->claim_name = "logs-" + name;
  Volume disk = MakeVolume("disk");
  disk.volume_source.rbd.emplace().image = "image";
  pod.spec.volumes = {data, disk, logs};
  pod.spec.resource_claims.push_back(
      {.name = "templated", .resource_claim_name = {}, .resource_claim_template_name = "t"});
  pod.metadata.resource_version = "1" + name;
  pod.metadata.generation = 3;
  pod.metadata.finalizers = {"example.com/hold"};
  pod.status.conditions = {Condition("PodScheduled", "for " + name), Condition("DisruptionTarget", ""),
                           Condition("PodResizePending", "later")};
  pod.status.container_statuses.emplace_back().name = "c";
  pod.status.init_container_statuses.emplace_back().allocated_resources =
      pod.spec.containers[0].resources.requests;
  pod.status.resources.emplace().limits = pod.spec.containers[0].resources.requests;
  pod.status.allocated_resources = pod.spec.containers[0].resources.requests;
  pod.status.resource_claim_statuses = {{.name = "templated", .resource_claim_name = "generated-" + name}};
  pod.status.extended_resource_claim_status.emplace().resource_claim_name = "extended-" + name;
  pod.status.node_allocatable_resource_claim_statuses.emplace_back().resource_claim_name = "claim-" + name;
  return pod;
}

TEST(PodRecord, ExpandsToThePodItWasMadeOf) {
  SharedParts shared;
  for (const Pod& pod : {Replica("a"), Replica("b"), Pod()})
    EXPECT_EQ(Expand(MakeRecord(Pod(pod), shared)), pod);
}

TEST(PodRecord, ReplicasShareEverythingButWhatIsTheirOwn) {
  SharedParts shared;
  const PodRecord a = MakeRecord(Replica("a"), shared);
  const PodRecord b = MakeRecord(Replica("b"), shared);
  EXPECT_EQ(a.spec, b.spec);
  EXPECT_EQ(a.labels, b.labels);
  EXPECT_EQ(a.annotations, b.annotations);
  EXPECT_EQ(a.owner_references, b.owner_references);
  EXPECT_EQ(a.finalizers, b.finalizers);
  EXPECT_EQ(a.condition_types, b.condition_types);
  EXPECT_EQ(a.resource_status, b.resource_status);
  EXPECT_FALSE(a.labels.empty());
  EXPECT_EQ(a.claims().volume_claim_names, (std::vector<std::string>{"data-a", "logs-a"}));
  EXPECT_EQ(b.claims().resource_claim_names, (std::vector<std::string>{"claim-b"}));
}

TEST(PodRecord, EmptyPartsTakeNoAllocation) {
  SharedParts shared;
  const PodRecord record = MakeRecord(Pod(), shared);
  EXPECT_TRUE(record.labels.empty());
  EXPECT_EQ(record.owner_references, nullptr);
  EXPECT_EQ(record.condition_types, nullptr);
  EXPECT_EQ(record.resource_status, nullptr);
  EXPECT_NE(record.spec, nullptr);
}

// Their random names would give every pod a template of its own.
TEST(PodRecord, DropsVolumesThatNoPluginReads) {
  SharedParts shared;
  Pod pod = Replica("a");
  Pod with_token = pod;
  with_token.spec.volumes.insert(with_token.spec.volumes.begin(), MakeVolume("kube-api-access-x7f2q"));
  with_token.spec.volumes.push_back(MakeVolume("secret"));
  with_token.spec.volumes.back().volume_source.secret.emplace();
  with_token.spec.volumes.push_back(MakeVolume("settings"));
  with_token.spec.volumes.back().volume_source.config_map.emplace();
  const PodRecord record = MakeRecord(std::move(with_token), shared);
  EXPECT_EQ(record.spec, MakeRecord(Pod(pod), shared).spec);
  EXPECT_EQ(Expand(record), pod);
}

TEST(PodRecord, DropsMetadataThatNobodyReads) {
  SharedParts shared;
  const Pod pod = Replica("a");
  Pod full = pod;
  full.metadata.generate_name = "web-";
  full.metadata.deletion_grace_period_seconds = 30;
  EXPECT_EQ(Expand(MakeRecord(std::move(full), shared)), pod);
}

// A patch of the conditions must repeat the types of all, in order.
TEST(PodRecord, KeepsOnlyTheTypeOfOtherConditions) {
  SharedParts shared;
  Pod pod;
  pod.status.conditions = {Condition("Initialized", "x"), Condition("PodScheduled", "y"),
                           Condition("Ready", "z")};
  const PodRecord record = MakeRecord(Pod(pod), shared);
  EXPECT_EQ(record.conditions().size(), 1U);
  Pod want = pod;
  want.status.conditions[0] = {};
  want.status.conditions[0].type = "Initialized";
  want.status.conditions[2] = {};
  want.status.conditions[2].type = "Ready";
  EXPECT_EQ(Expand(record), want);
}

TEST(PodRecord, OutlivesItsSharedParts) {
  auto shared = std::make_unique<SharedParts>();
  const PodRecord record = MakeRecord(Replica("a"), *shared);
  shared.reset();
  EXPECT_EQ(Expand(record), Replica("a"));
}

TEST(SpecHash, AgreesWithNumericEquality) {
  SharedParts shared;
  const Pod a = test::MakePod("a").Cpu("1").Memory("1Gi");
  const Pod b = test::MakePod("b").Cpu("1000m").Memory("1073741824");
  ASSERT_EQ(a.spec, b.spec);
  EXPECT_EQ(SpecHash(a.spec), SpecHash(b.spec));
  EXPECT_EQ(MakeRecord(Pod(a), shared).spec, MakeRecord(Pod(b), shared).spec);
}

// Every field is part of the hash: no two of these are equal, so a hash that skips one would show.
TEST(SpecHash, SeesEachField) {
  std::vector<PodSpec> specs;
  const auto add = [&](auto change) {
    PodSpec& spec = specs.emplace_back();
    change(spec);
  };
  add([](PodSpec&) {});
  add([](PodSpec& spec) { spec.volumes.emplace_back(); });
  add([](PodSpec& spec) { spec.volumes.emplace_back().volume_source.csi.emplace().driver = "d"; });
  add([](PodSpec& spec) { spec.init_containers.emplace_back(); });
  add([](PodSpec& spec) { spec.containers.emplace_back(); });
  add([](PodSpec& spec) { spec.containers.emplace_back().resources.limits["cpu"] = Quantity::FromInt(1); });
  add([](PodSpec& spec) { spec.containers.emplace_back().resources.requests["cpu"] = Quantity::FromInt(1); });
  add([](PodSpec& spec) { spec.ephemeral_containers.emplace_back(); });
  add([](PodSpec& spec) { spec.node_selector["a"] = "b"; });
  add([](PodSpec& spec) { spec.node_selector["ab"] = ""; });
  add([](PodSpec& spec) { spec.host_network = true; });
  add([](PodSpec& spec) { spec.affinity.emplace(); });
  add([](PodSpec& spec) { spec.affinity.emplace().pod_affinity.emplace(); });
  add([](PodSpec& spec) { spec.affinity.emplace().pod_anti_affinity.emplace(); });
  add([](PodSpec& spec) { spec.scheduler_name = "s"; });
  add([](PodSpec& spec) { spec.tolerations.Edit().emplace_back(); });
  add([](PodSpec& spec) { spec.tolerations.Edit().emplace_back().toleration_seconds = 0; });
  add([](PodSpec& spec) { spec.priority = 0; });
  add([](PodSpec& spec) { spec.preemption_policy = "Never"; });
  add([](PodSpec& spec) { spec.overhead["cpu"] = Quantity::FromInt(1); });
  add([](PodSpec& spec) { spec.topology_spread_constraints.emplace_back(); });
  add([](PodSpec& spec) { spec.host_users = false; });
  add([](PodSpec& spec) { spec.scheduling_gates.emplace_back(); });
  add([](PodSpec& spec) { spec.resource_claims.emplace_back(); });
  add([](PodSpec& spec) { spec.resources.emplace(); });
  add([](PodSpec& spec) { spec.scheduling_group.emplace(); });
  for (std::size_t i = 0; i < specs.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      EXPECT_FALSE(specs[i] == specs[j]) << i << " " << j;
      EXPECT_NE(SpecHash(specs[i]), SpecHash(specs[j])) << i << " " << j;
    }
  }
}

TEST(WeakPool, ValuesGoAwayWithTheirLastUser) {
  WeakPool<std::string> pool;
  auto first = pool.Intern("value", 1);
  EXPECT_EQ(pool.Intern("value", 1), first);
  const std::weak_ptr<const std::string> watch = first;
  first.reset();
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(*pool.Intern("value", 1), "value");
}

TEST(WeakPool, TellsValuesOfOneHashApart) {
  WeakPool<std::string> pool;
  const auto a = pool.Intern("a", 1);
  const auto b = pool.Intern("b", 1);
  EXPECT_NE(a, b);
  EXPECT_EQ(pool.Intern("a", 1), a);
  EXPECT_EQ(pool.Intern("b", 1), b);
}

TEST(WeakPool, SweepsWhatIsGone) {
  WeakPool<std::string> pool;
  const auto kept = pool.Intern("kept", 0);
  for (std::size_t i = 1; i <= 10'000; ++i) pool.Intern(std::to_string(i), i);
  EXPECT_LE(pool.entry_count(), 64U);
  EXPECT_EQ(pool.Intern("kept", 0), kept);
}

PodTemplateRef TemplateOf(SharedParts& shared, const std::string& scheduler) {
  return MakeRecord(test::MakePod("p").SchedulerName(scheduler), shared).spec;
}

// Each decoding thread has shared parts of its own.
TEST(TemplateTable, EqualTemplatesHaveOneId) {
  SharedParts one;
  SharedParts two;
  const PodTemplateRef a = TemplateOf(one, "a");
  const PodTemplateRef same = TemplateOf(two, "a");
  ASSERT_NE(a, same);
  TemplateTable table;
  const TemplateId id = table.Intern(a);
  EXPECT_EQ(table.Intern(same), id);
  EXPECT_EQ(table.Get(id), a);
  EXPECT_NE(table.Intern(TemplateOf(one, "b")), id);
  EXPECT_EQ(table.size(), 2U);
}

TEST(TemplateTable, ReusesAnIdAfterItsLastRelease) {
  SharedParts shared;
  TemplateTable table;
  const TemplateId id = table.Intern(TemplateOf(shared, "a"));
  const auto version = table.Version(id);
  table.Acquire(id);
  EXPECT_FALSE(table.Release(id));
  EXPECT_TRUE(table.IsCurrent(version));
  EXPECT_TRUE(table.Release(id));
  EXPECT_FALSE(table.IsCurrent(version));
  EXPECT_EQ(table.Intern(TemplateOf(shared, "b")), id);
  EXPECT_FALSE(table.IsCurrent(version));
  EXPECT_EQ(table.slot_count(), 1U);
}

}  // namespace
}  // namespace berth::api
