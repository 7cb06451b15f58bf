#include "cli/bench_command_conditions.h"

#include <algorithm>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <string_view>
#include <thread>

#include "cli/bench_command_setup.h"

#include "bench/compare.h"

namespace berth::cli {
namespace {

// The value of the first line of a file in /proc that begins so.
std::string ProcLine(const char* file, std::string_view beginning) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(beginning)) continue;
    const std::size_t start = line.find_first_not_of(": \t", beginning.size());
    return start == std::string::npos ? std::string() : line.substr(start);
  }
  return "unknown";
}

// "24104960 kB" as /proc has it.
std::string InGibibytes(const std::string& text) {
  const double kibibytes = std::strtod(text.c_str(), nullptr);
  return kibibytes > 0 ? fmt::format("{:.1f} GiB", kibibytes / (1 << 20)) : text;
}

std::string Machine() {
  return fmt::format("{} processors, {}, {} of memory", std::thread::hardware_concurrency(),
                     ProcLine("/proc/cpuinfo", "model name"),
                     InGibibytes(ProcLine("/proc/meminfo", "MemTotal")));
}

std::string Limit(double rate) {
  return rate > 0 ? fmt::format("{:g} requests/s", rate) : std::string("unlimited");
}

std::string ServerText(const BenchOptions& options) {
  if (options.mode == "core") return "in the scheduler's process, not measured";
  if (!options.kubeconfig.empty()) return "the API server of " + options.kubeconfig;
  if (!options.control_plane.empty()) return options.control_plane + ", new for each run";
  std::string text = "berth sandbox as a process of its own, new for each run, ";
  text += options.plain_http ? "plain HTTP" : "TLS";
  if (!options.faults.empty()) text += fmt::format(", faults {}", fmt::join(options.faults, " "));
  return text;
}

std::string TimeText() { return fmt::format("{:%Y-%m-%d %H:%M UTC}", fmt::gmtime(std::time(nullptr))); }

}  // namespace

Conditions SurroundingsOf(const BenchOptions& options) {
  Conditions conditions = {{"date", TimeText()}, {"machine", Machine()}, {"server", ServerText(options)}};
  if (options.mode != "core") {
    conditions.emplace_back("schedulers", Limit(options.scheduler_requests_per_second) + " each");
  }
  conditions.emplace_back("workload", Limit(options.requests_per_second) +
                                          (options.precreate ? ", pods are there before the scheduler" : ""));
  conditions.emplace_back("seed", std::to_string(options.seed));
  return conditions;
}

std::string AboutScheduler(const bench::SchedulerChoice& choice) {
  std::string text = bench::SchedulerVersion(choice, IsInterrupted) + ", " + choice.command.front();
  if (!choice.config.empty()) text += " with " + choice.config.string();
  if (!choice.arguments.empty()) text += fmt::format(" {}", fmt::join(choice.arguments, " "));
  return text;
}

std::string ForeignText(std::span<const bench::WorkloadReport> runs) {
  std::vector<double> shares;
  for (const bench::WorkloadReport& run : runs) {
    if (run.foreign_share >= 0) shares.push_back(run.foreign_share * 100);
  }
  if (shares.empty()) return "unknown";
  const auto [least, most] = std::ranges::minmax(shares);
  return fmt::format("{:.0f} % of the machine (median of runs; {:.0f} to {:.0f})", bench::Median(shares),
                     least, most);
}

std::string CommandText(std::span<const std::string> arguments) {
  std::string text = "berth";
  for (const std::string& argument : arguments) {
    const bool is_plain =
        !argument.empty() && argument.find_first_of(" \t\n\"'\\$&|;<>()[]{}*?!#~`^") == std::string::npos;
    if (is_plain) {
      text += " " + argument;
      continue;
    }
    text += " '";
    for (const char c : argument) {
      if (c == '\'') {
        text += R"('\'')";
      } else {
        text += c;
      }
    }
    text += '\'';
  }
  return text;
}

}  // namespace berth::cli
