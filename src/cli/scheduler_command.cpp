#include "cli/scheduler_command.h"

#include <array>
#include <csignal>
#include <ostream>
#include <random>
#include <unistd.h>
#include <utility>

#include "cli/version.h"
#include "client/uuid.h"

#include "base/go_duration.h"
#include "base/log.h"
#include "base/random.h"
#include "net/event_loop.h"
#include "shell/scheduler_process.h"

namespace berth::cli {
namespace {

std::uint64_t Entropy() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source();
}

std::string Hostname() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

base::Result<base::Duration> DurationFlag(std::string_view flag, const std::string& text) {
  auto duration = base::ParseGoDuration(text);
  if (duration) return duration;
  return base::Fail("invalid argument \"" + text + "\" for \"--" + std::string(flag) +
                    "\" flag: " + duration.error().message);
}

base::Result<client::LeaderElector::Options> ElectionOptions(const SchedulerFlags& flags,
                                                             base::Random& random) {
  const auto lease = DurationFlag("leader-elect-lease-duration", flags.leader_elect_lease_duration);
  if (!lease) return std::unexpected(lease.error());
  const auto renew = DurationFlag("leader-elect-renew-deadline", flags.leader_elect_renew_deadline);
  if (!renew) return std::unexpected(renew.error());
  const auto retry = DurationFlag("leader-elect-retry-period", flags.leader_elect_retry_period);
  if (!retry) return std::unexpected(retry.error());
  return client::LeaderElector::Options{.identity = Hostname() + "_" + client::MakeUuid(random),
                                        .namespace_ = flags.leader_elect_resource_namespace,
                                        .name = flags.leader_elect_resource_name,
                                        .lease_duration = *lease,
                                        .renew_deadline = *renew,
                                        .retry_period = *retry,
                                        .seed = random.Next()};
}

base::Result<shell::ProcessOptions> OptionsOf(const SchedulerFlags& flags) {
  auto connection =
      client::LoadConnectionConfig(flags.kubeconfig, flags.master, client::Surroundings::OfThisProcess());
  if (!connection) return std::unexpected(std::move(connection.error()));
  base::Random random(Entropy());
  shell::ProcessOptions options{.connection = *std::move(connection),
                                .client = {.user_agent = "berth/" + std::string(Version())},
                                .scheduler = {},
                                .leader_election = std::nullopt,
                                .hostname = Hostname(),
                                .seed = random.Next()};
  options.scheduler.engine.seed = random.Next();
  if (flags.leader_elect) {
    auto election = ElectionOptions(flags, random);
    if (!election) return std::unexpected(std::move(election.error()));
    options.leader_election = *std::move(election);
  }
  return options;
}

}  // namespace

int RunScheduler(const SchedulerFlags& flags, std::ostream& errors) {
  base::SetLogVerbosity(flags.verbosity);
  net::EventLoop loop;
  auto options = OptionsOf(flags);
  if (!options) {
    errors << "berth scheduler: " << options.error().message << '\n';
    return 1;
  }
  auto process = shell::SchedulerProcess::Make(loop, *std::move(options));
  if (!process) {
    errors << "berth scheduler: " << process.error().message << '\n';
    return 1;
  }
  int exit_code = 0;
  (*process)->OnLeaseLost([&] {
    BERTH_LOG_ERROR(base::Error{"the lease was lost"}, "Leaderelection lost");
    exit_code = 1;
    loop.Stop();
  });
  constexpr std::array kSignals = {SIGTERM, SIGINT};
  loop.OnSignals(kSignals, [&](int) {
    BERTH_LOG(0, "Requested to terminate, exiting");
    (*process)->Stop([&] { loop.Stop(); });
  });
  (*process)->Start();
  loop.Run();
  return exit_code;
}

}  // namespace berth::cli
