#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace berth::cli {

// The flags of `berth bench run`.
struct BenchOptions {
  std::vector<std::string> configs;
  std::string label_filter = "performance";
  std::string name;  // a regular expression; empty: every workload
  std::string mode = "core";
  std::string out;  // a folder for JSON and CSV; empty: none are written
  double requests_per_second = 5000;
  std::uint64_t seed = 1;
  bool precreate = false;
  bool check_thresholds = false;
};

// Runs workload files and prints a table. 0: every workload that could run passed; 1: one failed; 2: there
// was nothing to run, or a flag or file is wrong.
int RunBench(const BenchOptions& options, std::ostream& out, std::ostream& progress);

}  // namespace berth::cli
