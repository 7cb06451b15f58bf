#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/devices.h"
#include "api/resource_list.h"
#include "base/change_log.h"
#include "base/ids.h"
#include "base/interner.h"

namespace berth::dra {

using DeviceId = base::Id<struct DeviceTag>;
using PoolId = base::Id<struct PoolTag>;

// "driver/pool/device", as users read it. Drivers and devices contain no slash, so it is unambiguous.
std::string DeviceName(std::string_view driver, std::string_view pool, std::string_view device);

// What claims have of a device.
struct DeviceUse {
  std::int32_t dedicated = 0;  // claims that have it for themselves
  std::int32_t shares = 0;     // claims that have a part of it
  api::ResourceList consumed;  // by the shares

  bool IsShared() const { return shares > 0; }
  bool IsUsed() const { return dedicated > 0 || shares > 0; }
};

// Devices that some slice offers or some claim has, each as a small number, and how much of each is taken.
//
// 1. The use of a device is the sum over the allocations that were added and not taken away again.
// 2. A device lives as long as a slice (Intern, Release) or an allocation names it.
// 3. use_version(pool) grows whenever the use of a device of the pool changes.
class DeviceTable {
 public:
  // With one reference for the caller.
  DeviceId Intern(std::string_view driver, std::string_view pool, std::string_view device);
  void Release(DeviceId id);
  // Invalid: nobody names it.
  DeviceId Find(std::string_view driver, std::string_view pool, std::string_view device) const;

  // With the gate for capacity off a part of a device counts as all of it. Before the first allocation.
  void SetShares(bool enabled) { shares_enabled_ = enabled; }
  // Results with admin access take nothing.
  void Add(std::span<const api::DeviceRequestAllocationResult> results) { Count(results, 1); }
  void Subtract(std::span<const api::DeviceRequestAllocationResult> results) { Count(results, -1); }

  const DeviceUse& use(DeviceId id) const { return uses_[id.index()]; }
  PoolId pool(DeviceId id) const { return pool_of_[id.index()]; }
  std::uint64_t use_version(PoolId pool) const { return pool_versions_[pool.index()]; }
  // The pools of which the use of a device changed.
  const base::ChangeLog<PoolId>& use_log() const { return use_log_; }
  // Ids are below this.
  std::size_t slot_count() const { return names_.slot_count(); }
  bool empty() const { return names_.empty(); }

 private:
  static constexpr std::size_t kUseLogCapacity = 1 << 13;

  void Count(std::span<const api::DeviceRequestAllocationResult> results, int sign);

  bool shares_enabled_ = true;
  base::Interner<DeviceId> names_;
  base::Interner<PoolId> pools_;
  std::vector<DeviceUse> uses_;               // by DeviceId
  std::vector<PoolId> pool_of_;               // by DeviceId
  std::vector<std::uint64_t> pool_versions_;  // by PoolId
  base::ChangeLog<PoolId> use_log_{kUseLogCapacity};
};

}  // namespace berth::dra
