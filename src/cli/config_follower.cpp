#include "cli/config_follower.h"

#include <chrono>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "base/log.h"
#include "config/reload.h"

namespace berth::cli {

ConfigFollower::ConfigFollower(std::string file, LoadedConfiguration running, Hooks hooks,
                               base::MetricRegistry& metrics, const base::Clock& clock)
    : file_(std::move(file)),
      running_(std::move(running)),
      hooks_(std::move(hooks)),
      clock_(clock),
      metrics_(server::AddReloadMetrics(metrics)) {
  if (auto text = hooks_.read()) tried_ = *std::move(text);
  seen_ = tried_;
  metrics_.succeeded.Set(1);
  metrics_.succeeded_at.Set(std::chrono::duration<double>(clock_.WallNow().time_since_epoch()).count());
}

void ConfigFollower::Look() {
  auto text = hooks_.read();
  // It may be between two versions of itself.
  if (!text) return;
  const bool is_settled = seen_ == *text;
  seen_ = *std::move(text);
  if (is_settled && seen_ != tried_) Try();
}

void ConfigFollower::Reload() {
  BERTH_LOG(0, "Reading the configuration again", {"file", file_});
  // A file that is not there is refused; when it is back it is tried again, even if it is the one from
  // before.
  seen_.reset();
  if (auto text = hooks_.read()) seen_ = *std::move(text);
  Try();
}

void ConfigFollower::Count(std::string_view result) {
  metrics_.reloads.With({result})->Increment();
  metrics_.succeeded.Set(result == "refused" ? 0 : 1);
  if (result == "applied") {
    metrics_.succeeded_at.Set(std::chrono::duration<double>(clock_.WallNow().time_since_epoch()).count());
  }
}

void ConfigFollower::Try() {
  tried_ = seen_;
  auto loaded = hooks_.load();
  if (!loaded) {
    BERTH_LOG_ERROR(loaded.error(), "The configuration file is wrong: the running configuration stays",
                    {"file", file_});
    return Count("refused");
  }
  config::ReloadPlan plan = config::PlanReload(running_.compiled, std::move(loaded->compiled));
  if (!plan.needs_restart.empty()) {
    BERTH_LOG_WARNING("These settings of the configuration file count after a restart only", {"file", file_},
                      {"settings", fmt::format("{}", fmt::join(plan.needs_restart, ", "))});
  }
  const bool samples_otherwise = loaded->samples_nodes != running_.samples_nodes;
  if (!plan.changes_scheduler && !(samples_otherwise && plan.needs_restart.empty())) {
    BERTH_LOG(0, "The configuration file asks for nothing that could change now", {"file", file_});
    return Count("unchanged");
  }
  LoadedConfiguration next{std::move(plan.result), loaded->samples_nodes};
  if (auto applied = hooks_.apply(next); !applied) {
    BERTH_LOG_ERROR(applied.error(), "The configuration file cannot be used: the running configuration stays",
                    {"file", file_});
    return Count("refused");
  }
  running_ = std::move(next);
  BERTH_LOG(0, "Putting the configuration file in force", {"file", file_},
            {"difference", fmt::format("{}", fmt::join(plan.difference, "\n"))});
  Count("applied");
}

}  // namespace berth::cli
