#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/api_harness.h"
#include "sandbox/controllers/controllers.h"
#include "sandbox/fake_kubelet.h"

namespace berth::sandbox::test {

inline constexpr const char* kDeployments = "/apis/apps/v1/namespaces/default/deployments";
inline constexpr const char* kReplicaSets = "/apis/apps/v1/namespaces/default/replicasets";
inline constexpr const char* kStatefulSets = "/apis/apps/v1/namespaces/default/statefulsets";
inline constexpr const char* kJobs = "/apis/batch/v1/namespaces/default/jobs";

// A control plane with three nodes, a kubelet, all controllers, and a scheduler that puts every pod on the
// next node.
class ClusterHarness {
 public:
  ClusterHarness() {
    EXPECT_TRUE(AddNodes(api_.plane().writer(), 3).has_value());
    api_.Advance(std::chrono::milliseconds(1));
  }

  ApiHarness& api() { return api_; }

  // Lets time pass second by second; what waits for a node gets one.
  void Run(int seconds) {
    for (int i = 0; i < seconds; ++i) {
      if (schedules_) Schedule();
      api_.Advance(std::chrono::seconds(1));
    }
  }
  void StopScheduling() { schedules_ = false; }

  json::object Create(const char* path, std::string body) {
    const Reply reply = api_.Post(path, std::move(body));
    EXPECT_EQ(reply.code, 201) << reply.body;
    return reply.document();
  }
  json::object Get(const std::string& path) { return api_.Get(path).document(); }
  std::vector<json::object> List(const std::string& path) {
    std::vector<json::object> items;
    const json::object list = api_.Get(path).document();
    for (const json::value& item : *FindArray(list, {"items"})) items.push_back(item.get_object());
    return items;
  }
  std::vector<std::string> Names(const std::string& path) {
    std::vector<std::string> names;
    for (const json::object& item : List(path)) names.emplace_back(TextAt(item, {"metadata", "name"}));
    return names;
  }
  // Pods that are not on their way out.
  std::vector<json::object> LivePods() {
    std::vector<json::object> pods = List(kPods);
    std::erase_if(pods, [](const json::object& pod) {
      return FindValue(pod, {"metadata", "deletionTimestamp"}) != nullptr;
    });
    return pods;
  }

 private:
  void Schedule() {
    for (const json::object& pod : List(kPods)) {
      if (!TextAt(pod, {"spec", "nodeName"}).empty()) continue;
      const std::string name(TextAt(pod, {"metadata", "name"}));
      const std::string node = "node-" + std::to_string(next_node_++ % 3 + 1);
      api_.Post(PodPath(name) + "/binding", BindingJson(name, node));
    }
  }

  ApiHarness api_;
  FakeKubelet kubelet_{api_.plane()};
  Controllers controllers_{api_.plane()};
  int next_node_ = 0;
  bool schedules_ = true;
};

// A workload of one container; `more` goes into its spec.
inline std::string WorkloadJson(std::string_view kind, std::string_view name, std::string_view image,
                                std::string_view more) {
  std::string text = R"({"apiVersion":"apps/v1","kind":")";
  text.append(kind).append(R"(","metadata":{"name":")").append(name).append(R"("},"spec":{)");
  text.append(more).append(R"(,"selector":{"matchLabels":{"app":")").append(name);
  text.append(R"("}},"template":{"metadata":{"labels":{"app":")").append(name);
  text.append(R"("}},"spec":{"containers":[{"name":"c","image":")").append(image).append(R"("}]}}}})");
  return text;
}

inline std::string JobJson(std::string_view name, std::string_view spec, std::string_view annotations = "") {
  std::string text = R"({"apiVersion":"batch/v1","kind":"Job","metadata":{"name":")";
  text.append(name).append(R"("},"spec":{)").append(spec);
  text.append(R"("template":{"metadata":{"annotations":{)").append(annotations);
  text.append(R"(}},"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i:1"}]}}}})");
  return text;
}

inline std::string ConditionStatus(const json::object& document, std::string_view type) {
  const json::array* conditions = FindArray(document, {"status", "conditions"});
  if (conditions == nullptr) return "";
  for (const json::value& entry : *conditions) {
    const json::object& condition = entry.get_object();
    if (TextAt(condition, {"type"}) != type) continue;
    return std::string(TextAt(condition, {"status"})) + " " + std::string(TextAt(condition, {"reason"}));
  }
  return "";
}

}  // namespace berth::sandbox::test
