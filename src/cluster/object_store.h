#pragma once

#include <tuple>
#include <variant>

#include "api/devices.h"
#include "api/pod_group.h"
#include "api/storage.h"
#include "api/workloads.h"
#include "cluster/object_table.h"

namespace berth::cluster {

namespace internal {
// Every kind that is kept as an object, and no more than that: pods, nodes, namespaces and the controllers of
// pods have tables of their own.
template <template <class...> class List>
using WithStoredKinds =
    List<api::PodDisruptionBudget, api::PersistentVolume, api::PersistentVolumeClaim, api::StorageClass,
         api::CSINode, api::CSIDriver, api::CSIStorageCapacity, api::VolumeAttachment, api::ResourceClaim,
         api::ResourceSlice, api::DeviceClass, api::DeviceTaintRule, api::PodGroup, api::CompositePodGroup>;

template <class... T>
using VariantOfRefs = std::variant<std::monostate, std::shared_ptr<const T>...>;
template <class... T>
using TupleOfTables = std::tuple<ObjectTable<T>...>;
}  // namespace internal

// An object of any of these kinds, or nothing.
using AnyObject = internal::WithStoredKinds<internal::VariantOfRefs>;

// What plugins look up by name: volumes, claims, devices, disruption budgets, pod groups.
class ObjectStore {
 public:
  //   cluster.objects().Of<api::StorageClass>().Find(name)
  template <class T>
  ObjectTable<T>& Of() {
    return std::get<ObjectTable<T>>(tables_);
  }
  template <class T>
  const ObjectTable<T>& Of() const {
    return std::get<ObjectTable<T>>(tables_);
  }

 private:
  internal::WithStoredKinds<internal::TupleOfTables> tables_;
};

}  // namespace berth::cluster
