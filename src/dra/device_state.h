#pragma once

#include <string_view>

#include "cluster/cluster.h"
#include "cluster/extension.h"
#include "cluster/object_store.h"
#include "dra/claim_cache.h"
#include "dra/device_table.h"
#include "dra/extended_names.h"
#include "dra/gates.h"
#include "dra/pool_index.h"
#include "dra/selectors.h"
#include "dra/taint_rules.h"

namespace berth::dra {

// Everything about devices that outlives an attempt, for the plugins of all profiles: which devices there
// are, on which nodes, who has them, and what is being decided.
//
//   dra::DeviceState& state = cluster.UseExtension<dra::DeviceState>();
//
// It follows claims, slices, classes and taint rules by itself. Devices follow claims and not pods, so a
// speculation about pods leaves it as it is.
class DeviceState final : public cluster::Extension {
 public:
  explicit DeviceState(cluster::Cluster& cluster);

  // The gates are those of the process; all plugins set the same.
  void SetGates(const Gates& gates);
  const Gates& gates() const { return gates_; }

  const cluster::Cluster& cluster() const { return cluster_; }
  ClaimCache& claims() { return claims_; }
  const ClaimCache& claims() const { return claims_; }
  PoolIndex& pools() { return pools_; }
  DeviceTable& devices() { return devices_; }
  const DeviceTable& devices() const { return devices_; }
  SelectorTable& selectors() { return selectors_; }
  const ExtendedNames& extended_names() const { return extended_names_; }
  // Grows with every change of the use of devices in these pools.
  std::uint64_t UseVersion(const NodePools& pools) const;
  // What a reader of the nodes' devices is up to date with.
  struct Version {
    std::uint64_t uses = 0;
    std::uint64_t rows = 0;
    std::uint64_t shared = 0;

    bool operator==(const Version&) const = default;
  };
  Version version() const {
    return {devices_.use_log().version(), pools_.row_log().version(), pools_.shared_version()};
  }
  // Calls visit(row) for the rows whose pools, or the use of the devices in them, may be others now. False:
  // those of all rows may be.
  template <class F>
  bool RowsSince(const Version& version, F&& visit) const {
    if (version.shared != pools_.shared_version()) return false;
    bool are_all_told = true;
    const bool covers_uses = devices_.use_log().Since(version.uses, [&](PoolId pool, std::uint32_t) {
      are_all_told = are_all_told && pools_.ForEachRowWith(pool, visit);
    });
    const bool covers_rows =
        pools_.row_log().Since(version.rows, [&](cluster::NodeRow row, std::uint32_t) { visit(row); });
    return covers_uses && covers_rows && are_all_told;
  }
  // Null: there is none.
  std::shared_ptr<const api::DeviceClass> FindClass(std::string_view name) const;

  void OnPodPlaced(cluster::PodSlot, cluster::NodeRow) override {}
  void OnPodDisplaced(cluster::PodSlot, cluster::NodeRow) override {}
  void OnNodeChanged(cluster::NodeRow row, cluster::Facts facts) override;
  void AddTo(cluster::Digester& digest) const override;

 private:
  void OnSlice(const SliceRef& before, const SliceRef& after);
  void OnRule(const TaintRules::Rule& before, const TaintRules::Rule& after);

  cluster::Cluster& cluster_;
  Gates gates_;
  DeviceTable devices_;
  SelectorTable selectors_;
  TaintRules rules_;
  ExtendedNames extended_names_;
  PoolIndex pools_;
  ClaimCache claims_;
};

}  // namespace berth::dra
