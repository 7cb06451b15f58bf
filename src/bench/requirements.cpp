#include "bench/requirements.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "api/quantity.h"
#include "bench/field_reader.h"
#include "bench/object_template.h"
#include "bench/pod_maker.h"
#include "framework/registry.h"
#include "plugins/all_plugins.h"
#include "sandbox/document.h"
#include "sandbox/kinds.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

// Of a node without a template.
constexpr std::int64_t kPlainNodeMilliCpu = 4000;

std::optional<std::int64_t> MilliCpu(std::string_view text) {
  const auto quantity = api::Quantity::Parse(text);
  if (!quantity) return std::nullopt;
  return quantity->MilliValue();
}

std::int64_t RequestedMilliCpu(const json::object& pod) {
  std::int64_t sum = 0;
  const json::array* const containers = sandbox::FindArray(pod, {"spec", "containers"});
  if (containers == nullptr) return sum;
  for (const json::value& container : *containers) {
    const json::value* const cpu =
        container.is_object() ? sandbox::FindValue(container.as_object(), {"resources", "requests", "cpu"})
                              : nullptr;
    if (cpu != nullptr && cpu->is_string()) sum += MilliCpu(std::string_view(cpu->as_string())).value_or(0);
    if (cpu != nullptr && cpu->is_int64()) sum += cpu->as_int64() * 1000;
  }
  return sum;
}

// Looks through the operations of a workload for what only some plugins can do.
class Survey {
 public:
  Survey(const WorkloadFile& file, const TestCase& test_case, Params params)
      : file_(file), test_case_(test_case), params_(std::move(params)), registry_(plugins::AllPlugins()) {}

  void Add(const Operation& operation) {
    std::visit([&](const auto& op) { Look(op); }, operation.action);
  }
  void NeedPlugin(std::string_view plugin) {
    if (!registry_.Contains(plugin)) missing_.insert("plugin " + std::string(plugin));
  }
  void NeedAllOf(std::initializer_list<std::string_view> plugins) {
    for (const std::string_view plugin : plugins) NeedPlugin(plugin);
  }
  void Need(std::string what) { missing_.insert(std::move(what)); }

  std::vector<std::string> Finish() {
    // Preemption may help a pod that outranks others, unless it is larger than every node.
    const bool outranks = std::ranges::any_of(pods_, [&](const PodKind& pod) {
      return pod.priority > lowest_priority_ && pod.milli_cpu <= largest_node_;
    });
    if (outranks) NeedPlugin("DefaultPreemption");
    return {missing_.begin(), missing_.end()};
  }

 private:
  struct PodKind {
    std::int64_t priority;
    std::int64_t milli_cpu;
  };

  void Look(const CreateNodes& op) {
    std::int64_t milli_cpu = kPlainNodeMilliCpu;
    if (const auto node = First(op.template_path, "Node", op.template_params)) {
      milli_cpu = MilliCpu(sandbox::TextAt(*node, {"status", "capacity", "cpu"})).value_or(0);
    }
    largest_node_ = std::max(largest_node_, milli_cpu);
  }
  void Look(const CreatePods& op) {
    if (!op.claim_template_path.empty()) NeedVolumes();
    const std::string& path = op.template_path.empty() ? test_case_.pod_template_path : op.template_path;
    if (const auto pod = First(path, "Pod", op.template_params)) {
      AddPod(*pod);
    } else {
      AddPod({});
    }
  }
  void Look(const CreatePodSets& op) { Look(op.pods); }
  void Look(const CreatePodGroups&) { NeedPlugin("GangScheduling"); }
  void Look(const CreateResourceClaims&) { NeedPlugin("DynamicResources"); }
  void Look(const CreateAny& op) {
    const auto object = First(op.template_path, "", op.template_params);
    if (!object || op.count.number(1) == 0) return;
    AddFree(*object);
  }
  void Look(const Churn& op) {
    for (const std::string& path : op.template_paths) {
      if (const auto object = First(path, "", {})) AddFree(*object);
    }
  }
  void Look(const auto&) {}

  // The first object that the template makes.
  std::optional<json::object> First(const std::string& path, std::string_view kind,
                                    const json::object& params) {
    if (path.empty()) return std::nullopt;
    const auto source = ObjectTemplate::Load(
        file_.folder() / path, kind.empty() ? nullptr : sandbox::ResourceOf("v1", kind).message);
    const auto resolved = params_.ResolveAll(params);
    if (!source || !resolved) return std::nullopt;
    auto object = source->Make(TemplateData(*resolved, 0, 1));
    if (!object) return std::nullopt;
    return *std::move(object);
  }

  void AddFree(const json::object& object) {
    const std::string_view api_version = sandbox::TextAt(object, {"apiVersion"});
    const std::string_view kind = sandbox::TextAt(object, {"kind"});
    if (api_version.starts_with("resource.k8s.io/")) NeedPlugin("DynamicResources");
    if (api_version.starts_with("storage.k8s.io/") || kind.starts_with("PersistentVolume")) NeedVolumes();
    if (kind == "Pod") AddPod(object);
  }
  void AddPod(const json::object& pod) {
    pods_.push_back({sandbox::NumberAt(pod, {"spec", "priority"}), RequestedMilliCpu(pod)});
    lowest_priority_ = std::min(lowest_priority_, pods_.back().priority);
    if (const json::array* const claims = sandbox::FindArray(pod, {"spec", "resourceClaims"});
        claims != nullptr && !claims->empty()) {
      NeedPlugin("DynamicResources");
    }
    if (sandbox::FindValue(pod, {"spec", "schedulingGroup"}) != nullptr) NeedPlugin("GangScheduling");
  }
  void NeedVolumes() { NeedAllOf({"VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"}); }

  const WorkloadFile& file_;
  const TestCase& test_case_;
  Params params_;
  const framework::Registry registry_;
  std::set<std::string> missing_;
  std::vector<PodKind> pods_;
  std::int64_t lowest_priority_ = 0;
  std::int64_t largest_node_ = 0;
};

}  // namespace

base::Result<framework::Features> FeaturesFor(const Gates& gates) {
  framework::Features features;
  for (const auto& [name, enabled] : gates) {
    const framework::FeatureGate* const gate = framework::FindFeatureGate(name);
    if (gate == nullptr) return base::Fail("unknown feature gate " + name);
    features.*(gate->value) = enabled;
  }
  return features;
}

base::Result<std::size_t> MadeUpNodeFeatures(const WorkloadFile& file, const Workload& workload,
                                             Params& params) {
  constexpr const char* kCount = "numNodeDeclaredFeatures";
  if (file.topic != "nodedeclaredfeatures") return std::size_t{0};
  const auto gate = workload.gates.find("NodeDeclaredFeatures");
  if (gate == workload.gates.end() || !gate->second) return std::size_t{0};
  const auto count = params.Integer(kCount);
  if (!count) return FailIn("params", count.error().message);
  if (*count < 0 || static_cast<std::uint64_t>(*count) > framework::kMadeUpNodeFeaturesMax) {
    return FailIn("params", fmt::format("{} is {}, and no more than {} can be made up", kCount, *count,
                                        framework::kMadeUpNodeFeaturesMax));
  }
  return static_cast<std::size_t>(*count);
}

std::vector<std::string> MissingFor(const WorkloadFile& file, const TestCase& test_case,
                                    const Workload& workload, const Abilities& abilities) {
  Survey survey(file, test_case, Params(workload.params));
  if (const auto features = FeaturesFor(workload.gates); !features) survey.Need(features.error().message);
  // What is wrong with parameters is for the run to say.
  Params params(workload.params);
  if (!abilities.makes_up_node_features && MadeUpNodeFeatures(file, workload, params).value_or(1) > 0) {
    survey.Need("features of nodes that no release knows; core mode makes them up");
  }
  const auto operations = Unroll(test_case.operations, params);
  for (const Operation& operation : operations ? *operations : test_case.operations) survey.Add(operation);
  return survey.Finish();
}

}  // namespace berth::bench
