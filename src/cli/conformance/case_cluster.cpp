#include "cli/conformance/case_cluster.h"

#include <boost/json.hpp>
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
  } else if (kind == "ResourceClaim") {
    Store<api::ResourceClaim>(object, cluster);
  } else if (kind == "ResourceSlice") {
    Store<api::ResourceSlice>(object, cluster);
  } else if (kind == "DeviceClass") {
    Store<api::DeviceClass>(object, cluster);
  } else if (kind == "DeviceTaintRule") {
    Store<api::DeviceTaintRule>(object, cluster);
  }
}

void LoadObjects(const json::array& objects, api::SharedParts& shared, cluster::Cluster& cluster) {
  for (const json::value& object : objects) LoadObject(object.as_object(), shared, cluster);
}

}  // namespace berth::cli
