#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>

#include "cluster/cluster.h"
#include "framework/decide.h"
#include "framework/profile.h"

namespace berth::cli {

// Reserves the pod on the first node that the case suggests, and compares which volume each of its claims
// got, or for which node one is to be made. The engine must have decided for the pod just before. The pod is
// unreserved afterwards.
std::optional<std::string> CheckReservedVolumes(const boost::json::object& expect, cluster::Cluster& cluster,
                                                const framework::Profile& profile, framework::Cycle& decided);

}  // namespace berth::cli
