#include "cli/conformance/case_cluster.h"

#include <algorithm>
#include <boost/json.hpp>
#include <iterator>
#include <memory>
#include <stdexcept>

#include "cli/conformance/case_json.h"

#include "api/devices.h"
#include "api/node.h"
#include "api/workloads.h"
#include "cluster/object_store.h"

namespace berth::cli {

namespace json = boost::json;

cluster::PodRecordRef RecordOf(const json::value& pod, api::SharedParts& shared) {
  return std::make_shared<const api::PodRecord>(api::MakeRecord(DecodeObject<api::Pod>(pod), shared));
}

namespace {

void LoadPod(const json::object& object, api::SharedParts& shared, cluster::Cluster& cluster) {
  const cluster::PodRecordRef record = RecordOf(object, shared);
  // The scheduler's pod watch leaves these out.
  if (record->phase == "Succeeded" || record->phase == "Failed") return;
  if (!record->node_name.empty()) {
    if (const auto added = cluster.AddPod(record); !added) throw std::runtime_error(added.error().message);
    return;
  }
  const auto slot = cluster.SetPending(record);
  if (!slot) throw std::runtime_error(slot.error().message);
  cluster.Nominate(*slot);
}

template <class T>
void Store(const json::object& object, cluster::Cluster& cluster) {
  cluster.objects().Of<T>().Set(std::make_shared<const T>(DecodeObject<T>(object)));
}

struct StoredKind {
  std::string_view kind;
  void (*store)(const json::object& object, cluster::Cluster& cluster);
};
constexpr StoredKind kStoredKinds[] = {
    {"PodDisruptionBudget", Store<api::PodDisruptionBudget>},
    {"PersistentVolume", Store<api::PersistentVolume>},
    {"PersistentVolumeClaim", Store<api::PersistentVolumeClaim>},
    {"StorageClass", Store<api::StorageClass>},
    {"CSINode", Store<api::CSINode>},
    {"CSIDriver", Store<api::CSIDriver>},
    {"CSIStorageCapacity", Store<api::CSIStorageCapacity>},
    {"VolumeAttachment", Store<api::VolumeAttachment>},
    {"ResourceClaim", Store<api::ResourceClaim>},
    {"ResourceSlice", Store<api::ResourceSlice>},
    {"DeviceClass", Store<api::DeviceClass>},
    {"DeviceTaintRule", Store<api::DeviceTaintRule>},
    {"PodGroup", Store<api::PodGroup>},
    {"CompositePodGroup", Store<api::CompositePodGroup>},
};

}  // namespace

void LoadObject(const json::object& object, api::SharedParts& shared, cluster::Cluster& cluster) {
  const std::string_view kind = TextAt(object, "kind");
  if (kind == "Pod") {
    LoadPod(object, shared, cluster);
  } else if (kind == "Node") {
    cluster.SetNode(std::make_shared<const api::Node>(DecodeObject<api::Node>(object)));
  } else if (kind == "Namespace") {
    cluster.SetNamespace(DecodeObject<api::Namespace>(object));
  } else if (kind == "Service") {
    cluster.workloads().Set(DecodeObject<api::Service>(object));
  } else if (kind == "ReplicationController") {
    cluster.workloads().Set(DecodeObject<api::ReplicationController>(object));
  } else if (kind == "ReplicaSet") {
    cluster.workloads().Set(DecodeObject<api::ReplicaSet>(object));
  } else if (kind == "StatefulSet") {
    cluster.workloads().Set(DecodeObject<api::StatefulSet>(object));
  } else if (const auto* const stored = std::ranges::find(kStoredKinds, kind, &StoredKind::kind);
             stored != std::end(kStoredKinds)) {
    stored->store(object, cluster);
  }
}

void LoadObjects(const json::array& objects, api::SharedParts& shared, cluster::Cluster& cluster) {
  for (const json::value& object : objects) LoadObject(object.as_object(), shared, cluster);
}

}  // namespace berth::cli
