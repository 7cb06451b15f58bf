#include "config/reload.h"

#include <absl/strings/str_split.h>
#include <algorithm>
#include <string_view>
#include <utility>

#include "config/check.h"

namespace berth::config {
namespace {

// Each is set up once, when a process starts.
constexpr std::string_view kNeedsRestart[] = {
    "clientConnection", "delayCacheUntilActive", "enableContentionProfiling", "enableProfiling",
    "extenders",        "leaderElection"};

bool NeedsRestart(std::string_view path) {
  return std::ranges::any_of(kNeedsRestart, [&](std::string_view name) {
    if (!path.starts_with(name)) return false;
    return path.size() == name.size() || path[name.size()] == '.' || path[name.size()] == '[';
  });
}

Compiled ForReading(const Compiled& compiled) {
  return {.configuration = WithoutSecrets(compiled.configuration), .profiles = compiled.profiles};
}

}  // namespace

ReloadPlan PlanReload(const Compiled& running, Compiled wanted) {
  ReloadPlan plan;
  const std::string text = DiffConfigurations(ForReading(running), ForReading(wanted));
  for (const absl::string_view piece : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::string_view line(piece.data(), piece.size());
    plan.difference.emplace_back(line);
    const std::string_view path = line.substr(2, line.find(": ") - 2);
    if (!NeedsRestart(path)) {
      plan.changes_scheduler = true;
    } else if (std::ranges::find(plan.needs_restart, path) == plan.needs_restart.end()) {
      plan.needs_restart.emplace_back(path);
    }
  }
  Configuration& result = wanted.configuration;
  const Configuration& old = running.configuration;
  if (result.extenders != old.extenders) {
    // Arguments of plugins depend on them: a part of such a file is worse than none of it.
    if (std::ranges::none_of(plan.needs_restart,
                             [](const auto& path) { return path.starts_with("extenders"); })) {
      plan.needs_restart.emplace_back("extenders");
    }
    plan.changes_scheduler = false;
    plan.result = running;
    return plan;
  }
  result.client_connection = old.client_connection;
  result.delay_cache_until_active = old.delay_cache_until_active;
  result.enable_contention_profiling = old.enable_contention_profiling;
  result.enable_profiling = old.enable_profiling;
  result.leader_election = old.leader_election;
  plan.result = std::move(wanted);
  return plan;
}

Configuration WithoutSecrets(Configuration configuration) {
  for (Extender& extender : configuration.extenders) {
    if (extender.tls_config) extender.tls_config->key_data = {};
    // https://user:password@host
    const std::size_t scheme = extender.url_prefix.find("://");
    const std::size_t begin = scheme == std::string::npos ? 0 : scheme + 3;
    const std::size_t end = extender.url_prefix.find('@', begin);
    if (end < extender.url_prefix.find('/', begin)) extender.url_prefix.erase(begin, end + 1 - begin);
  }
  return configuration;
}

}  // namespace berth::config
