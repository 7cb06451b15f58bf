#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>

#include "cluster/cluster.h"
#include "framework/decide.h"
#include "framework/profile.h"

namespace berth::cli {

// What a case is run on.
struct CaseRun {
  cluster::Cluster& cluster;
  const framework::Profile& profile;
  framework::Engine& engine;
  framework::Cycle::Subject subject;
};

// Reserves the pod on the first node that the case suggests, and compares what its claims got. The pod is
// unreserved afterwards.
std::optional<std::string> CheckReservedClaims(const boost::json::object& expect, const CaseRun& run);

}  // namespace berth::cli
