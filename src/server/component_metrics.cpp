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

double VirtualMemoryMax() {
  rlimit limit{};
  ::getrlimit(RLIMIT_AS, &limit);
  return static_cast<double>(limit.rlim_cur);
}

// Received and sent by the machine, or the pod, in bytes.
std::pair<double, double> NetworkBytes() {
  std::ifstream file("/proc/self/net/netstat");
  std::string names;
  std::string values;
  while (std::getline(file, names) && std::getline(file, values)) {
    if (!names.starts_with("IpExt:")) continue;
    std::istringstream name_words(names);
    std::istringstream value_words(values);
    std::pair<double, double> bytes;
    for (std::string name, value; name_words >> name && value_words >> value;) {
      if (name == "InOctets") bytes.first = std::stod(value);
      if (name == "OutOctets") bytes.second = std::stod(value);
    }
    return bytes;
  }
  return {};
}

double UnixSeconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Set at every exposition, because a registry may be reset.
void AddStartTime(base::MetricRegistry& registry, std::optional<base::Stability> stability) {
  base::Gauge& start = registry.AddGauge({.name = "process_start_time_seconds",
                                          .help = "Start time of the process since unix epoch in seconds.",
                                          .stability = stability});
  registry.OnCollect([&start, began = UnixSeconds()] { start.Set(began); });
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
  AddStartTime(registry, std::nullopt);
  base::Gauge& virtual_max = registry.AddGauge(ProcessMetric(
      "process_virtual_memory_max_bytes", "Maximum amount of virtual memory available in bytes."));
  base::Counter& received = registry.AddCounter(ProcessMetric(
      "process_network_receive_bytes_total", "Number of bytes received by the process over the network."));
  base::Counter& sent = registry.AddCounter(ProcessMetric(
      "process_network_transmit_bytes_total", "Number of bytes sent by the process over the network."));
  registry.OnCollect([&, counted = 0.0, network = std::pair<double, double>()]() mutable {
    const auto now = NetworkBytes();
    const auto before = std::exchange(network, now);
    received.Add(now.first - before.first);
    sent.Add(now.second - before.second);
    const double seconds = CpuSeconds();
    cpu.Add(seconds - std::exchange(counted, seconds));
    const auto [all, present] = MemoryBytes();
    virtual_memory.Set(all);
    resident.Set(present);
    files.Set(OpenFiles());
    files_max.Set(OpenFilesMax());
    virtual_max.Set(VirtualMemoryMax());
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
                          .stability = base::Stability::kBeta,
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
  registry
      .AddCounter({.name = "disabled_metrics_total",
                   .help = "Number of metrics that flags hide.",
                   .stability = base::Stability::kBeta})
      .Add(static_cast<double>(build.disabled_metrics));
  registry
      .AddCounter({.name = "hidden_metrics_total",
                   .help = "Number of metrics that are hidden because they are deprecated.",
                   .stability = base::Stability::kBeta})
      .Add(static_cast<double>(build.hidden_metrics));
  AddProcessMetrics(registry);
}

void AddIndicatorMetrics(base::MetricRegistry& registry) { AddStartTime(registry, base::Stability::kAlpha); }

void AddElectionMetrics(base::MetricRegistry& registry, ElectionFacts facts) {
  base::GaugeFamily& leads = registry.AddGauges(
      {.name = "leader_election_master_status",
       .help = "Whether this process holds the lease of that name: 1 if it does, 0 if it waits for it.",
       .stability = base::Stability::kAlpha,
       .labels = {"name"}});
  base::CounterFamily& slow = registry.AddCounters(
      {.name = "leader_election_slowpath_total",
       .help =
           "Number of times that the lease could not be renewed by what was known of it, and was read first.",
       .stability = base::Stability::kAlpha,
       .labels = {"name"}});
  registry.OnCollect([&slow, series = leads.With({"kube-scheduler"}), facts = std::move(facts),
                      counted = std::uint64_t{0}]() mutable {
    series->Set(facts.is_leader() ? 1 : 0);
    // Like every counter of many: not there before the first time.
    const std::uint64_t count = facts.slow_path_count();
    if (count > counted) {
      slow.With({"kube-scheduler"})->Add(static_cast<double>(count - std::exchange(counted, count)));
    }
  });
}

ReloadMetrics AddReloadMetrics(base::MetricRegistry& registry) {
  return {
      .reloads = registry.AddCounters({.name = "berth_config_reloads_total",
                                       .help = "Number of times that the configuration file was read again, "
                                               "by result: applied, unchanged or refused.",
                                       .labels = {"result"}}),
      .succeeded =
          registry.AddGauge({.name = "berth_config_last_reload_successful",
                             .help = "Whether the configuration file is in force as it was last read."}),
      .succeeded_at = registry.AddGauge({.name = "berth_config_last_reload_success_timestamp_seconds",
                                         .help = "When a configuration file was last put in force."})};
}

}  // namespace berth::server
