#include "shell/watched_objects.h"

#include <array>
#include <utility>
#include <variant>

namespace berth::shell {
namespace {

using client::Resource;
using Kind = cluster::WorkloadTable::Kind;

template <class T>
using Shared = client::Shared<T>;

// Came or changed.
struct Seen {
  std::vector<core::Input>& inputs;

  void operator()(const Shared<api::PodRecord>& pod) const { inputs.push_back(core::PodSeen{pod}); }
  void operator()(const Shared<api::Node>& node) const { inputs.push_back(core::NodeSeen{node}); }
  void operator()(const Shared<api::Namespace>& object) const {
    inputs.push_back(core::NamespaceSeen{object});
  }
  void operator()(const Shared<api::Service>& object) const { inputs.push_back(core::WorkloadSeen{object}); }
  void operator()(const Shared<api::ReplicationController>& object) const {
    inputs.push_back(core::WorkloadSeen{object});
  }
  void operator()(const Shared<api::ReplicaSet>& object) const {
    inputs.push_back(core::WorkloadSeen{object});
  }
  void operator()(const Shared<api::StatefulSet>& object) const {
    inputs.push_back(core::WorkloadSeen{object});
  }
  void operator()(const auto& object) const { inputs.push_back(core::ObjectSeen{object}); }
};

struct Gone {
  std::vector<core::Input>& inputs;

  void operator()(const Shared<api::PodRecord>& pod) const {
    inputs.push_back(core::PodGone{pod->namespace_, pod->name, pod->uid});
  }
  void operator()(const Shared<api::Node>& node) const {
    inputs.push_back(core::NodeGone{node->metadata.name});
  }
  void operator()(const Shared<api::Namespace>& object) const {
    inputs.push_back(core::NamespaceGone{object->metadata.name});
  }
  void operator()(const Shared<api::Service>& object) const { Workload(Kind::kService, object->metadata); }
  void operator()(const Shared<api::ReplicationController>& object) const {
    Workload(Kind::kReplicationController, object->metadata);
  }
  void operator()(const Shared<api::ReplicaSet>& object) const {
    Workload(Kind::kReplicaSet, object->metadata);
  }
  void operator()(const Shared<api::StatefulSet>& object) const {
    Workload(Kind::kStatefulSet, object->metadata);
  }
  void operator()(const auto& object) const { inputs.push_back(core::ObjectGone{object}); }

  void Workload(Kind kind, const api::ObjectMeta& metadata) const {
    inputs.push_back(core::WorkloadGone{kind, metadata.namespace_, metadata.name});
  }
};

}  // namespace

std::span<const Resource> WatchedResources() {
  // Nodes and namespaces first: pods are judged by them.
  static constexpr std::array kResources = {Resource::kNodes,
                                            Resource::kNamespaces,
                                            Resource::kServices,
                                            Resource::kReplicationControllers,
                                            Resource::kReplicaSets,
                                            Resource::kStatefulSets,
                                            Resource::kPodDisruptionBudgets,
                                            Resource::kStorageClasses,
                                            Resource::kCsiDrivers,
                                            Resource::kCsiNodes,
                                            Resource::kCsiStorageCapacities,
                                            Resource::kVolumeAttachments,
                                            Resource::kPersistentVolumes,
                                            Resource::kPersistentVolumeClaims,
                                            Resource::kDeviceClasses,
                                            Resource::kResourceSlices,
                                            Resource::kResourceClaims,
                                            Resource::kPods};
  return kResources;
}

void AppendInputs(std::span<const client::ObjectEvent> events, std::vector<core::Input>& inputs) {
  for (const client::ObjectEvent& event : events) {
    if (event.type == client::ObjectEvent::Type::kDelete) {
      std::visit(Gone{inputs}, event.object);
    } else {
      std::visit(Seen{inputs}, event.object);
    }
  }
}

}  // namespace berth::shell
