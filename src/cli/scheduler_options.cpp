#include "cli/scheduler_options.h"

#include <array>
#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <random>
#include <unistd.h>
#include <utility>
#include <vector>

#include "cli/version.h"
#include "client/uuid.h"

#include "base/log.h"
#include "base/random.h"
#include "config/runtime_profile.h"

namespace berth::cli {
namespace {

base::Result<client::ApiClientOptions> ClientOptionsOf(const SchedulerSettings& settings,
                                                       std::string_view program) {
  const config::ClientConnection& wanted = settings.loaded.compiled.configuration.client_connection;
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
  if (const auto valid = client::LeaderElector::Validate(options); !valid)
    return std::unexpected(valid.error());
  return options;
}

}  // namespace

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

base::Result<void> CheckKubeconfig(const std::string& path) {
  if (path.empty() || ::access(path.c_str(), F_OK) == 0) return {};
  return base::Fail(fmt::format("stat {}: no such file or directory", path));
}

core::SchedulerOptions CoreOptionsOf(const SchedulerSettings& settings, const LoadedConfiguration& loaded) {
  const config::Configuration& configuration = loaded.compiled.configuration;
  core::SchedulerOptions options;
  options.features = settings.features;
  options.engine.seed = Entropy();
  if (settings.tracing) options.traces_per_million = settings.tracing->sampling_rate_per_million;
  options.pod_initial_backoff = std::chrono::seconds(*configuration.pod_initial_backoff_seconds);
  options.pod_max_backoff = std::chrono::seconds(*configuration.pod_max_backoff_seconds);
  options.pod_max_in_unschedulable = settings.flags.pod_max_in_unschedulable_pods_duration;
  if (loaded.samples_nodes) {
    options.engine.percentage_of_nodes_to_score = configuration.percentage_of_nodes_to_score;
  }
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < configuration.profiles.size(); ++i) {
    options.profiles.push_back(config::RuntimeProfile(loaded.compiled.profiles[i], configuration.profiles[i],
                                                      settings.built_in, missing));
  }
  if (!missing.empty()) {
    BERTH_LOG_WARNING("Plugins that this version does not have yet take no part in scheduling",
                      {"plugins", fmt::format("{}", fmt::join(missing, ","))});
  }
  return options;
}

base::Result<shell::ProcessOptions> ProcessOptionsOf(const SchedulerSettings& settings,
                                                     std::string_view program) {
  const std::string& kubeconfig = settings.loaded.compiled.configuration.client_connection.kubeconfig;
  if (auto found = CheckKubeconfig(kubeconfig); !found) return std::unexpected(found.error());
  auto connection =
      client::LoadConnectionConfig(kubeconfig, settings.flags.master, client::Surroundings::OfThisProcess());
  if (!connection) return std::unexpected(std::move(connection.error()));
  auto client_options = ClientOptionsOf(settings, program);
  if (!client_options) return std::unexpected(std::move(client_options.error()));
  base::Random random(Entropy());
  shell::ProcessOptions options{.connection = *std::move(connection),
                                .client = *std::move(client_options),
                                .election_user_agent = UserAgent(program, "leader-election"),
                                .scheduler = CoreOptionsOf(settings, settings.loaded),
                                .extenders = settings.loaded.compiled.configuration.extenders,
                                .leader_election = std::nullopt,
                                .hostname = Hostname(),
                                .seed = random.Next()};
  options.prepare_metrics = [&settings](base::MetricRegistry& registry) {
    server::ApplyWishes(registry, settings.metrics);
  };
  const config::LeaderElection& election = settings.loaded.compiled.configuration.leader_election;
  if (*election.leader_elect) {
    auto election_options = ElectionOptionsOf(election, random);
    if (!election_options) return std::unexpected(std::move(election_options.error()));
    options.leader_election = *std::move(election_options);
    options.delays_cache = settings.loaded.compiled.configuration.delay_cache_until_active;
  }
  return options;
}

}  // namespace berth::cli
