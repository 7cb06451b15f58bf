#include "server/component_metrics.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

namespace berth::server {
namespace {

base::MetricOptions ProcessMetric(std::string name, std::string help) {
  base::MetricOptions options;
  options.name = std::move(name);
  options.help = std::move(help);
  options.stability = std::nullopt;
  return options;
}

// Virtual and resident memory in bytes; zeros where there is no /proc.
std::pair<double, double> MemoryBytes() {
  std::ifstream file("/proc/self/statm");
  double virtual_pages = 0;
  double resident_pages = 0;
  file >> virtual_pages >> resident_pages;
  const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  return {virtual_pages * page, resident_pages * page};
}

double CpuSeconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double OpenFiles() {
  std::error_code error;
  double count = 0;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; !error && it != end;
       it.increment(error)) {
    ++count;
  }
  return count;
}

double OpenFilesMax() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<double>(limit.rlim_cur);
}

double UnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

void AddProcessMetrics(base::MetricRegistry& registry) {
  base::Counter& cpu = registry.AddCounter(
      ProcessMetric("process_cpu_seconds_total", "Total user and system CPU time spent in seconds."));
  base::Gauge& resident =
      registry.AddGauge(ProcessMetric("process_resident_memory_bytes", "Resident memory size in bytes."));
  base::Gauge& virtual_memory =
      registry.AddGauge(ProcessMetric("process_virtual_memory_bytes", "Virtual memory size in bytes."));
  base::Gauge& files =
      registry.AddGauge(ProcessMetric("process_open_fds", "Number of open file descriptors."));
  base::Gauge& files_max =
      registry.AddGauge(ProcessMetric("process_max_fds", "Maximum number of open file descriptors."));
  base::Gauge& start = registry.AddGauge(
      ProcessMetric("process_start_time_seconds", "Start time of the process since unix epoch in seconds."));
  start.Set(UnixSeconds());
  registry.OnCollect([&, counted = 0.0]() mutable {
    const double seconds = CpuSeconds();
    cpu.Add(seconds - std::exchange(counted, seconds));
    const auto [all, present] = MemoryBytes();
    virtual_memory.Set(all);
    resident.Set(present);
    files.Set(OpenFiles());
    files_max.Set(OpenFilesMax());
  });
}

}  // namespace

void AddComponentMetrics(base::MetricRegistry& registry, std::span<const GateState> gates,
                         const BuildFacts& build) {
  base::GaugeFamily& enabled = registry.AddGauges(
      {.name = "kubernetes_feature_enabled",
       .help = "This metric records the data about the stage and enablement of a k8s feature.",
       .stability = base::Stability::kBeta,
       .labels = {"name", "stage"}});
  for (const GateState& gate : gates) enabled.With({gate.name, gate.stage})->Set(gate.enabled ? 1 : 0);

  base::GaugeFamily& info =
      registry.AddGauges({.name = "kubernetes_build_info",
                          .help = "A metric with a constant '1' value labeled by major, minor, git version, "
                                  "git commit, git tree state, "
                                  "build date, Go version, and compiler from which Kubernetes was built, and "
                                  "platform on which it is "
                                  "running.",
                          .stability = base::Stability::kAlpha,
                          .labels = {"build_date", "compiler", "git_commit", "git_tree_state", "git_version",
                                     "go_version", "major", "minor", "platform"}});
  info.With({"", "gcc", "", "", build.git_version, "", "1", "37", "linux/amd64"})->Set(1);

  base::GaugeFamily& version = registry.AddGauges(
      {.name = "version_info",
       .help = "Provides the compatibility version info of the component. The component label is "
               "the name of the component, usually kube, but is relevant for aggregated-apiservers.",
       .stability = base::Stability::kAlpha,
       .labels = {"binary", "component", "emulation", "min_compat"}});
  version.With({"1.37", "kube", build.emulation, build.min_compatibility})->Set(1);
  AddProcessMetrics(registry);
}

void AddElectionMetric(base::MetricRegistry& registry, std::function<bool()> is_leader) {
  base::GaugeFamily& family = registry.AddGauges(
      {.name = "leader_election_master_status",
       .help = "Gauge of if the reporting system is master of the relevant lease, 0 indicates backup, 1 "
               "indicates "
               "master. 'name' is the string used to identify the lease. Please make sure to group by name.",
       .stability = base::Stability::kAlpha,
       .labels = {"name"}});
  registry.OnCollect([series = family.With({"kube-scheduler"}), is_leader = std::move(is_leader)] {
    series->Set(is_leader() ? 1 : 0);
  });
}

}  // namespace berth::server
