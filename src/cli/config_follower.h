#pragma once

#include <functional>
#include <optional>
#include <string>

#include "cli/scheduler_settings.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/metrics.h"
#include "server/component_metrics.h"

namespace berth::cli {

// Follows the configuration file of a running scheduler.
//
// 1. A file counts once it was the same at two looks: an editor may be half-way through it.
// 2. What is wrong changes nothing: the running configuration stays, and the log says why.
// 3. The same text is tried once. A signal tries it again.
class ConfigFollower {
 public:
  struct Hooks {
    std::function<base::Result<std::string>()> read;          // the file as it is
    std::function<base::Result<LoadedConfiguration>()> load;  // what it comes to
    // Puts it to work; fails before anything has changed.
    std::function<base::Result<void>(const LoadedConfiguration&)> apply;
  };

  // `metrics` and `clock` outlive it.
  ConfigFollower(std::string file, LoadedConfiguration running, Hooks hooks, base::MetricRegistry& metrics,
                 const base::Clock& clock);

  // To be called every now and then.
  void Look();
  // The operator asks for it.
  void Reload();

  // What the scheduler runs, or is about to.
  const LoadedConfiguration& running() const { return running_; }

 private:
  void Try();
  void Count(std::string_view result);

  const std::string file_;
  LoadedConfiguration running_;
  const Hooks hooks_;
  const base::Clock& clock_;
  server::ReloadMetrics metrics_;
  std::optional<std::string> tried_;  // the text that was tried last
  std::optional<std::string> seen_;   // at the last look
};

}  // namespace berth::cli
