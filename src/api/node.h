#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/resource_list.h"
#include "api/taints.h"
#include "base/boxed.h"
#include "base/shared_value.h"

// Node: what a scheduler reads of it.
namespace berth::api {

struct ContainerImage {
  std::vector<std::string> names;
  std::int64_t size_bytes = 0;

  bool operator==(const ContainerImage&) const = default;
};

struct NodePodPreemptionPolicy {
  std::vector<std::string> disable_resize_preemption;

  bool operator==(const NodePodPreemptionPolicy&) const = default;
};

struct NodeSpec {
  bool unschedulable = false;
  std::vector<Taint> taints;
  base::Boxed<NodePodPreemptionPolicy> pod_preemption_policy;

  bool operator==(const NodeSpec&) const = default;
};

struct NodeCondition {
  std::string type;
  std::string status;

  bool operator==(const NodeCondition&) const = default;
};

// Nodes of one make differ in little of it, so most of it may be shared: node_parts.h.
struct NodeStatus {
  base::SharedValue<ResourceList> allocatable;
  base::SharedValue<std::vector<NodeCondition>> conditions;
  std::vector<base::SharedValue<ContainerImage>> images;
  base::SharedValue<std::vector<std::string>> declared_features;

  bool operator==(const NodeStatus&) const = default;
};

struct Node {
  ObjectMeta metadata;
  NodeSpec spec;
  NodeStatus status;

  bool operator==(const Node&) const = default;
};

}  // namespace berth::api
