#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "framework/features.h"
#include "framework/profile.h"
#include "framework/registry.h"

namespace berth::cli {

// The profile that a case asks for: kube-scheduler's gates and defaults, with what the case's configuration
// and gates change.
struct CaseProfile {
  framework::Features features;
  framework::ProfileConfig config;
  // Plugins that it should have and the registry does not know.
  std::vector<std::string> missing;
};

CaseProfile ReadCaseProfile(const boost::json::object& test_case, std::string_view scheduler_name,
                            const framework::Registry& registry);

}  // namespace berth::cli
