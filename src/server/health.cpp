#include "server/health.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "base/go_text.h"
#include "net/url.h"

namespace berth::server {

HealthChecks::HealthChecks()
    : state_(metrics_.AddGauges({.name = "kubernetes_healthcheck",
                                 .help = "This metric records the result of a single healthcheck.",
                                 .stability = base::Stability::kStable,
                                 .labels = {"name", "type"}})),
      runs_(metrics_.AddCounters({.name = "kubernetes_healthchecks_total",
                                  .help = "This metric records the results of all healthcheck.",
                                  .stability = base::Stability::kStable,
                                  .labels = {"name", "status", "type"}})) {}

void HealthChecks::Add(std::string_view endpoint, std::string name, Check check) {
  auto found = std::ranges::find(endpoints_, endpoint, &Endpoint::name);
  if (found == endpoints_.end()) found = endpoints_.insert(found, {std::string(endpoint), {}});
  found->checks.push_back({std::move(name), std::move(check)});
}

std::optional<std::string> HealthChecks::Run(const Endpoint& endpoint, const Named& named) {
  std::optional<std::string> reason = named.check();
  state_.With({named.name, endpoint.name})->Set(reason ? 0 : 1);
  runs_.With({named.name, reason ? "error" : "success", endpoint.name})->Add(1);
  return reason;
}

std::optional<Answer> HealthChecks::Handle(std::string_view path, std::string_view query) {
  if (!path.starts_with('/')) return std::nullopt;
  path.remove_prefix(1);
  const std::size_t slash = path.find('/');
  const auto endpoint = std::ranges::find(endpoints_, path.substr(0, slash), &Endpoint::name);
  if (endpoint == endpoints_.end()) return std::nullopt;
  if (slash == std::string_view::npos) return All(*endpoint, query);
  return One(*endpoint, path.substr(slash + 1));
}

Answer HealthChecks::All(const Endpoint& endpoint, std::string_view query) {
  // A query that cannot be read asks for nothing special.
  const net::QueryPairs pairs = net::ParseQuery(query).value_or(net::QueryPairs());
  std::vector<std::string> excluded;
  for (const auto& [key, value] : pairs) {
    if (key == "exclude") excluded.push_back(value);
  }
  std::string lines;
  bool failed = false;
  for (const Named& named : endpoint.checks) {
    if (const auto found = std::ranges::find(excluded, named.name); found != excluded.end()) {
      std::erase(excluded, named.name);
      lines += fmt::format("[+]{} excluded: ok\n", named.name);
      continue;
    }
    // Reasons may tell strangers too much: they are for the path of the check itself.
    if (Run(endpoint, named)) {
      failed = true;
      lines += fmt::format("[-]{} failed: reason withheld\n", named.name);
    } else {
      lines += fmt::format("[+]{} ok\n", named.name);
    }
  }
  if (!excluded.empty()) {
    std::ranges::sort(excluded);
    std::vector<std::string> quoted;
    quoted.reserve(excluded.size());
    for (const std::string& name : excluded) quoted.push_back(base::QuoteGo(name));
    lines += fmt::format("warn: some health checks cannot be excluded: no matches for {}\n",
                         fmt::join(quoted, ","));
  }
  if (failed) return {500, fmt::format("{}{} check failed\n", lines, endpoint.name)};
  if (net::FindQuery(pairs, "verbose") == nullptr) return {200, "ok"};
  return {200, fmt::format("{}{} check passed\n", lines, endpoint.name)};
}

std::optional<Answer> HealthChecks::One(const Endpoint& endpoint, std::string_view name) {
  const auto named = std::ranges::find(endpoint.checks, name, &Named::name);
  if (named == endpoint.checks.end()) return std::nullopt;
  if (const auto reason = Run(endpoint, *named)) {
    return Answer{500, fmt::format("internal server error: {}\n", *reason)};
  }
  return Answer{200, "ok"};
}

}  // namespace berth::server
