#include "bench/scheduler_launch.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/files.h"
#include "bench/field_reader.h"
#include "sandbox/document.h"
#include "wire/json_document.h"
#include "wire/yaml.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

constexpr const char* kConfigVersion = "kubescheduler.config.k8s.io/v1";
constexpr base::Duration kControlPlaneTimeout = std::chrono::minutes(2);
constexpr base::Duration kVersionTimeout = std::chrono::seconds(10);

base::Result<void> WriteText(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) return base::Fail("cannot write " + path.string());
  return {};
}

base::Result<json::object> ReadConfig(const std::filesystem::path& path) {
  const auto text = base::ReadFile(path.string());
  if (!text) return std::unexpected(text.error());
  const auto as_json = wire::YamlToJson(*text);
  if (!as_json) return base::Fail(path.string() + ": " + as_json.error().message);
  auto value = wire::ParseJson(*as_json);
  if (!value || !value->is_object()) return base::Fail(path.string() + ": not a configuration");
  return std::move(value->as_object());
}

// scheduler_perf has no kubelets and no other controllers than these.
std::vector<std::string> SandboxCommand(const ControlPlaneChoice& choice,
                                        const std::filesystem::path& kubeconfig, std::uint16_t plain_port) {
  std::vector<std::string> command = {choice.berth.string(), "sandbox",          "--no-scheduler",
                                      "--no-kubelet",        "--listen",         "127.0.0.1:0",
                                      "--kubeconfig-out",    kubeconfig.string()};
  for (const char* const name :
       {"deployment-controller", "replicaset-controller", "replicationcontroller-controller",
        "statefulset-controller", "job-controller", "disruption-controller", "node-lifecycle-controller",
        "persistentvolume-binder-controller", "ephemeral-volume-controller", "serviceaccount-controller"}) {
    command.emplace_back("--disable-controller");
    command.emplace_back(name);
  }
  if (plain_port != 0) {
    command.emplace_back("--insecure-port");
    command.push_back(std::to_string(plain_port));
  }
  for (const std::string& fault : choice.faults) {
    command.emplace_back("--fault");
    command.push_back(fault);
  }
  return command;
}

std::string PlainKubeconfig(std::uint16_t port) {
  return fmt::format(
      "apiVersion: v1\nkind: Config\ncurrent-context: sandbox\n"
      "clusters: [{{name: sandbox, cluster: {{server: \"http://127.0.0.1:{}\"}}}}]\n"
      "contexts: [{{name: sandbox, context: {{cluster: sandbox, user: nobody}}}}]\n"
      "users: [{{name: nobody, user: {{}}}}]\n",
      port);
}

}  // namespace

SchedulerChoice ChooseScheduler(const std::filesystem::path& path, bool is_bare) {
  const std::string name = path.filename().string();
  SchedulerChoice choice{.name = name, .command = {path.string()}};
  // Two builds to compare are told apart by name, berth and berth-before.
  if (name.starts_with("berth")) choice.command.emplace_back("scheduler");
  choice.is_bare = is_bare;
  return choice;
}

std::string SchedulerVersion(const SchedulerChoice& choice, const std::function<bool()>& is_interrupted) {
  constexpr const char* kUnknown = "version unknown";
  constexpr std::size_t kLongest = 100;
  if (choice.is_bare) return kUnknown;
  const auto folder = TemporaryFolder::Make();
  if (!folder) return kUnknown;
  auto process = ChildProcess::Start({.command = {choice.command.front(), "--version"},
                                      .environment = {},
                                      .log = folder->path() / "version"});
  if (!process) return kUnknown;
  const auto line = (*process)->AwaitLine("", kVersionTimeout, is_interrupted);
  // Something that does not know the flag may print anything.
  const bool is_version = line && line->size() <= kLongest && std::ranges::any_of(*line, [](char c) {
                            return std::isdigit(static_cast<unsigned char>(c)) != 0;
                          });
  return is_version ? *line : kUnknown;
}

std::string GatesText(const Gates& gates) {
  std::string text;
  for (const auto& [name, enabled] : gates) {
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", name, enabled);
  }
  return text;
}

base::Result<json::object> SchedulerConfig(const SchedulerChoice& choice,
                                           const std::filesystem::path& of_test_case,
                                           const SchedulerSurroundings& surroundings) {
  const std::filesystem::path& file = of_test_case.empty() ? choice.config : of_test_case;
  json::object config{{"apiVersion", kConfigVersion}, {"kind", "KubeSchedulerConfiguration"}};
  if (!file.empty()) {
    auto read = ReadConfig(file);
    if (!read && of_test_case.empty()) {
      return base::Fail(fmt::format("the configuration of {}: {}", choice.name, read.error().message));
    }
    if (!read) return FailIn("schedulerConfigPath", read.error().message);
    config = *std::move(read);
  }
  const double rate = surroundings.requests_per_second;
  json::object& connection = sandbox::ObjectAt(config, {"clientConnection"});
  connection["kubeconfig"] = surroundings.kubeconfig;
  connection["qps"] = rate > 0 ? rate : -1;
  connection["burst"] = rate > 0 ? static_cast<std::int64_t>(rate) : 0;
  sandbox::ObjectAt(config, {"leaderElection"})["leaderElect"] = false;
  return config;
}

std::vector<std::string> SchedulerCommand(const SchedulerChoice& choice, const std::filesystem::path& config,
                                          const Gates& gates, std::uint16_t port) {
  std::vector<std::string> command = choice.command;
  command.push_back("--config=" + config.string());
  if (!choice.is_bare) {
    command.emplace_back("--v=2");
    command.emplace_back("--bind-address=127.0.0.1");
    command.push_back(fmt::format("--secure-port={}", port));
    command.emplace_back("--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics");
    if (!gates.empty()) command.push_back("--feature-gates=" + GatesText(gates));
    // That gate is fixed from 1.37 on.
    if (const auto found = gates.find("NodeDeclaredFeatures"); found != gates.end() && !found->second) {
      command.emplace_back("--emulated-version=1.36");
    }
  }
  command.insert(command.end(), choice.arguments.begin(), choice.arguments.end());
  return command;
}

base::Result<RunningScheduler> LaunchScheduler(const SchedulerChoice& choice,
                                               const std::filesystem::path& config_of_test_case,
                                               const SchedulerSurroundings& surroundings) {
  const auto config = SchedulerConfig(choice, config_of_test_case, surroundings);
  if (!config) return std::unexpected(config.error());
  const std::filesystem::path file = surroundings.folder / "scheduler.yaml";
  if (auto written = WriteText(file, wire::WriteYaml(*config)); !written) {
    return std::unexpected(std::move(written.error()));
  }
  const auto port = FreePort();
  if (!port) return std::unexpected(port.error());
  auto process = ChildProcess::Start({.command = SchedulerCommand(choice, file, surroundings.gates, *port),
                                      .environment = {},
                                      .log = surroundings.folder / "scheduler.log"});
  if (!process) return std::unexpected(std::move(process.error()));
  return RunningScheduler{*std::move(process), choice.is_bare ? std::nullopt : std::optional(*port)};
}

base::Result<RunningControlPlane> LaunchControlPlane(const ControlPlaneChoice& choice, const Gates& gates,
                                                     const std::filesystem::path& folder,
                                                     const std::function<bool()>& is_interrupted) {
  ChildProcess::Options options{
      .command = {choice.program},
      .environment = {{"BERTH_BENCH_DIR", folder.string()}, {"BERTH_BENCH_GATES", GatesText(gates)}},
      .log = folder / "control-plane.log"};
  const bool is_sandbox = choice.program.empty();
  std::uint16_t plain_port = 0;
  if (is_sandbox) {
    const auto port = FreePort();
    if (!port) return std::unexpected(port.error());
    if (choice.plain_http) plain_port = *port;
    options.command = SandboxCommand(choice, folder / "sandbox.kubeconfig", plain_port);
  }
  auto process = ChildProcess::Start(options);
  if (!process) return std::unexpected(std::move(process.error()));
  const auto ready = (*process)->AwaitLine("ready ", kControlPlaneTimeout, is_interrupted);
  if (!ready) return base::Fail("the control plane " + ready.error().message);
  RunningControlPlane plane{.process = *std::move(process), .kubeconfig = {}, .scheduler_kubeconfig = {}};
  std::istringstream words(*ready);
  words >> plane.kubeconfig >> plane.scheduler_kubeconfig;
  if (plain_port != 0) {
    plane.kubeconfig = (folder / "plain.kubeconfig").string();
    if (auto written = WriteText(plane.kubeconfig, PlainKubeconfig(plain_port)); !written) {
      return std::unexpected(std::move(written.error()));
    }
  }
  if (plane.scheduler_kubeconfig.empty()) plane.scheduler_kubeconfig = plane.kubeconfig;
  return plane;
}

}  // namespace berth::bench
