#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace berth::sandbox {

// How the sandbox is to misbehave, from `--fault KEY=VALUE` (docs/sandbox.md has the keys).
struct FaultPlan {
  struct Latency {
    base::Duration min = base::Duration(0);
    base::Duration max = base::Duration(0);
  };
  struct Failure {
    int code = 500;
    double rate = 0;
  };

  std::uint64_t seed = 1;
  // By verb ("get", "list", "watch", "create", "bind", "update", "patch", "delete"); "" stands for all
  // others.
  std::map<std::string, Latency, std::less<>> latency = {};
  std::map<std::string, Failure, std::less<>> failures = {};
  std::optional<base::Duration> watch_drop = {};  // how long a watch lives on average
  std::optional<base::Duration> watch_cut = {};   // and how long its connection
  double watch_stall = 0;                         // the share of watches that fall silent without an end
  std::optional<base::Duration> compact = {};     // how often the history is forgotten
  double conflict = 0;                            // the share of updates and patches that come too late

  bool empty() const {
    return latency.empty() && failures.empty() && !watch_drop && !watch_cut && watch_stall == 0 && !compact &&
           conflict == 0;
  }
};

// Refuses keys, verbs and values that mean nothing, with the text that is wrong.
base::Result<FaultPlan> ParseFaults(std::span<const std::string> settings);

}  // namespace berth::sandbox
