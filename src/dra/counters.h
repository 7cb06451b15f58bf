#pragma once

#include <cstddef>
#include <vector>

#include "api/quantity.h"
#include "dra/device_table.h"
#include "dra/pool.h"

namespace berth::dra {

// What is left of the shared counters of a pool: of those that no claim uses, and less what a search has
// taken.
class CounterUse {
 public:
  CounterUse(const PoolView& pool, const DeviceTable& devices);

  const PoolView& pool() const { return *pool_; }
  // False: there is not enough, or the pool is over-committed, and nothing was taken. A counter that is used
  // beyond its value keeps every consumer of the pool away, even those of other sets.
  bool Take(const PoolDevice& device);
  void GiveBack(const PoolDevice& device);

  // Groups that share a counter set must agree. `taken`: consumers that the search has taken.
  bool GroupsAllow(const PoolDevice& device, const std::vector<const PoolDevice*>& taken,
                   const DeviceTable& devices) const;

 private:
  const PoolView* pool_;
  bool is_over_committed_ = false;
  std::vector<api::Quantity> left_;  // by counter
};

}  // namespace berth::dra
