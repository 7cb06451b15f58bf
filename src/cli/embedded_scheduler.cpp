#include "cli/embedded_scheduler.h"

#include <thread>
#include <utility>

#include "client/kubeconfig.h"

#include "net/event_loop.h"
#include "shell/scheduler_process.h"

namespace berth::cli {

struct EmbeddedScheduler::Parts {
  net::EventLoop loop;
  std::unique_ptr<shell::SchedulerProcess> process;
  std::thread thread;
};

EmbeddedScheduler::EmbeddedScheduler(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

base::Result<std::unique_ptr<EmbeddedScheduler>> EmbeddedScheduler::Start(const std::string& kubeconfig,
                                                                          std::uint64_t seed) {
  auto connection = client::ParseKubeconfig(kubeconfig, ".", "", client::Surroundings::OfThisProcess());
  if (!connection) return std::unexpected(std::move(connection.error()));
  auto parts = std::make_unique<Parts>();
  shell::ProcessOptions options{.connection = *std::move(connection),
                                .client = {.user_agent = "berth-scheduler"},
                                .scheduler = {},
                                .leader_election = std::nullopt,
                                .hostname = "sandbox",
                                .seed = seed};
  options.scheduler.engine.seed = seed;
  auto process = shell::SchedulerProcess::Make(parts->loop, std::move(options));
  if (!process) return std::unexpected(std::move(process.error()));
  parts->process = *std::move(process);
  parts->process->Start();
  parts->thread = std::thread([&loop = parts->loop] { loop.Run(); });
  return std::unique_ptr<EmbeddedScheduler>(new EmbeddedScheduler(std::move(parts)));
}

EmbeddedScheduler::~EmbeddedScheduler() {
  parts_->loop.Stop();
  parts_->thread.join();
}

}  // namespace berth::cli
