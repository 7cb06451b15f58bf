#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "server/health.h"

namespace berth::server {

using FlagValues = std::vector<std::pair<std::string, std::string>>;

struct StatusFacts {
  std::string component = "kube-scheduler";
  base::WallPoint started;
  base::WallPoint now;
  std::string compiler;           // where kube-scheduler names its Go version
  std::string binary_version;     // "1.37.1"
  std::string emulation_version;  // "1.37"
  std::vector<std::string> paths;
};

// `accept` is the request's header, empty if there was none: plain text for people, or an object for programs
// that name its version exactly. Anything else is 406.
Answer FlagzPage(std::string_view accept, const std::string& component, const FlagValues& flags);
Answer StatuszPage(std::string_view accept, const StatusFacts& facts);

// Programs that ask for the old version are told so with this header; empty for others.
std::string DeprecationWarning(std::string_view accept, std::string_view page);

}  // namespace berth::server
