#pragma once

#include <array>
#include <cstdint>
#include <fmt/format.h>
#include <string>
#include <string_view>

namespace berth::wire::test {

// Running pods as an API server sends them, with the fields that a scheduler does not read too: probes, env,
// managed fields, container states. Pod number n is the same in every run. Forty Deployments in ten
// namespaces; each pod has a name, a uid, a node, an address and a service-account volume of its own.
class RealisticPods {
 public:
  static constexpr std::size_t kDeployments = 40;

  static std::string Json(std::size_t index) {
    const std::size_t deployment = index % kDeployments;
    const std::uint64_t noise = Mix(index + 1);
    const std::string hash = Suffix(Mix(deployment + 1'000'003), 10);
    const std::string replica_set = fmt::format("{}-{}", App(deployment), hash);
    const std::string name = fmt::format("{}-{}", replica_set, Suffix(index * 7'919'003, 5));
    const std::string volume = fmt::format("kube-api-access-{}", Suffix(noise >> 25, 5));
    std::string out;
    out += fmt::format(
        R"({{"metadata":{{"name":"{}","generateName":"{}-","namespace":"team-{}","uid":"{}",)"
        R"("resourceVersion":"{}","generation":1,"creationTimestamp":"2026-08-20T{:02}:{:02}:{:02}Z",)"
        R"("labels":{{"app":"{}","app.kubernetes.io/name":"{}","app.kubernetes.io/part-of":"shop",)"
        R"("pod-template-hash":"{}","tier":"backend"}},"annotations":{{"prometheus.io/scrape":"true",)"
        R"("prometheus.io/port":"9090","checksum/config":"{}"}},)"
        R"("ownerReferences":[{{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"{}","uid":"{}",)"
        R"("controller":true,"blockOwnerDeletion":true}}],"managedFields":{}}},)",
        name, replica_set, deployment % 10, Uid(noise), 100'000 + index, index / 3600 % 24, index / 60 % 60,
        index % 60, App(deployment), App(deployment), hash, Uid(deployment), replica_set,
        Uid(deployment + 77), kManagedFields);
    out += fmt::format(
        R"("spec":{{"volumes":[{{"name":"config","configMap":{{"name":"{0}-config","defaultMode":420}}}},)"
        R"({{"name":"cache","emptyDir":{{}}}},{{"name":"{1}","projected":{{"sources":[{{"serviceAccountToken":)"
        R"({{"expirationSeconds":3607,"path":"token"}}}},{{"configMap":{{"name":"kube-root-ca.crt","items":)"
        R"([{{"key":"ca.crt","path":"ca.crt"}}]}}}},{{"downwardAPI":{{"items":[{{"path":"namespace","fieldRef":)"
        R"({{"apiVersion":"v1","fieldPath":"metadata.namespace"}}}}]}}}}],"defaultMode":420}}}}],"containers":[)",
        App(deployment), volume);
    out += Container(App(deployment), volume, deployment, "server", 500 + 50 * (deployment % 7));
    out += ',';
    out += Container(App(deployment), volume, deployment, "proxy", 100);
    out += fmt::format(
        R"(],"restartPolicy":"Always","terminationGracePeriodSeconds":30,"dnsPolicy":"ClusterFirst",)"
        R"("serviceAccountName":"{0}","serviceAccount":"{0}","nodeName":"node-{1:05}","securityContext":)"
        R"({{"runAsNonRoot":true,"fsGroup":2000}},"affinity":{{"podAntiAffinity":)"
        R"({{"preferredDuringSchedulingIgnoredDuringExecution":[{{"weight":100,"podAffinityTerm":{{"labelSelector":)"
        R"({{"matchLabels":{{"app":"{0}"}}}},"topologyKey":"kubernetes.io/hostname"}}}}]}}}},)"
        R"("schedulerName":"default-scheduler","tolerations":[{{"key":"dedicated","operator":"Equal","value":"shop",)"
        R"("effect":"NoSchedule"}},{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",)"
        R"("tolerationSeconds":300}},{{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":)"
        R"("NoExecute","tolerationSeconds":300}}],"priority":0,"enableServiceLinks":true,"preemptionPolicy":)"
        R"("PreemptLowerPriority","topologySpreadConstraints":[{{"maxSkew":1,"topologyKey":)"
        R"("topology.kubernetes.io/zone","whenUnsatisfiable":"ScheduleAnyway","labelSelector":{{"matchLabels":)"
        R"({{"app":"{0}"}}}}}}]}},)",
        App(deployment), noise % 5000);
    out += Status(index, deployment, noise);
    return out + '}';
  }

 private:
  static constexpr std::string_view kManagedFields =
      R"([{"manager":"kube-controller-manager","operation":"Update","apiVersion":"v1","time":"2026-08-20T10:00:00Z",)"
      R"("fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:prometheus.io/scrape":{}},)"
      R"("f:generateName":{},"f:labels":{".":{},"f:app":{},"f:pod-template-hash":{},"f:tier":{}},)"
      R"("f:ownerReferences":{".":{},"k:{\"uid\":\"0\"}":{}}},"f:spec":{"f:affinity":{},"f:containers":{)"
      R"("k:{\"name\":\"server\"}":{".":{},"f:env":{},"f:image":{},"f:name":{},"f:ports":{},"f:resources":{}}},)"
      R"("f:dnsPolicy":{},"f:tolerations":{},"f:volumes":{}}}},{"manager":"kubelet","operation":"Update",)"
      R"("apiVersion":"v1","time":"2026-08-20T10:00:05Z","fieldsType":"FieldsV1","fieldsV1":{"f:status":)"
      R"({"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:lastProbeTime":{},"f:status":{},"f:type":{}}},)"
      R"("f:containerStatuses":{},"f:hostIP":{},"f:phase":{},"f:podIP":{},"f:podIPs":{},"f:startTime":{}}},)"
      R"("subresource":"status"}])";

  static std::uint64_t Mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
    value = (value ^ value >> 27) * 0x94d049bb133111eb;
    return value ^ value >> 31;
  }
  // As the API server makes random names.
  static std::string Suffix(std::uint64_t noise, int length) {
    static constexpr std::string_view kLetters = "bcdfghjklmnpqrstvwxz2456789";
    std::string out;
    for (; length > 0; --length, noise /= kLetters.size()) out += kLetters[noise % kLetters.size()];
    return out;
  }
  static std::string Uid(std::uint64_t noise) {
    const std::uint64_t low = Mix(noise);
    return fmt::format("{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}", noise >> 32, noise >> 16 & 0xffff,
                       noise & 0xfff, low >> 52, low & 0xffffffffffff);
  }
  static std::string App(std::size_t deployment) {
    static constexpr std::array kNames = {"checkout", "payments", "search", "catalog", "inventory"};
    return fmt::format("{}-{}", kNames[deployment % kNames.size()], deployment);
  }

  static std::string Container(const std::string& app, const std::string& volume, std::size_t deployment,
                               std::string_view name, std::size_t milli_cpu) {
    return fmt::format(
        R"({{"name":"{1}","image":"registry.example.com/shop/{0}/{1}:v1.{2}.0","command":["/bin/{1}"],"args":)"
        R"(["--listen=:8080","--log-format=json"],"ports":[{{"name":"http","containerPort":8080,"protocol":"TCP"}},)"
        R"({{"name":"metrics","containerPort":9090,"protocol":"TCP"}}],"env":[{{"name":"POD_NAME","valueFrom":)"
        R"({{"fieldRef":{{"apiVersion":"v1","fieldPath":"metadata.name"}}}}}},{{"name":"LOG_LEVEL","value":"info"}},)"
        R"({{"name":"DATABASE_URL","valueFrom":{{"secretKeyRef":{{"name":"{0}-db","key":"url"}}}}}},)"
        R"({{"name":"GOMAXPROCS","value":"2"}},{{"name":"REGION","value":"eu-central-1"}}],"resources":{{"limits":)"
        R"({{"cpu":"{3}m","memory":"1Gi"}},"requests":{{"cpu":"{3}m","memory":"512Mi"}}}},"volumeMounts":)"
        R"([{{"name":"config","readOnly":true,"mountPath":"/etc/{1}"}},{{"name":"cache","mountPath":"/var/cache"}},)"
        R"({{"name":"{4}","readOnly":true,"mountPath":"/var/run/secrets/kubernetes.io/serviceaccount"}}],)"
        R"("livenessProbe":{{"httpGet":{{"path":"/healthz","port":8080,"scheme":"HTTP"}},"initialDelaySeconds":10,)"
        R"("timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3}},"readinessProbe":)"
        R"({{"httpGet":{{"path":"/ready","port":"http","scheme":"HTTP"}},"timeoutSeconds":1,"periodSeconds":5,)"
        R"("successThreshold":1,"failureThreshold":3}},"terminationMessagePath":"/dev/termination-log",)"
        R"("terminationMessagePolicy":"File","imagePullPolicy":"IfNotPresent","securityContext":)"
        R"({{"allowPrivilegeEscalation":false,"readOnlyRootFilesystem":true}}}})",
        app, name, deployment, milli_cpu, volume);
  }

  static std::string Condition(std::string_view type, std::size_t seconds) {
    return fmt::format(R"({{"type":"{}","observedGeneration":1,"status":"True","lastProbeTime":null,)"
                       R"("lastTransitionTime":"2026-08-20T10:{:02}:{:02}Z"}})",
                       type, seconds / 60 % 60, seconds % 60);
  }

  static std::string ContainerStatus(const std::string& app, std::size_t deployment, std::uint64_t noise,
                                     std::string_view name, std::size_t milli_cpu) {
    return fmt::format(
        R"({{"name":"{1}","state":{{"running":{{"startedAt":"2026-08-20T10:00:{5:02}Z"}}}},"lastState":{{}},)"
        R"("ready":true,"restartCount":0,"image":"registry.example.com/shop/{0}/{1}:v1.{2}.0","imageID":)"
        R"("registry.example.com/shop/{0}/{1}@sha256:{3:016x}{3:016x}{3:016x}{3:016x}","containerID":)"
        R"("containerd://{4:016x}{6:016x}{4:016x}{6:016x}","started":true,"allocatedResources":{{"cpu":"{7}m",)"
        R"("memory":"512Mi"}},"resources":{{"limits":{{"cpu":"{7}m","memory":"1Gi"}},"requests":{{"cpu":"{7}m",)"
        R"("memory":"512Mi"}}}}}})",
        app, name, deployment, Mix(deployment), noise, noise % 60, Mix(noise), milli_cpu);
  }

  static std::string Status(std::size_t index, std::size_t deployment, std::uint64_t noise) {
    std::string out = R"("status":{"observedGeneration":1,"phase":"Running","conditions":[)";
    out += Condition("PodReadyToStartContainers", index) + ',' + Condition("Initialized", index) + ',' +
           Condition("Ready", index + 5) + ',' + Condition("ContainersReady", index + 5) + ',' +
           Condition("PodScheduled", index);
    const std::size_t ip = index % 65'000;
    out += fmt::format(
        R"(],"hostIP":"10.0.{0}.{1}","hostIPs":[{{"ip":"10.0.{0}.{1}"}}],"podIP":"10.{2}.{3}.{4}","podIPs":)"
        R"([{{"ip":"10.{2}.{3}.{4}"}}],"startTime":"2026-08-20T10:{5:02}:{6:02}Z","containerStatuses":[)",
        noise % 20, noise % 250, 64 + index / 65'000, ip / 256, ip % 256, index / 60 % 60, index % 60);
    out += ContainerStatus(App(deployment), deployment, noise, "server", 500 + 50 * (deployment % 7)) + ',' +
           ContainerStatus(App(deployment), deployment, noise + 1, "proxy", 100);
    return out + R"(],"qosClass":"Burstable"})";
  }
};

}  // namespace berth::wire::test
