#include "cli/scheduler_command.h"

#include <array>
#include <boost/json.hpp>
#include <csignal>
#include <cstdlib>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <ostream>
#include <random>
#include <unistd.h>
#include <utility>
#include <vector>

#include "cli/scheduler_settings.h"
#include "cli/version.h"
#include "client/uuid.h"

#include "base/log.h"
#include "base/random.h"
#include "cluster/cluster.h"
#include "config/gate_table.h"
#include "config/runtime_profile.h"
#include "config/write.h"
#include "net/event_loop.h"
#include "server/component_metrics.h"
#include "server/operations_server.h"
#include "shell/scheduler_process.h"

namespace berth::cli {
namespace {

// How much later than its lease a leader may be before it counts as stuck.
constexpr base::Duration kLeaseTolerance = std::chrono::seconds(20);

std::uint64_t Entropy() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

std::string Hostname() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::string UserAgent(std::string_view program, std::string_view purpose) {
  return fmt::format("{}/{} (linux/amd64) berth/{}/{}", program, KubernetesVersion(), Version(), purpose);
}

base::Result<client::ApiClientOptions> ClientOptionsOf(const SchedulerSettings& settings,
                                                       std::string_view program) {
  const config::ClientConnection& wanted = settings.compiled.configuration.client_connection;
  client::ApiClientOptions options;
  options.user_agent = UserAgent(program, "scheduler");
  options.accept =
      wanted.accept_content_types.empty() ? wanted.content_type + ", */*" : wanted.accept_content_types;
  if (wanted.qps > 0 && wanted.burst <= 0) {
    return base::Fail(
        "burst is required to be greater than 0 when RateLimiter is not set and QPS is set to greater than "
        "0");
  }
  // Only a flag can ask for 0, and it means what the client library of Kubernetes does when it is not told.
  options.rate = wanted.qps == 0
                     ? client::RateLimiter::Options{.per_second = 5, .burst = 10}
                     : client::RateLimiter::Options{.per_second = wanted.qps, .burst = wanted.burst};
  return options;
}

base::Result<client::LeaderElector::Options> ElectionOptionsOf(const config::LeaderElection& wanted,
                                                               base::Random& random) {
  const std::string& lock = wanted.resource_lock;
  if (lock == "endpoints" || lock == "configmaps" || lock == "endpointsleases" ||
      lock == "configmapsleases") {
    return base::Fail(
        fmt::format("couldn't create resource lock: {} lock is removed, migrate to leases", lock));
  }
  if (lock != "leases") return base::Fail("couldn't create resource lock: Invalid lock-type " + lock);
  client::LeaderElector::Options options{.identity = Hostname() + "_" + client::MakeUuid(random),
                                         .namespace_ = wanted.resource_namespace,
                                         .name = wanted.resource_name,
                                         .lease_duration = wanted.lease_duration,
                                         .renew_deadline = wanted.renew_deadline,
                                         .retry_period = wanted.retry_period,
                                         .seed = random.Next()};
  if (const auto valid = client::LeaderElector::Validate(options); !valid) {
    return base::Fail("couldn't create leader elector: " + valid.error().message);
  }
  return options;
}

core::SchedulerOptions CoreOptionsOf(const SchedulerSettings& settings) {
  const config::Configuration& configuration = settings.compiled.configuration;
  core::SchedulerOptions options;
  options.features = settings.features;
  options.pod_initial_backoff = std::chrono::seconds(*configuration.pod_initial_backoff_seconds);
  options.pod_max_backoff = std::chrono::seconds(*configuration.pod_max_backoff_seconds);
  options.pod_max_in_unschedulable = settings.flags.pod_max_in_unschedulable_pods_duration;
  if (settings.samples_nodes) {
    options.engine.percentage_of_nodes_to_score = configuration.percentage_of_nodes_to_score;
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < configuration.profiles.size(); ++i) {
    options.profiles.push_back(config::RuntimeProfile(settings.compiled.profiles[i],
                                                      configuration.profiles[i], settings.built_in, missing));
  }
  if (!missing.empty()) {
    BERTH_LOG_WARNING("Plugins that this version does not have yet take no part in scheduling",
                      {"plugins", fmt::format("{}", fmt::join(missing, ","))});
  }
  return options;
}

base::Result<shell::ProcessOptions> ProcessOptionsOf(const SchedulerSettings& settings,
                                                     std::string_view program) {
  auto connection =
      client::LoadConnectionConfig(settings.compiled.configuration.client_connection.kubeconfig,
                                   settings.flags.master, client::Surroundings::OfThisProcess());
  if (!connection) return std::unexpected(std::move(connection.error()));
  auto client_options = ClientOptionsOf(settings, program);
  if (!client_options) return std::unexpected(std::move(client_options.error()));
  base::Random random(Entropy());
  shell::ProcessOptions options{.connection = *std::move(connection),
                                .client = *std::move(client_options),
                                .election_user_agent = UserAgent(program, "leader-election"),
                                .scheduler = CoreOptionsOf(settings),
                                .extenders = settings.compiled.configuration.extenders,
                                .leader_election = std::nullopt,
                                .hostname = Hostname(),
                                .seed = random.Next()};
  options.scheduler.engine.seed = random.Next();
  const config::LeaderElection& election = settings.compiled.configuration.leader_election;
  if (*election.leader_elect) {
    auto election_options = ElectionOptionsOf(election, random);
    if (!election_options) return std::unexpected(std::move(election_options.error()));
    options.leader_election = *std::move(election_options);
  }
  return options;
}

// Null if there is no kubeconfig for it and the process runs outside of a cluster: then nobody is asked.
base::Result<std::unique_ptr<server::ApiReviewer>> ReviewerOf(client::LoopExecutor& executor,
                                                              const std::string& kubeconfig,
                                                              std::string user_agent) {
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
      boost::json::object{{"componentconfig", config::ToDocument(WithoutSecrets(configuration))}});
}

// The scheduler with its port, from start to end.
class RunningScheduler {
 public:
  RunningScheduler(const SchedulerSettings& settings, std::string_view program)
      : settings_(settings),
        program_(program),
        started_(base::RealClock().WallNow()),
        review_executor_(loop_) {}

  base::Result<void> Prepare() {
    auto options = ProcessOptionsOf(settings_, program_);
    if (!options) return std::unexpected(std::move(options.error()));
    elects_ = options->leader_election.has_value();
    auto process = shell::SchedulerProcess::Make(loop_, *std::move(options));
    if (!process) return std::unexpected(std::move(process.error()));
    process_ = *std::move(process);
    AddChecks();
    AddMetrics();
    return settings_.flags.secure_port == 0 ? base::Result<void>() : Listen();
  }

  int Run() {
    BERTH_LOG(0, "Starting Kubernetes Scheduler", {"version", KubernetesVersion()}, {"berth", Version()});
    process_->OnLeaseLost([this] {
      BERTH_LOG_ERROR(nullptr, "Leaderelection lost");
      exit_code_ = 1;
      loop_.Stop();
    });
    constexpr std::array kSignals = {SIGTERM, SIGINT, SIGUSR2};
    loop_.OnSignals(kSignals, [this](int signal) { signal == SIGUSR2 ? Dump() : Terminate(); });
    process_->Start();
    loop_.Run();
    return exit_code_;
  }

 private:
  // SIGUSR2: what the scheduler holds, into the log.
  void Dump() const {
    const core::Scheduler& scheduler = process_->scheduler();
    std::size_t nodes = 0;
    const cluster::NodeTable& table = scheduler.cluster().nodes();
    for (std::size_t row = 0; row < table.row_count(); ++row) {
      if (table.IsLive(cluster::NodeRow(static_cast<std::uint32_t>(row)))) ++nodes;
    }
    BERTH_LOG(0, "Dump of cached NodeInfo", {"nodes", nodes}, {"pods", scheduler.cluster().pods().size()});
    BERTH_LOG(0, "Dump of scheduling queue", {"summary", scheduler.queue().Summary()});
  }

  void Terminate() {
    if (std::exchange(is_stopping_, true)) std::_Exit(1);
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
             settings_.compiled.configuration.leader_election.resource_name;
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
                                 .min_compatibility = versions.min_compatibility.ToString()});
    if (elects_) {
      server::AddElectionMetric(registry, [this] { return process_->is_leader(); });
    }
    for (const std::string& name : settings_.flags.disabled_metrics) registry.Hide(name);
  }

  base::Result<void> Listen() {
    const config::SchedulerFlags& flags = settings_.flags;
    auto authentication =
        ReviewerOf(review_executor_, flags.authentication_kubeconfig, UserAgent(program_, "authentication"));
    if (!authentication) return std::unexpected(std::move(authentication.error()));
    auto authorization =
        ReviewerOf(review_executor_, flags.authorization_kubeconfig, UserAgent(program_, "authorization"));
    if (!authorization) return std::unexpected(std::move(authorization.error()));
    server::ServerOptions options;
    options.host = flags.bind_address;
    options.port = static_cast<std::uint16_t>(flags.secure_port);
    options.certificate = {.cert_file = flags.tls_cert_file,
                           .key_file = flags.tls_private_key_file,
                           .cert_dir = flags.cert_dir,
                           .bind_address = flags.bind_address};
    options.client_ca_file = flags.client_ca_file;
    options.look_up_client_ca = !flags.authentication_skip_lookup;
    options.access = {.always_allow_paths = flags.authorization_always_allow_paths,
                      .token_ttl = flags.authentication_token_webhook_cache_ttl,
                      .allowed_ttl = flags.authorization_webhook_cache_authorized_ttl,
                      .refused_ttl = flags.authorization_webhook_cache_unauthorized_ttl};
    options.authentication = *std::move(authentication);
    options.authorization = *std::move(authorization);
    options.profiling = *settings_.compiled.configuration.enable_profiling;
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
            .metrics = process_->metrics(),
            .configz = [this] { return ConfigzText(settings_.compiled.configuration); },
            .flags = std::move(flags),
            .status = std::move(status)};
  }

  const SchedulerSettings& settings_;
  const std::string program_;
  const base::WallPoint started_;
  net::EventLoop loop_;
  client::LoopExecutor review_executor_;
  bool elects_ = false;
  bool is_stopping_ = false;
  int exit_code_ = 0;
  std::unique_ptr<shell::SchedulerProcess> process_;
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
  const std::string written = config::WriteYaml(WithoutSecrets(settings.compiled.configuration));
  BERTH_LOG(2, "Using component config", {"config", written});
  if (const std::string& file = settings.flags.write_config_to; !file.empty()) {
    std::ofstream stream(file);
    stream << config::WriteYaml(settings.compiled.configuration);
    if (!stream.flush()) return Failed({"open " + file + ": cannot be written"});
    BERTH_LOG(0, "Wrote configuration", {"file", file});
    return 0;
  }
  return scheduler.Run();
}

}  // namespace berth::cli
