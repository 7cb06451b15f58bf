#include "cli/scheduler_command.h"

#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <fstream>
#include <ostream>
#include <utility>
#include <vector>

#include "cli/config_follower.h"
#include "cli/scheduler_options.h"
#include "cli/scheduler_settings.h"
#include "cli/version.h"

#include "base/errno_text.h"
#include "base/files.h"
#include "base/log.h"
#include "base/log_batch.h"
#include "config/gate_table.h"
#include "config/reload.h"
#include "config/write.h"
#include "net/event_loop.h"
#include "server/component_metrics.h"
#include "server/dump.h"
#include "server/operations_server.h"
#include "server/pod_resources.h"
#include "server/trace_exporter.h"
#include "shell/scheduler_process.h"

namespace berth::cli {
namespace {

// How much later than its lease a leader may be before it counts as stuck.
constexpr base::Duration kLeaseTolerance = std::chrono::seconds(20);
// How often the configuration file is looked at.
constexpr base::Duration kConfigCheck = std::chrono::seconds(1);

// Null if there is no kubeconfig for it and the process runs outside of a cluster: then nobody is asked.
base::Result<std::unique_ptr<server::ApiReviewer>> ReviewerOf(client::LoopExecutor& executor,
                                                              const std::string& kubeconfig,
                                                              std::string user_agent) {
  if (auto found = CheckKubeconfig(kubeconfig); !found) return std::unexpected(found.error());
  auto connection = kubeconfig.empty()
                        ? client::InClusterConfig(client::Surroundings::OfThisProcess())
                        : client::LoadConnectionConfig(kubeconfig, "", client::Surroundings::OfThisProcess());
  if (!connection && kubeconfig.empty()) return nullptr;
  if (!connection) return std::unexpected(std::move(connection.error()));
  return server::ApiReviewer::Make(executor, *std::move(connection), std::move(user_agent));
}

std::string_view StageText(config::Stage stage) {
  switch (stage) {
    case config::Stage::kAlpha:
      return "ALPHA";
    case config::Stage::kBeta:
      return "BETA";
    case config::Stage::kDeprecated:
      return "DEPRECATED";
    case config::Stage::kStable:
      return "";
  }
  return "";
}

std::string ConfigzText(const config::Configuration& configuration) {
  return boost::json::serialize(
      boost::json::object{{"componentconfig", config::ToDocument(config::WithoutSecrets(configuration))}});
}

// The scheduler with its port, from start to end.
class RunningScheduler {
 public:
  RunningScheduler(const SchedulerSettings& settings, std::string_view program)
      : settings_(settings),
        program_(program),
        started_(base::RealClock().WallNow()),
        review_executor_(loop_),
        config_timer_(loop_),
        log_timer_(loop_) {}

  base::Result<void> Prepare() {
    auto options = ProcessOptionsOf(settings_, program_);
    if (!options) return std::unexpected(std::move(options.error()));
    elects_ = options->leader_election.has_value();
    options->on_traces = [this](std::vector<cycle::AttemptTrace> traces) {
      if (traces_ != nullptr) traces_->Add(std::move(traces));
    };
    auto process = shell::SchedulerProcess::Make(loop_, *std::move(options));
    if (!process) return std::unexpected(std::move(process.error()));
    process_ = *std::move(process);
    AddChecks();
    AddMetrics();
    FollowConfiguration();
    if (auto traced = Trace(); !traced) return traced;
    if (settings_.flags.secure_port != 0) {
      if (auto listening = Listen(); !listening) return listening;
    }
    // Last: it counts for what is there.
    server::ApplyWishes(process_->metrics(), settings_.metrics);
    return {};
  }

  int Run() {
    BERTH_LOG(0, "Starting Kubernetes Scheduler", {"version", KubernetesVersion()}, {"berth", Version()});
    process_->OnLeaseLost([this] {
      BERTH_LOG_ERROR(nullptr, "Leaderelection lost");
      exit_code_ = 1;
      loop_.Stop();
    });
    constexpr std::array kSignals = {SIGTERM, SIGINT, SIGUSR2, SIGHUP};
    loop_.OnSignals(kSignals, [this](int signal) {
      if (signal == SIGUSR2) return Dump();
      if (signal == SIGHUP) return Reload();
      Terminate();
    });
    process_->Start();
    if (follower_) WatchConfiguration();
    if (settings_.split_log) FlushLog();
    // One line and more for each pod would be as many system calls.
    base::LogBatch log;
    loop_.OnRest([&log](net::EventLoop::Rest rest) {
      if (rest == net::EventLoop::Rest::kWait) {
        log.Flush();
      } else {
        log.FlushOld();
      }
    });
    loop_.Run();
    return exit_code_;
  }

 private:
  // SIGUSR2: what the scheduler holds, into the log.
  void Dump() const {
    const core::Scheduler& scheduler = process_->scheduler();
    const cluster::Cluster& cluster = scheduler.cluster();
    if (const std::string differences = server::CompareCache(cluster); !differences.empty()) {
      BERTH_LOG(0, "Cache mismatch", {"differences", differences});
    }
    BERTH_LOG(0, "Dump of cached NodeInfo", {"nodes", server::DumpNodes(cluster)});
    BERTH_LOG(0, "Dump of scheduling queue", {"summary", scheduler.queue().Summary()},
              {"pods", server::DumpQueue(cluster, scheduler.queue())});
  }

  // SIGHUP.
  void Reload() {
    if (follower_) return follower_->Reload();
    BERTH_LOG(0, "There is no configuration file to read again");
  }

  void FollowConfiguration() {
    const std::string& file = settings_.flags.config;
    if (file.empty()) return;
    follower_.emplace(
        file, settings_.loaded,
        ConfigFollower::Hooks{.read = [&file] { return base::ReadFile(file); },
                              .load = [this] { return LoadConfiguration(settings_); },
                              .apply =
                                  [this](const LoadedConfiguration& loaded) {
                                    return process_->Reconfigure(CoreOptionsOf(settings_, loaded), [] {
                                      BERTH_LOG(0, "The scheduler runs with the new configuration");
                                    });
                                  }},
        process_->metrics(), clock_);
  }

  void WatchConfiguration() {
    config_timer_.StartAfter(kConfigCheck, [this] {
      follower_->Look();
      WatchConfiguration();
    });
  }

  void FlushLog() {
    log_timer_.StartAfter(settings_.flags.log_flush_frequency, [this] {
      settings_.split_log->Flush();
      FlushLog();
    });
  }

  base::Result<void> Trace() {
    if (!settings_.tracing || settings_.tracing->sampling_rate_per_million == 0) return {};
    server::TraceExporterOptions options;
    options.endpoint = settings_.tracing->endpoint;
    options.resource = {.version = std::string(Version()), .instance = Hostname()};
    options.seed = Entropy();
    auto exporter = server::TraceExporter::Make(loop_, std::move(options), process_->metrics());
    if (!exporter) return std::unexpected(std::move(exporter.error()));
    traces_ = *std::move(exporter);
    return {};
  }

  const config::Configuration& configuration() const {
    return (follower_ ? follower_->running() : settings_.loaded).compiled.configuration;
  }

  void Terminate() {
    if (std::exchange(is_stopping_, true)) {
      base::FlushLogAtOnce();
      std::_Exit(1);
    }
    if (elects_) {
      BERTH_LOG(0, "Requested to terminate, exiting");
    } else {
      BERTH_LOG_ERROR(base::Error{"finished without leader elect"}, "command failed");
      exit_code_ = 1;
    }
    process_->Stop([this] {
      if (server_ == nullptr) return loop_.Stop();
      server_->Drain([this] { loop_.Stop(); });
    });
  }

  void AddChecks() {
    const auto pass = []() -> std::optional<std::string> { return std::nullopt; };
    const auto lease = [this]() -> std::optional<std::string> {
      if (!process_->IsLeaseOverdue(kLeaseTolerance)) return std::nullopt;
      return "failed election to renew leadership on lease " +
             settings_.loaded.compiled.configuration.leader_election.resource_name;
    };
    if (elects_) {
      health_.Add("healthz", "leaderElection", lease);
      health_.Add("readyz", "leaderElection", lease);
    } else {
      health_.Add("healthz", "ping", pass);
    }
    health_.Add("livez", "ping", pass);
    health_.Add("readyz", "shutdown", [this]() -> std::optional<std::string> {
      if (!is_stopping_) return std::nullopt;
      return "process is shutting down";
    });
    health_.Add("readyz", "sched-handler-sync", [this]() -> std::optional<std::string> {
      if (process_->has_synced()) return std::nullopt;
      return "handlers are not fully synchronized";
    });
  }

  void AddMetrics() {
    base::MetricRegistry& registry = process_->metrics();
    std::vector<server::GateState> gates;
    for (const config::Gate& gate : config::KnownGates()) {
      gates.push_back({gate.name, StageText(gate.stage), settings_.gates.IsEnabled(gate.name)});
    }
    gates.push_back({"AllAlpha", "ALPHA", settings_.gates.IsEnabled("AllAlpha")});
    gates.push_back({"AllBeta", "BETA", settings_.gates.IsEnabled("AllBeta")});
    const config::Versions& versions = settings_.gates.versions();
    server::AddComponentMetrics(registry, gates,
                                {.git_version = std::string(KubernetesVersion()),
                                 .emulation = versions.emulation.ToString(),
                                 .min_compatibility = versions.min_compatibility.ToString(),
                                 .disabled_metrics = settings_.metrics.disabled.size(),
                                 .hidden_metrics = settings_.metrics.show_hidden ? 0u : 1u});
    server::AddIndicatorMetrics(health_.metrics());
    if (elects_) {
      server::AddElectionMetrics(registry,
                                 {.is_leader = [this] { return process_->is_leader(); },
                                  .slow_path_count = [this] { return process_->lease_slow_path_count(); }});
    }
  }

  base::Result<void> Listen() {
    const config::SchedulerFlags& flags = settings_.flags;
    auto authentication =
        ReviewerOf(review_executor_, flags.authentication_kubeconfig, UserAgent(program_, "authentication"));
    if (!authentication) {
      // The repetition is kube-scheduler's.
      constexpr std::string_view kWhat = "failed to get delegated authentication kubeconfig: ";
      return base::Fail(fmt::format("{0}{0}{1}", kWhat, authentication.error().message));
    }
    auto authorization =
        ReviewerOf(review_executor_, flags.authorization_kubeconfig, UserAgent(program_, "authorization"));
    if (!authorization) {
      return base::Fail("failed to get delegated authorization kubeconfig: " + authorization.error().message);
    }
    server::ServerOptions options;
    options.host = flags.bind_address;
    options.port = static_cast<std::uint16_t>(flags.secure_port);
    options.certificate = {.cert_file = flags.tls_cert_file,
                           .key_file = flags.tls_private_key_file,
                           .cert_dir = flags.cert_dir,
                           .bind_address = flags.bind_address,
                           .named = {},
                           .tls = {.min_version = flags.tls_min_version,
                                   .cipher_suites = flags.tls_cipher_suites,
                                   .curves = flags.tls_curve_preferences,
                                   .http2 = !flags.disable_http2_serving}};
    for (const std::string& pair : flags.tls_sni_cert_key) {
      options.certificate.named.push_back(server::ReadNamedPair(pair));
    }
    options.client_ca_file = flags.client_ca_file;
    options.proxy_ca_file = flags.requestheader_client_ca_file;
    options.front_proxy = {.username_headers = flags.requestheader_username_headers,
                           .uid_headers = flags.requestheader_uid_headers,
                           .group_headers = flags.requestheader_group_headers,
                           .extra_header_prefixes = flags.requestheader_extra_headers_prefix,
                           .allowed_names = flags.requestheader_allowed_names};
    options.looks_up_trust = !flags.authentication_skip_lookup;
    options.needs_trust = !flags.authentication_tolerate_lookup_failure;
    options.shares_port = flags.permit_port_sharing;
    if (flags.http2_max_streams_per_connection > 0) {
      options.streams_max = static_cast<std::uint32_t>(flags.http2_max_streams_per_connection);
    }
    options.sends_strangers_away = settings_.gates.IsEnabled("UnauthenticatedHTTP2DOSMitigation");
    options.access = {.always_allow_paths = flags.authorization_always_allow_paths,
                      .token_ttl = flags.authentication_token_webhook_cache_ttl,
                      .allowed_ttl = flags.authorization_webhook_cache_authorized_ttl,
                      .refused_ttl = flags.authorization_webhook_cache_unauthorized_ttl};
    options.authentication = *std::move(authentication);
    options.authorization = *std::move(authorization);
    options.metrics = &process_->metrics();
    options.profiling = *settings_.loaded.compiled.configuration.enable_profiling;
    auto server = server::OperationsServer::Listen(loop_, std::move(options), Content());
    if (!server) return std::unexpected(std::move(server.error()));
    server_ = *std::move(server);
    return {};
  }

  server::ServerContent Content() {
    server::FlagValues flags;
    for (const config::FlagSet::Flag& flag : settings_.given.flags())
      flags.emplace_back(flag.name, flag.get());
    server::StatusFacts status;
    status.started = started_;
    status.compiler = "c++23";
    status.binary_version = KubernetesVersion().substr(1);
    status.emulation_version = settings_.gates.versions().emulation.ToString();
    status.paths = {"/configz", "/flagz", "/healthz", "/livez", "/metrics", "/readyz"};
    return {.health = health_,
            .metrics = [this] { return std::vector{&process_->metrics(), &process_->scheduler_metrics()}; },
            .resources =
                [this] {
                  return process_->is_leader() ? server::PodResourcesText(process_->scheduler().cluster())
                                               : std::string();
                },
            .configz = [this] { return ConfigzText(configuration()); },
            .flags = std::move(flags),
            .status = std::move(status)};
  }

  const SchedulerSettings& settings_;
  const std::string program_;
  const base::WallPoint started_;
  net::EventLoop loop_;
  base::RealClock clock_;
  client::LoopExecutor review_executor_;
  bool elects_ = false;
  bool is_stopping_ = false;
  int exit_code_ = 0;
  std::unique_ptr<shell::SchedulerProcess> process_;
  std::optional<ConfigFollower> follower_;
  net::Timer config_timer_;
  net::Timer log_timer_;
  std::unique_ptr<server::TraceExporter> traces_;
  server::HealthChecks health_;
  std::unique_ptr<server::OperationsServer> server_;
};

int Failed(const base::Error& error) {
  BERTH_LOG_ERROR(error, "command failed");
  return 1;
}

}  // namespace

int RunScheduler(std::string_view program, std::span<const std::string> arguments, std::ostream& out,
                 std::ostream& errors) {
  SchedulerSettings settings;
  if (const auto code = ReadSettings(arguments, settings, out, errors)) return *code;
  RunningScheduler scheduler(settings, program);
  if (const auto prepared = scheduler.Prepare(); !prepared) return Failed(prepared.error());
  const std::string written =
      config::WriteYaml(config::WithoutSecrets(settings.loaded.compiled.configuration));
  BERTH_LOG(2, "Using component config", {"config", written});
  if (const std::string& file = settings.flags.write_config_to; !file.empty()) {
    std::ofstream stream(file);
    stream << config::WriteYaml(settings.loaded.compiled.configuration);
    if (!stream.flush()) return Failed({fmt::format("open {}: {}", file, base::ErrnoText(errno))});
    BERTH_LOG(0, "Wrote configuration", {"file", file});
    return 0;
  }
  return scheduler.Run();
}

}  // namespace berth::cli
