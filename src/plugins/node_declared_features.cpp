#include "plugins/node_declared_features.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>

#include "base/check.h"
#include "base/memo.h"
#include "plugins/hint_objects.h"

namespace berth::plugins {
namespace {

enum NodeDeclaredFeaturesReason : framework::ReasonId { kMissingFeature };
constexpr framework::ReasonText kNodeDeclaredFeaturesReasons[] = {
    {framework::Code::kUnschedulableAndUnresolvable, "node(s) didn't match Pod's required features"},
};

// Of v1.37, ascending.
constexpr std::array<std::string_view, 9> kFeatures = {
    "DRANodeAllocatableResources",
    "DRAOptionalNodeOperations",
    "ExtendWebSocketsToKubelet",
    "InPlacePodLevelResourcesVerticalScaling",
    "InPlacePodVerticalScalingInitContainers",
    "InPlacePodVerticalScalingMemoryBackedVolumes",
    "RestartAllContainersOnContainerExits",
    "UserNamespacesHostNetworkSupport",
    "VolumeBindMountOptions",
};
static_assert(std::ranges::is_sorted(kFeatures) && kFeatures.size() <= framework::kMadeUpNodeFeaturesMax);
constexpr std::size_t kRestartAllContainers = 6;
constexpr std::size_t kUserNamespacesHostNetwork = 7;
constexpr std::size_t kVolumeBindMountOptions = 8;

std::vector<std::string> KnownFeatures(std::size_t made_up) {
  BERTH_CHECK(made_up <= framework::kMadeUpNodeFeaturesMax);
  return made_up > 0 ? MadeUpFeatureNames(made_up)
                     : std::vector<std::string>(kFeatures.begin(), kFeatures.end());
}

bool RestartsAllContainers(const api::Container& container) {
  return std::ranges::any_of(container.restart_policy_rules, [](const api::ContainerRestartRule& rule) {
    return rule.action == "RestartAllContainers";
  });
}

bool HasBindMountOptions(std::span<const api::VolumeMount> mounts) {
  return std::ranges::any_of(mounts,
                             [](const api::VolumeMount& mount) { return !mount.bind_mount_options.empty(); });
}

base::Result<framework::Hint> AfterNodeChange(const framework::HintInput& input) {
  const auto node = ChangedObjectsOf<api::Node>(input);
  if (!node) return std::unexpected(node.error());
  return QueueIf(node->before == nullptr ||
                 node->before->status.declared_features != node->after->status.declared_features);
}

}  // namespace

std::vector<std::string> MadeUpFeatureNames(std::size_t count) {
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back("Feature" + std::to_string(i));
  std::ranges::sort(names);
  return names;
}

struct NodeDeclaredFeatures::FeaturePlan final : framework::Plan {
  FeatureBits required;
  base::GenerationalMemo<cluster::FeatureSetId, bool> lacks;
};

NodeDeclaredFeatures::NodeDeclaredFeatures(const framework::PluginSetup& setup)
    : enabled_(setup.features.node_declared_features),
      are_made_up_(setup.made_up_node_features > 0),
      features_(KnownFeatures(setup.made_up_node_features)) {}

NodeDeclaredFeatures::FeatureBits NodeDeclaredFeatures::RequiredBy(const api::PodSpec& spec) const {
  FeatureBits required;
  if (are_made_up_) {
    if (spec.resources) {
      for (std::size_t i = 0; i < features_.size(); ++i) required.set(i);
    }
    return required;
  }
  for (const auto* const containers : {&spec.init_containers, &spec.containers}) {
    for (const api::Container& container : *containers) {
      if (RestartsAllContainers(container)) required.set(kRestartAllContainers);
      if (HasBindMountOptions(container.volume_mounts)) required.set(kVolumeBindMountOptions);
    }
  }
  for (const api::EphemeralContainer& container : spec.ephemeral_containers) {
    if (HasBindMountOptions(container.ephemeral_container_common.volume_mounts)) {
      required.set(kVolumeBindMountOptions);
    }
  }
  if (spec.host_network && spec.host_users == false) required.set(kUserNamespacesHostNetwork);
  return required;
}

// One merge of two ascending lists, as upstream does it: of a declaration that is not ascending, what comes
// too late is lost.
NodeDeclaredFeatures::FeatureBits NodeDeclaredFeatures::DeclaredBy(std::span<const std::string> names) const {
  FeatureBits declared;
  std::size_t feature = 0;
  for (const std::string& name : names) {
    while (feature < features_.size() && features_[feature] < name) ++feature;
    if (feature < features_.size() && features_[feature] == name) declared.set(feature++);
  }
  return declared;
}

base::Result<framework::Hint> NodeDeclaredFeatures::AfterPodUpdate(const framework::HintInput& input) const {
  const auto pod = ChangedObjectsOf<api::PodRecord>(input);
  if (!pod) return std::unexpected(pod.error());
  if (pod->before == nullptr) return base::Fail("the event has no old object");
  return QueueIf(RequiredBy(pod->before->spec->spec) != RequiredBy(pod->after->spec->spec));
}

std::span<const framework::ReasonText> NodeDeclaredFeatures::Reasons() const {
  return kNodeDeclaredFeaturesReasons;
}

std::unique_ptr<framework::Plan> NodeDeclaredFeatures::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<FeaturePlan>();
  plan->required = RequiredBy(input.spec);
  plan->filters = enabled_ && plan->required.any();
  plan->filter_reads = framework::Reads::Alike(cluster::kFeaturesFact);
  return plan;
}

framework::PreFilterResult NodeDeclaredFeatures::PreFilter(framework::Cycle& cycle) const {
  if (cycle.resize_deferred() || !cycle.PlanOf<FeaturePlan>(*this).filters) {
    return {.status = framework::Status::Skip()};
  }
  return {};
}

void NodeDeclaredFeatures::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  if (cycle.resize_deferred()) return;
  auto& plan = cycle.PlanOf<FeaturePlan>(*this);
  const cluster::FeatureSetTable& features = cycle.cluster().features();
  const std::span<const cluster::FeatureSetId> set_of = cycle.cluster().nodes().feature_set();
  nodes.RemoveIf(kMissingFeature, [&](cluster::NodeRow row) {
    return plan.lacks.Get(features.Version(set_of[row.index()]), [&](cluster::FeatureSetId set) {
      return (plan.required & ~DeclaredBy(features.Get(set))).any();
    });
  });
}

std::vector<framework::EventRegistration> NodeDeclaredFeatures::EventsToRegister() const {
  if (!enabled_) return {};
  return {
      {.event = {framework::EventResource::kNode, framework::kAdd | framework::kUpdateNodeDeclaredFeature},
       .hint = AfterNodeChange,
       .by_template = true},
      {.event = {framework::EventResource::kTargetPod, framework::kUpdate},
       .hint = [this](const framework::HintInput& input) { return AfterPodUpdate(input); }}};
}

bool NodeDeclaredFeatures::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  const std::string required = RequiredBy(pod.record().spec->spec).to_string();
  signature.Add("v1.Pod.Spec.RequiredFeatures()", required.substr(required.size() - features_.size()));
  return true;
}

}  // namespace berth::plugins
