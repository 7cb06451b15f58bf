#pragma once

#include <iosfwd>
#include <string>
#include <vector>

namespace berth::cli {

struct ConfigCommandOptions {
  std::vector<std::string> feature_gates = {};
};

// `berth config check FILE`: every mistake with its line; 0 if there is none, else 1.
int CheckConfig(const std::string& file, const ConfigCommandOptions& options, std::ostream& out,
                std::ostream& errors);
// `berth config expand FILE`: what a scheduler runs with it.
int ExpandConfig(const std::string& file, const ConfigCommandOptions& options, std::ostream& out,
                 std::ostream& errors);
// `berth config diff A B`: 0 if both mean the same, 1 if not, 2 if one of them is wrong.
int DiffConfigs(const std::string& a, const std::string& b, const ConfigCommandOptions& options,
                std::ostream& out, std::ostream& errors);

}  // namespace berth::cli
