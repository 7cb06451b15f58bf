#pragma once

// house: heavy-include: values are members here, and the precompiled header of this room has it
#include <boost/json.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "dra/device_state.h"
#include "framework/features.h"

namespace berth::bench {

// Gives claims devices without a scheduler, as scheduler_perf does to fill a cluster: one claim after the
// other, each on the first node that can serve it, in an order that is drawn anew every time.
class ClaimAllocation {
 public:
  // With the feature gates of the workload: slices that need one that is off do not count.
  ClaimAllocation(const framework::Features& features, std::uint64_t seed);

  // An object as the server has it; kinds that do not matter are ignored.
  base::Result<void> Add(std::string_view kind, const boost::json::object& document);
  // The claim's document with its allocation. Empty: it has one already. Fails if no node can serve it.
  base::Result<boost::json::object> Allocate(const std::string& namespace_name, const std::string& name);

 private:
  base::Random random_;
  cluster::Cluster cluster_;
  dra::DeviceState& state_;
  std::vector<std::string> nodes_;
};

}  // namespace berth::bench
