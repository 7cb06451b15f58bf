#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/node.h"
#include "api/pod.h"
#include "api/pod_record.h"

// Objects for tests, one line each: MakePod("web").Cpu("500m").Label("app", "web"),
// MakeNode("n1").Cpu("4").Zone("a"). What a builder is not told stays as the API leaves it, except that a
// node allows 110 pods and a pod has a uid.
namespace berth::test {

inline constexpr const char* kZone = "topology.kubernetes.io/zone";
inline constexpr const char* kHost = "kubernetes.io/hostname";

class LabelSelectorBuilder {
 public:
  LabelSelectorBuilder& Label(std::string key, std::string value);
  LabelSelectorBuilder& Expression(std::string key, std::string op, std::vector<std::string> values = {});

  operator api::LabelSelector() const { return selector_; }

 private:
  api::LabelSelector selector_;
};

// Without requirements it selects everything.
inline LabelSelectorBuilder MakeSelector() { return {}; }

class TermBuilder {
 public:
  explicit TermBuilder(std::string topology_key) { term_.topology_key = std::move(topology_key); }
  TermBuilder& Selector(api::LabelSelector selector);
  // Shorthand for Selector(MakeSelector().Label(key, value)).
  TermBuilder& Label(std::string key, std::string value);
  TermBuilder& Namespaces(std::vector<std::string> namespaces);
  TermBuilder& NamespaceSelector(api::LabelSelector selector);

  operator api::PodAffinityTerm() const { return term_; }

 private:
  api::PodAffinityTerm term_;
};

inline TermBuilder MakeTerm(std::string topology_key) { return TermBuilder(std::move(topology_key)); }

class PodBuilder {
 public:
  // In the namespace "default".
  explicit PodBuilder(std::string name);

  PodBuilder& Namespace(std::string name);
  PodBuilder& Uid(std::string uid);
  PodBuilder& Label(std::string key, std::string value);
  PodBuilder& Annotation(std::string key, std::string value);
  PodBuilder& Owner(std::string api_version, std::string kind, std::string name);
  PodBuilder& Terminating();
  PodBuilder& Created(std::int64_t unix_seconds);
  PodBuilder& Started(std::int64_t unix_seconds);

  // Of the first container, unless Container() began another one.
  PodBuilder& Container(std::string image = "");
  PodBuilder& InitContainer(std::string image = "");
  PodBuilder& Cpu(std::string_view quantity) { return Request("cpu", quantity); }
  PodBuilder& Memory(std::string_view quantity) { return Request("memory", quantity); }
  PodBuilder& Request(std::string resource, std::string_view quantity);
  PodBuilder& HostPort(std::int32_t port, std::string protocol = "", std::string ip = "");

  PodBuilder& Node(std::string name);
  PodBuilder& NominatedNode(std::string name);
  PodBuilder& Priority(std::int32_t priority);
  PodBuilder& PreemptionPolicy(std::string policy);
  PodBuilder& SchedulerName(std::string name);
  PodBuilder& Gate(std::string name);
  PodBuilder& Tolerate(api::Toleration toleration);
  PodBuilder& NodeSelector(std::string key, std::string value);
  PodBuilder& NodeAffinity(api::NodeSelectorTerm term);
  PodBuilder& PreferNodes(std::int32_t weight, api::NodeSelectorTerm term);
  PodBuilder& Affinity(api::PodAffinityTerm term);
  PodBuilder& AntiAffinity(api::PodAffinityTerm term);
  PodBuilder& PreferAffinity(std::int32_t weight, api::PodAffinityTerm term);
  PodBuilder& PreferAntiAffinity(std::int32_t weight, api::PodAffinityTerm term);
  PodBuilder& Spread(api::TopologySpreadConstraint constraint);
  PodBuilder& VolumeClaim(std::string claim_name);
  PodBuilder& Volume(api::Volume volume);
  PodBuilder& ResourceClaim(std::string name, std::string claim_name);
  PodBuilder& Condition(api::PodCondition condition);
  PodBuilder& Phase(std::string phase);

  // For what has no method of its own.
  api::Pod& pod() { return pod_; }
  operator api::Pod() const { return pod_; }
  api::Pod Build() const { return pod_; }
  // Records of equal pods share their parts, as decoded ones do.
  std::shared_ptr<const api::PodRecord> Record() const;

 private:
  api::Container& LastContainer();
  api::Affinity& TheAffinity();

  api::Pod pod_;
};

inline PodBuilder MakePod(std::string name) { return PodBuilder(std::move(name)); }

class NodeBuilder {
 public:
  explicit NodeBuilder(std::string name);

  NodeBuilder& Label(std::string key, std::string value);
  NodeBuilder& Annotation(std::string key, std::string value);
  NodeBuilder& Zone(std::string zone) { return Label("topology.kubernetes.io/zone", std::move(zone)); }
  NodeBuilder& Region(std::string region) {
    return Label("topology.kubernetes.io/region", std::move(region));
  }
  // The label kubernetes.io/hostname, with the node's own name.
  NodeBuilder& Hostname();
  NodeBuilder& Cpu(std::string_view quantity) { return Allocatable("cpu", quantity); }
  NodeBuilder& Memory(std::string_view quantity) { return Allocatable("memory", quantity); }
  NodeBuilder& Pods(std::string_view quantity) { return Allocatable("pods", quantity); }
  NodeBuilder& Allocatable(std::string resource, std::string_view quantity);
  NodeBuilder& Taint(std::string key, std::string value, std::string effect);
  NodeBuilder& Unschedulable();
  NodeBuilder& Image(std::string name, std::int64_t size_bytes);
  NodeBuilder& Feature(std::string name);

  api::Node& node() { return node_; }
  operator api::Node() const { return node_; }
  api::Node Build() const { return node_; }
  std::shared_ptr<const api::Node> Ref() const { return std::make_shared<const api::Node>(node_); }

 private:
  api::Node node_;
};

inline NodeBuilder MakeNode(std::string name) { return NodeBuilder(std::move(name)); }

}  // namespace berth::test
