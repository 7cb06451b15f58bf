#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>

namespace berth::cli {

// The flags of `berth simulate`.
struct SimulateOptions {
  std::uint64_t seeds = 100;                  // from 1 on
  std::optional<std::uint64_t> seed = {};     // this one alone
  std::optional<std::uint64_t> minutes = {};  // as many seeds as fit into this time, instead
  int actions = 120;
  bool worlds = true;  // volumes and devices too
  bool story = false;  // with `seed`: what happened, line by line
};

// Runs simulations and says which failed, each with the command that runs it again. 1 if any did.
int RunSimulate(const SimulateOptions& options, std::ostream& out);

}  // namespace berth::cli
