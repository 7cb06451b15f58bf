#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace berth::cli {

// Which workloads run, and how. The flags that `berth bench run` and `berth bench versus` share.
struct BenchOptions {
  std::vector<std::string> configs;
  std::string label_filter = "performance";
  std::string name;           // a regular expression; empty: every workload
  std::string mode = "core";  // of `run`; `versus` always has processes
  std::string out;            // a folder for the results; empty: none are written
  std::string logs;           // a folder for what the processes print; empty: it is not kept
  double requests_per_second = 5000;
  double scheduler_requests_per_second = 5000;
  std::uint64_t seed = 1;
  bool precreate = false;
  bool check_thresholds = false;
  bool lists_only = false;   // of `run`: what there is to run
  std::size_t rounds = 1;    // how often each workload runs
  std::string html;          // a file for a page with charts; empty: none
  bool is_terminal = false;  // somebody watches: one line that moves

  // The scheduler; empty: this program.
  std::string scheduler;
  std::string scheduler_config;
  std::vector<std::string> scheduler_arguments;
  bool is_scheduler_bare = false;

  // The server; all empty: a sandbox of this program.
  std::string control_plane;
  std::string kubeconfig;
  std::string scheduler_kubeconfig;
  std::vector<std::string> faults;
  bool plain_http = false;

  std::string command;  // what was typed, for reports
};

// The flags of `berth bench versus` on top.
struct VersusCommandOptions {
  BenchOptions bench;
  std::string peer;
  std::string peer_config;
  std::vector<std::string> peer_arguments;
  bool is_peer_bare = false;
  std::size_t warm_ups = 0;
  std::string markdown;  // a file for the table; empty: none
  bool wide = false;     // prints every quantity
};

// The flags of `berth bench compare`.
struct CompareCommandOptions {
  std::string first;
  std::string second;
  // Files; empty: none.
  std::string csv;
  std::string html;
  std::string markdown;
  bool wide = false;    // prints every quantity
  std::string command;  // what was typed, for reports
};

// Runs workload files and prints a table. 0: every workload that could run passed; 1: one failed; 2: there
// was nothing to run, or a flag or file is wrong.
int RunBench(const BenchOptions& options, std::ostream& out, std::ostream& progress);

// Runs workloads with two schedulers in turn and prints both sides and their ratios. Exit codes as above.
int RunBenchVersus(const VersusCommandOptions& options, std::ostream& out, std::ostream& progress);

// Prints both sides and their ratios of two files with results. 0, or 2 if a file is wrong or nothing can be
// compared.
int RunBenchCompare(const CompareCommandOptions& options, std::ostream& out, std::ostream& errors);

}  // namespace berth::cli
