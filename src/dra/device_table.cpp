#include "dra/device_table.h"

#include "base/check.h"

namespace berth::dra {

std::string DeviceName(std::string_view driver, std::string_view pool, std::string_view device) {
  std::string name;
  name.reserve(driver.size() + pool.size() + device.size() + 2);
  name.append(driver).append("/").append(pool).append("/").append(device);
  return name;
}

DeviceId DeviceTable::Intern(std::string_view driver, std::string_view pool, std::string_view device) {
  const std::string name = DeviceName(driver, pool, device);
  const DeviceId id = names_.Intern(name);
  if (names_.References(id) > 1) return id;
  if (id.index() >= uses_.size()) {
    uses_.resize(id.index() + 1);
    pool_of_.resize(id.index() + 1);
  }
  const PoolId pool_id = pools_.Intern(std::string_view(name).substr(0, driver.size() + 1 + pool.size()));
  if (pool_id.index() >= pool_versions_.size()) pool_versions_.resize(pool_id.index() + 1);
  pool_of_[id.index()] = pool_id;
  return id;
}

void DeviceTable::Release(DeviceId id) {
  const PoolId pool_id = pool_of_[id.index()];
  if (!names_.Release(id)) return;
  BERTH_DCHECK(!uses_[id.index()].IsUsed());
  uses_[id.index()] = {};
  pools_.Release(pool_id);
}

DeviceId DeviceTable::Find(std::string_view driver, std::string_view pool, std::string_view device) const {
  return names_.Find(DeviceName(driver, pool, device));
}

void DeviceTable::Count(std::span<const api::DeviceRequestAllocationResult> results, int sign) {
  for (const api::DeviceRequestAllocationResult& result : results) {
    if (result.admin_access.value_or(false)) continue;
    // An allocation holds a reference of its own; to subtract, that one and the one taken here are given
    // back.
    const DeviceId id = Intern(result.driver, result.pool, result.device);
    DeviceUse& use = uses_[id.index()];
    if (shares_enabled_ && result.share_id) {
      use.shares += sign;
      for (const auto& [name, amount] : result.consumed_capacity) {
        api::Quantity& sum = use.consumed[name];
        if (sign > 0) {
          sum.Add(amount);
        } else {
          sum.Sub(amount);
        }
      }
      if (use.shares == 0) use.consumed.clear();
    } else {
      use.dedicated += sign;
    }
    BERTH_DCHECK(use.dedicated >= 0 && use.shares >= 0);
    ++pool_versions_[pool_of_[id.index()].index()];
    use_log_.Append(pool_of_[id.index()], 0);
    if (sign < 0) {
      Release(id);
      Release(id);
    }
  }
}

}  // namespace berth::dra
