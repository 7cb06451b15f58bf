#include "support/builders.h"

#include <utility>

#include "base/check.h"

namespace berth::test {
namespace {

api::Quantity Amount(std::string_view text) {
  auto quantity = api::Quantity::Parse(text);
  BERTH_CHECK(quantity.has_value());
  return std::move(*quantity);
}

}  // namespace

LabelSelectorBuilder& LabelSelectorBuilder::Label(std::string key, std::string value) {
  selector_.match_labels.insert_or_assign(std::move(key), std::move(value));
  return *this;
}

LabelSelectorBuilder& LabelSelectorBuilder::Expression(std::string key, std::string op,
                                                       std::vector<std::string> values) {
  selector_.match_expressions.push_back({std::move(key), std::move(op), std::move(values)});
  return *this;
}

TermBuilder& TermBuilder::Selector(api::LabelSelector selector) {
  term_.label_selector = std::move(selector);
  return *this;
}

TermBuilder& TermBuilder::Label(std::string key, std::string value) {
  return Selector(MakeSelector().Label(std::move(key), std::move(value)));
}

TermBuilder& TermBuilder::Namespaces(std::vector<std::string> namespaces) {
  term_.namespaces = std::move(namespaces);
  return *this;
}

TermBuilder& TermBuilder::NamespaceSelector(api::LabelSelector selector) {
  term_.namespace_selector = std::move(selector);
  return *this;
}

PodBuilder::PodBuilder(std::string name) {
  pod_.metadata.namespace_ = "default";
  pod_.metadata.uid = "uid-" + name;
  pod_.metadata.name = std::move(name);
}

PodBuilder& PodBuilder::Namespace(std::string name) {
  pod_.metadata.namespace_ = std::move(name);
  return *this;
}

PodBuilder& PodBuilder::Uid(std::string uid) {
  pod_.metadata.uid = std::move(uid);
  return *this;
}

PodBuilder& PodBuilder::Label(std::string key, std::string value) {
  pod_.metadata.labels.insert_or_assign(std::move(key), std::move(value));
  return *this;
}

PodBuilder& PodBuilder::Annotation(std::string key, std::string value) {
  pod_.metadata.annotations.insert_or_assign(std::move(key), std::move(value));
  return *this;
}

PodBuilder& PodBuilder::Owner(std::string api_version, std::string kind, std::string name) {
  api::OwnerReference& owner = pod_.metadata.owner_references.emplace_back();
  owner.uid = "uid-" + name;
  owner.api_version = std::move(api_version);
  owner.kind = std::move(kind);
  owner.name = std::move(name);
  owner.controller = true;
  return *this;
}

PodBuilder& PodBuilder::Terminating() {
  pod_.metadata.deletion_timestamp = api::Time{1'700'000'000};
  return *this;
}

PodBuilder& PodBuilder::Created(std::int64_t unix_seconds) {
  pod_.metadata.creation_timestamp = {unix_seconds};
  return *this;
}

PodBuilder& PodBuilder::Started(std::int64_t unix_seconds) {
  pod_.status.start_time = api::Time{unix_seconds};
  return *this;
}

PodBuilder& PodBuilder::Container(std::string image) {
  api::Container& container = pod_.spec.containers.emplace_back();
  container.name = "c" + std::to_string(pod_.spec.containers.size());
  container.image = std::move(image);
  return *this;
}

PodBuilder& PodBuilder::InitContainer(std::string image) {
  api::Container& container = pod_.spec.init_containers.emplace_back();
  container.name = "i" + std::to_string(pod_.spec.init_containers.size());
  container.image = std::move(image);
  return *this;
}

api::Container& PodBuilder::LastContainer() {
  if (pod_.spec.containers.empty()) Container();
  return pod_.spec.containers.back();
}

PodBuilder& PodBuilder::Request(std::string resource, std::string_view quantity) {
  LastContainer().resources.requests.insert_or_assign(std::move(resource), Amount(quantity));
  return *this;
}

PodBuilder& PodBuilder::HostPort(std::int32_t port, std::string protocol, std::string ip) {
  LastContainer().ports.push_back(
      {.host_port = port, .protocol = std::move(protocol), .host_ip = std::move(ip)});
  return *this;
}

PodBuilder& PodBuilder::Node(std::string name) {
  pod_.spec.node_name = std::move(name);
  return *this;
}

PodBuilder& PodBuilder::NominatedNode(std::string name) {
  pod_.status.nominated_node_name = std::move(name);
  return *this;
}

PodBuilder& PodBuilder::Priority(std::int32_t priority) {
  pod_.spec.priority = priority;
  return *this;
}

PodBuilder& PodBuilder::PreemptionPolicy(std::string policy) {
  pod_.spec.preemption_policy = std::move(policy);
  return *this;
}

PodBuilder& PodBuilder::SchedulerName(std::string name) {
  pod_.spec.scheduler_name = std::move(name);
  return *this;
}

PodBuilder& PodBuilder::Gate(std::string name) {
  pod_.spec.scheduling_gates.push_back({std::move(name)});
  return *this;
}

PodBuilder& PodBuilder::Tolerate(api::Toleration toleration) {
  pod_.spec.tolerations.Edit().push_back(std::move(toleration));
  return *this;
}

PodBuilder& PodBuilder::NodeSelector(std::string key, std::string value) {
  pod_.spec.node_selector.insert_or_assign(std::move(key), std::move(value));
  return *this;
}

api::Affinity& PodBuilder::TheAffinity() {
  if (!pod_.spec.affinity) pod_.spec.affinity.emplace();
  return *pod_.spec.affinity;
}

PodBuilder& PodBuilder::NodeAffinity(api::NodeSelectorTerm term) {
  auto& affinity = TheAffinity().node_affinity;
  if (!affinity) affinity.emplace();
  auto& required = affinity->required_during_scheduling_ignored_during_execution;
  if (!required) required.emplace();
  required->node_selector_terms.push_back(std::move(term));
  return *this;
}

PodBuilder& PodBuilder::PreferNodes(std::int32_t weight, api::NodeSelectorTerm term) {
  auto& affinity = TheAffinity().node_affinity;
  if (!affinity) affinity.emplace();
  affinity->preferred_during_scheduling_ignored_during_execution.push_back({weight, std::move(term)});
  return *this;
}

PodBuilder& PodBuilder::Affinity(api::PodAffinityTerm term) {
  auto& affinity = TheAffinity().pod_affinity;
  if (!affinity) affinity.emplace();
  affinity->required_during_scheduling_ignored_during_execution.push_back(std::move(term));
  return *this;
}

PodBuilder& PodBuilder::AntiAffinity(api::PodAffinityTerm term) {
  auto& affinity = TheAffinity().pod_anti_affinity;
  if (!affinity) affinity.emplace();
  affinity->required_during_scheduling_ignored_during_execution.push_back(std::move(term));
  return *this;
}

PodBuilder& PodBuilder::PreferAffinity(std::int32_t weight, api::PodAffinityTerm term) {
  auto& affinity = TheAffinity().pod_affinity;
  if (!affinity) affinity.emplace();
  affinity->preferred_during_scheduling_ignored_during_execution.push_back({weight, std::move(term)});
  return *this;
}

PodBuilder& PodBuilder::PreferAntiAffinity(std::int32_t weight, api::PodAffinityTerm term) {
  auto& affinity = TheAffinity().pod_anti_affinity;
  if (!affinity) affinity.emplace();
  affinity->preferred_during_scheduling_ignored_during_execution.push_back({weight, std::move(term)});
  return *this;
}

PodBuilder& PodBuilder::Spread(api::TopologySpreadConstraint constraint) {
  pod_.spec.topology_spread_constraints.push_back(std::move(constraint));
  return *this;
}

PodBuilder& PodBuilder::VolumeClaim(std::string claim_name) {
  api::Volume volume;
  volume.name = "v" + std::to_string(pod_.spec.volumes.size());
  volume.volume_source.persistent_volume_claim = {std::move(claim_name)};
  return Volume(std::move(volume));
}

PodBuilder& PodBuilder::Volume(api::Volume volume) {
  pod_.spec.volumes.push_back(std::move(volume));
  return *this;
}

PodBuilder& PodBuilder::ResourceClaim(std::string name, std::string claim_name) {
  api::PodResourceClaim& claim = pod_.spec.resource_claims.emplace_back();
  claim.name = std::move(name);
  claim.resource_claim_name = std::move(claim_name);
  return *this;
}

PodBuilder& PodBuilder::Condition(api::PodCondition condition) {
  pod_.status.conditions.push_back(std::move(condition));
  return *this;
}

PodBuilder& PodBuilder::Phase(std::string phase) {
  pod_.status.phase = std::move(phase);
  return *this;
}

std::shared_ptr<const api::PodRecord> PodBuilder::Record() const {
  static api::SharedParts shared;
  return std::make_shared<const api::PodRecord>(api::MakeRecord(Build(), shared));
}

NodeBuilder::NodeBuilder(std::string name) {
  node_.metadata.name = std::move(name);
  Pods("110");
}

NodeBuilder& NodeBuilder::Label(std::string key, std::string value) {
  node_.metadata.labels.insert_or_assign(std::move(key), std::move(value));
  return *this;
}

NodeBuilder& NodeBuilder::Annotation(std::string key, std::string value) {
  node_.metadata.annotations.insert_or_assign(std::move(key), std::move(value));
  return *this;
}

NodeBuilder& NodeBuilder::Hostname() { return Label("kubernetes.io/hostname", node_.metadata.name); }

NodeBuilder& NodeBuilder::Allocatable(std::string resource, std::string_view quantity) {
  node_.status.allocatable.Edit().insert_or_assign(std::move(resource), Amount(quantity));
  return *this;
}

NodeBuilder& NodeBuilder::Taint(std::string key, std::string value, std::string effect) {
  node_.spec.taints.push_back({std::move(key), std::move(value), std::move(effect), std::nullopt});
  return *this;
}

NodeBuilder& NodeBuilder::Unschedulable() {
  node_.spec.unschedulable = true;
  return *this;
}

NodeBuilder& NodeBuilder::Image(std::string name, std::int64_t size_bytes) {
  node_.status.images.emplace_back(api::ContainerImage{{std::move(name)}, size_bytes});
  return *this;
}

NodeBuilder& NodeBuilder::Feature(std::string name) {
  node_.status.declared_features.Edit().push_back(std::move(name));
  return *this;
}

}  // namespace berth::test
