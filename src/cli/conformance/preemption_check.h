#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>

#include "cluster/cluster.h"
#include "framework/cycle.h"
#include "framework/fit_error.h"
#include "framework/profile.h"

namespace berth::cli {

// An attempt that found no node.
struct FailedAttempt {
  const cluster::Cluster& cluster;
  const framework::Profile& profile;
  framework::Cycle& cycle;
  const framework::Diagnosis& diagnosis;
};

// Runs the attempt's PostFilter and gives the first difference from the recorded one, in words. `want` is the
// case's `postFilter`, and `fit_error_message` the text that the pod's condition gets with it.
struct WantedPostFilter {
  const boost::json::object& answer;
  std::string fit_error_message;
  // Upstream's first plugin failed for a reason that is its defect: only what is found on the nodes counts.
  bool is_spoilt = false;
};
std::optional<std::string> CheckPostFilter(const FailedAttempt& attempt, const WantedPostFilter& want);

}  // namespace berth::cli
