#include "dra/device_state.h"

#include "base/check.h"

namespace berth::dra {

DeviceState::DeviceState(cluster::Cluster& cluster)
    : cluster_(cluster),
      pools_(cluster, devices_, selectors_),
      claims_(cluster.objects().Of<api::ResourceClaim>(), devices_) {
  cluster::ObjectStore& objects = cluster.objects();
  const auto follow = [&]<class T>(cluster::ObjectTable<T>& table, auto on_change) {
    table.ForEach([&](const std::shared_ptr<const T>& object) { on_change(nullptr, object); });
    table.AddObserver(on_change);
  };
  follow(objects.Of<api::DeviceTaintRule>(),
         [this](const TaintRules::Rule& before, const TaintRules::Rule& after) { OnRule(before, after); });
  follow(objects.Of<api::ResourceSlice>(),
         [this](const SliceRef& before, const SliceRef& after) { OnSlice(before, after); });
  follow(objects.Of<api::DeviceClass>(),
         [this](const ExtendedNames::Class& before, const ExtendedNames::Class& after) {
           extended_names_.OnChange(before, after);
         });
}

void DeviceState::SetGates(const Gates& gates) {
  if (gates == gates_) return;
  BERTH_CHECK(devices_.empty());  // what is counted already was counted by other rules
  gates_ = gates;
  devices_.SetShares(gates.consumable_capacity);
  pools_.SetGates(gates);
}

std::uint64_t DeviceState::UseVersion(const NodePools& pools) const {
  std::uint64_t version = 0;
  for (const PoolId pool : pools.used) version += devices_.use_version(pool);
  return version;
}

std::shared_ptr<const api::DeviceClass> DeviceState::FindClass(std::string_view name) const {
  return cluster_.objects().Of<api::DeviceClass>().Find(name);
}

void DeviceState::OnNodeChanged(cluster::NodeRow row, cluster::Facts facts) {
  constexpr cluster::Facts kRead = cluster::kLabelsFact | cluster::kFeaturesFact | cluster::kExistsFact;
  if ((facts & kRead) != 0) pools_.OnNodeChanged(row);
}

void DeviceState::AddTo(cluster::Digester& digest) const {
  digest.Add(devices_.slot_count());
  digest.Add(claims_.in_flight_count());
}

void DeviceState::OnSlice(const SliceRef& before, const SliceRef& after) {
  if (after) {
    pools_.Set(gates_.device_taint_rules && gates_.device_taints ? rules_.Patched(after) : after);
  } else {
    pools_.Remove(before->metadata.name);
  }
}

void DeviceState::OnRule(const TaintRules::Rule& before, const TaintRules::Rule& after) {
  rules_.Set((after ? after : before)->metadata.name, after);
  if (!gates_.device_taint_rules || !gates_.device_taints) return;
  cluster_.objects().Of<api::ResourceSlice>().ForEach([&](const SliceRef& slice) {
    const bool concerned =
        (before && TaintRules::Concerns(*before, *slice)) || (after && TaintRules::Concerns(*after, *slice));
    if (concerned) pools_.Set(rules_.Patched(slice));
  });
}

}  // namespace berth::dra
