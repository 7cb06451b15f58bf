#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sandbox/api_harness.h"

// Objects of other kinds than pods that are refused, with the words of kube-apiserver v1.37.1.
namespace berth::sandbox::test {
namespace {

using testing::HasSubstr;

constexpr const char* kVolumePath = "/api/v1/persistentvolumes";

struct BadObject {
  std::string_view name;
  std::string_view collection;
  std::string_view object;
  std::string_view want;
};

class BadObjectTest : public testing::TestWithParam<BadObject> {};

TEST_P(BadObjectTest, IsRefusedWithTheServersWords) {
  ApiHarness api;
  const Reply reply = api.Post(std::string(GetParam().collection), std::string(GetParam().object));
  EXPECT_EQ(reply.code, 422) << reply.body;
  EXPECT_EQ(reply.message(), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, BadObjectTest,
    testing::Values(
        BadObject{"Taint", "/api/v1/nodes",
                  R"({"metadata":{"name":"bad"},"spec":{"taints":[{"key":"a","effect":"Wrong"}]}})",
                  "Node \"bad\" is invalid: metadata.taints[0].effect: Unsupported value: \"Wrong\": "
                  "supported values: \"NoSchedule\", \"PreferNoSchedule\", \"NoExecute\""},
        BadObject{
            "TaintTwice", "/api/v1/nodes",
            R"({"metadata":{"name":"bad"},"spec":{"taints":[{"key":"a","effect":"NoSchedule"},
                     {"key":"a","value":"v","effect":"NoSchedule"}]}})",
            "Node \"bad\" is invalid: metadata.taints[1]: Duplicate value: "
            "{\"Key\":\"a\",\"Value\":\"v\",\"Effect\":\"NoSchedule\",\"TimeAdded\":null}: taints must be "
            "unique by key and effect pair"},
        BadObject{"Strategy", "/apis/apps/v1/namespaces/default/deployments",
                  R"({"metadata":{"name":"bad"},"spec":{"selector":{"matchLabels":{"a":"b"}},
                     "strategy":{"type":"Fast"},"template":{"metadata":{"labels":{"a":"b"}},
                     "spec":{"containers":[{"name":"c","image":"i"}]}}}})",
                  "Deployment.apps \"bad\" is invalid: spec.strategy: Unsupported value: "
                  "{\"Type\":\"Fast\",\"RollingUpdate\":null}: "
                  "supported values: \"Recreate\", \"RollingUpdate\""},
        BadObject{"StrategyWithShares", "/apis/apps/v1/namespaces/default/deployments",
                  R"({"metadata":{"name":"bad"},"spec":{"selector":{"matchLabels":{"a":"b"}},
                     "strategy":{"type":"Fast","rollingUpdate":{"maxSurge":"10%"}},"template":{"metadata":{"labels":{"a":"b"}},
                     "spec":{"containers":[{"name":"c","image":"i"}]}}}})",
                  "Deployment.apps \"bad\" is invalid: spec.strategy: Unsupported value: "
                  "{\"Type\":\"Fast\",\"RollingUpdate\":"
                  "{\"MaxUnavailable\":0,\"MaxSurge\":\"10%\"}}: supported values: \"Recreate\", "
                  "\"RollingUpdate\""},
        BadObject{"RecreateInSteps", "/apis/apps/v1/namespaces/default/deployments",
                  R"({"metadata":{"name":"bad"},"spec":{"selector":{"matchLabels":{"a":"b"}},
                     "strategy":{"type":"Recreate","rollingUpdate":{"maxSurge":1}},"template":{"metadata":{"labels":{"a":"b"}},
                     "spec":{"containers":[{"name":"c","image":"i"}]}}}})",
                  "Deployment.apps \"bad\" is invalid: spec.strategy.rollingUpdate: Forbidden: may not be "
                  "specified "
                  "when strategy `type` is 'Recreate'"},
        BadObject{"NoStep", "/apis/apps/v1/namespaces/default/deployments",
                  R"({"metadata":{"name":"bad"},"spec":{"selector":{"matchLabels":{"a":"b"}},
                     "strategy":{"rollingUpdate":{"maxSurge":0,"maxUnavailable":"0%"}},"template":{"metadata":{"labels":{"a":"b"}},
                     "spec":{"containers":[{"name":"c","image":"i"}]}}}})",
                  "Deployment.apps \"bad\" is invalid: spec.strategy.rollingUpdate.maxUnavailable: Invalid "
                  "value: \"0%\": "
                  "may not be 0 when `maxSurge` is 0"},
        BadObject{
            "StepOfMoreThanAll", "/apis/apps/v1/namespaces/default/deployments",
            R"({"metadata":{"name":"bad"},"spec":{"selector":{"matchLabels":{"a":"b"}},
                     "strategy":{"rollingUpdate":{"maxSurge":"200%","maxUnavailable":"101%"}},"template":{"metadata":{"labels":{"a":"b"}},
                     "spec":{"containers":[{"name":"c","image":"i"}]}}}})",
            "Deployment.apps \"bad\" is invalid: spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "
            "\"101%\": must not be greater than 100%"},
        BadObject{
            "NamespaceName", "/api/v1/namespaces", R"({"metadata":{"name":"Bad"}})",
            "Namespace \"Bad\" is invalid: metadata.name: Invalid value: \"Bad\": a lowercase RFC 1123 "
            "label must consist of lower case alphanumeric characters or '-', and must start and end "
            "with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
            "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"},
        BadObject{
            "ConfigKey", "/api/v1/namespaces/default/configmaps",
            R"({"metadata":{"name":"bad"},"data":{"wrong key":"1"}})",
            "ConfigMap \"bad\" is invalid: data[wrong key]: Invalid value: \"wrong key\": a valid config "
            "key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
            "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"},
        BadObject{"VolumeWithoutCapacity", kVolumePath,
                  R"({"metadata":{"name":"bad"},"spec":{"accessModes":["ReadWriteOnce"],
                     "hostPath":{"path":"/tmp"}}})",
                  "PersistentVolume \"bad\" is invalid: [spec.capacity: Required value, spec.capacity: "
                  "Unsupported value: null: supported values: \"storage\"]"},
        BadObject{"VolumeWithoutSource", kVolumePath,
                  R"({"metadata":{"name":"bad"},"spec":{"accessModes":["ReadWriteOnce"],
                     "capacity":{"storage":"1Gi"}}})",
                  "PersistentVolume \"bad\" is invalid: spec: Required value: must specify a volume type"},
        BadObject{"JobThatNeverEnds", "/apis/batch/v1/namespaces/default/jobs",
                  R"({"metadata":{"name":"bad"},"spec":{"template":{"spec":{"restartPolicy":"Always",
                     "containers":[{"name":"c","image":"i"}]}}}})",
                  "Job.batch \"bad\" is invalid: spec.template.spec.restartPolicy: Required value: valid "
                  "values: \"OnFailure\", \"Never\""},
        BadObject{"BudgetOfBoth", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
                  R"({"metadata":{"name":"bad"},"spec":{"minAvailable":1,"maxUnavailable":1}})",
                  "PodDisruptionBudget.policy \"bad\" is invalid: spec: Invalid value: "
                  "{\"MinAvailable\":1,\"Selector\":null,\"MaxUnavailable\":1,"
                  "\"UnhealthyPodEvictionPolicy\":null}: minAvailable and maxUnavailable cannot be both set"},
        BadObject{
            "BudgetOfMoreThanAll", "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
            R"({"metadata":{"name":"bad"},"spec":{"minAvailable":"101%"}})",
            "PodDisruptionBudget.policy \"bad\" is invalid: spec.minAvailable: Invalid value: \"101%\": "
            "must not be greater than 100%"},
        BadObject{"DriverWithoutNode", "/apis/storage.k8s.io/v1/csinodes",
                  R"({"metadata":{"name":"bad"},"spec":{"drivers":[{"name":"d","nodeID":""}]}})",
                  "CSINode.storage.k8s.io \"bad\" is invalid: spec.drivers[0].nodeID: Required value"},
        BadObject{"EmptySelector", "/apis/resource.k8s.io/v1/deviceclasses",
                  R"({"metadata":{"name":"bad"},"spec":{"selectors":[{}]}})",
                  "DeviceClass.resource.k8s.io \"bad\" is invalid: spec.selectors[0].cel: Required value"},
        BadObject{"ClaimWithoutClass", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
                  R"({"metadata":{"name":"bad"},"spec":{"devices":{"requests":[
                     {"name":"r","exactly":{"deviceClassName":""}}]}}})",
                  "ResourceClaim.resource.k8s.io \"bad\" is invalid: "
                  "spec.devices.requests[0].exactly.deviceClassName: Required value"},
        BadObject{
            "LeaseOfNoTime", "/apis/coordination.k8s.io/v1/namespaces/default/leases",
            R"({"metadata":{"name":"bad"},"spec":{"leaseDurationSeconds":-1}})",
            "Lease.coordination.k8s.io \"bad\" is invalid: spec.leaseDurationSeconds: Invalid value: -1: "
            "must be greater than 0"}),
    [](const auto& test) { return std::string(test.param.name); });

class KindRulesTest : public testing::Test {
 protected:
  json::object MakeVolume() {
    const Reply made = api_.Post(kVolumePath,
                                 R"({"metadata":{"name":"pv"},"spec":{"accessModes":["ReadWriteOnce"],
                                    "capacity":{"storage":"1Gi"},"hostPath":{"path":"/tmp"}}})");
    EXPECT_EQ(made.code, 201) << made.body;
    return made.document();
  }
  ApiHarness api_;
};

TEST_F(KindRulesTest, VolumeBeginsPendingAndNotesWhenItsPhaseChanged) {
  const json::object made = MakeVolume();
  EXPECT_EQ(TextAt(made, {"status", "phase"}), "Pending");
  EXPECT_NE(FindValue(made, {"spec", "hostPath", "type"}), nullptr);
  const std::string before(TextAt(made, {"status", "lastPhaseTransitionTime"}));
  EXPECT_FALSE(before.empty());
  api_.Advance(std::chrono::seconds(5));
  const std::string path = std::string(kVolumePath) + "/pv/status";
  Reply changed = api_.Patch(path, R"({"status":{"message":"m"}})");
  EXPECT_EQ(changed.text({"status", "lastPhaseTransitionTime"}), before);
  changed = api_.Patch(path, R"({"status":{"phase":"Available"}})");
  EXPECT_NE(changed.text({"status", "lastPhaseTransitionTime"}), before);
}

TEST_F(KindRulesTest, SourceOfAVolumeMayNotChange) {
  MakeVolume();
  const Reply refused =
      api_.Patch(std::string(kVolumePath) + "/pv", R"({"spec":{"hostPath":{"path":"/other"}}})");
  EXPECT_EQ(refused.code, 422);
  EXPECT_THAT(refused.message(), HasSubstr("spec.persistentvolumesource: Forbidden: "
                                           "spec.persistentvolumesource is immutable after creation"));
}

TEST_F(KindRulesTest, ImmutableConfigMapStaysAsItIs) {
  const std::string path = "/api/v1/namespaces/default/configmaps";
  ASSERT_EQ(api_.Post(path, R"({"metadata":{"name":"cm"},"immutable":true,"data":{"a":"1"}})").code, 201);
  const Reply refused = api_.Patch(path + "/cm", R"({"data":{"a":"2"}})");
  EXPECT_EQ(refused.message(),
            "ConfigMap \"cm\" is invalid: data: Forbidden: field is immutable when `immutable` is set");
  EXPECT_EQ(api_.Patch(path + "/cm", R"({"metadata":{"labels":{"a":"b"}}})").code, 200);
}

TEST_F(KindRulesTest, TablesHoldNumbersAndFlagsAsSuch) {
  const auto cells = [&](std::string path) {
    const Reply reply =
        api_.Send("GET", std::move(path), "", {{"Accept", "application/json;as=Table;v=v1;g=meta.k8s.io"}});
    const json::object table = reply.document();
    return json::serialize(*FindArray(FindArray(table, {"rows"})->front().get_object(), {"cells"}));
  };
  api_.Post("/api/v1/namespaces/default/configmaps", R"({"metadata":{"name":"cm"},"data":{"a":"1"}})");
  EXPECT_THAT(cells("/api/v1/namespaces/default/configmaps/cm"), HasSubstr(R"(["cm",1,)"));
  api_.Post("/apis/storage.k8s.io/v1/storageclasses", R"({"metadata":{"name":"sc"},"provisioner":"p"})");
  EXPECT_THAT(cells("/apis/storage.k8s.io/v1/storageclasses/sc"), HasSubstr(R"("Immediate",false,)"));
  api_.Post("/apis/storage.k8s.io/v1/csinodes",
            R"({"metadata":{"name":"n"},"spec":{"drivers":[{"name":"d","nodeID":"n"}]}})");
  EXPECT_THAT(cells("/apis/storage.k8s.io/v1/csinodes/n"), HasSubstr(R"(["n",1,)"));
}

}  // namespace
}  // namespace berth::sandbox::test
