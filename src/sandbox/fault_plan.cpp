#include "sandbox/fault_plan.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/go_duration.h"

namespace berth::sandbox {
namespace {

constexpr std::string_view kVerbs[] = {"get", "list", "watch", "create", "bind", "update", "patch", "delete"};

std::unexpected<base::Error> Bad(std::string_view setting, std::string_view why) {
  return base::Fail(fmt::format("--fault {}: {}", setting, why));
}

base::Result<double> ParseShare(std::string_view setting, std::string_view text) {
  double share = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), share);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
      !(share >= 0 && share <= 1)) {
    return Bad(setting, "wants a share from 0 to 1");
  }
  return share;
}

base::Result<base::Duration> ParseTime(std::string_view setting, std::string_view text) {
  const base::Result<base::Duration> duration = base::ParseGoDuration(text);
  if (!duration || *duration <= base::Duration(0)) return Bad(setting, "wants a time such as 50ms or 10s");
  return *duration;
}

// "50ms", or "10ms-2s".
base::Result<FaultPlan::Latency> ParseLatency(std::string_view setting, std::string_view text) {
  const std::size_t dash = text.find('-');
  const base::Result<base::Duration> first = ParseTime(setting, text.substr(0, dash));
  if (!first) return base::Fail(first.error().message);
  if (dash == std::string_view::npos) return FaultPlan::Latency{*first, *first};
  const base::Result<base::Duration> second = ParseTime(setting, text.substr(dash + 1));
  if (!second) return base::Fail(second.error().message);
  if (*second < *first) return Bad(setting, "the second time is before the first");
  return FaultPlan::Latency{*first, *second};
}

// "503:0.1".
base::Result<FaultPlan::Failure> ParseFailure(std::string_view setting, std::string_view text) {
  FaultPlan::Failure failure;
  const std::size_t colon = text.find(':');
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + std::min(colon, text.size()), failure.code);
  if (colon == std::string_view::npos || error != std::errc() || end != text.data() + colon ||
      failure.code < 400 || failure.code > 599) {
    return Bad(setting, "wants CODE:SHARE, such as 503:0.1");
  }
  const base::Result<double> share = ParseShare(setting, text.substr(colon + 1));
  if (!share) return base::Fail(share.error().message);
  failure.rate = *share;
  return failure;
}

base::Result<void> Take(FaultPlan& plan, std::string_view setting) {
  const std::size_t equals = setting.find('=');
  if (equals == std::string_view::npos) return Bad(setting, "wants KEY=VALUE");
  const std::string_view value = setting.substr(equals + 1);
  std::string_view key = setting.substr(0, equals);
  std::string verb;
  if (const std::size_t dot = key.find('.'); dot != std::string_view::npos) {
    verb = key.substr(dot + 1);
    key = key.substr(0, dot);
    if (std::ranges::find(kVerbs, verb) == std::end(kVerbs) || (key != "latency" && key != "error")) {
      return Bad(setting,
                 fmt::format("no such verb; there are {}, for latency and error", fmt::join(kVerbs, ", ")));
    }
  }
  const auto put = [](auto result, auto& into) -> base::Result<void> {
    if (!result) return base::Fail(result.error().message);
    into = *result;
    return {};
  };
  if (key == "latency") return put(ParseLatency(setting, value), plan.latency[verb]);
  if (key == "error") return put(ParseFailure(setting, value), plan.failures[verb]);
  if (key == "watch-drop") return put(ParseTime(setting, value), plan.watch_drop);
  if (key == "watch-cut") return put(ParseTime(setting, value), plan.watch_cut);
  if (key == "watch-stall") return put(ParseShare(setting, value), plan.watch_stall);
  if (key == "compact") return put(ParseTime(setting, value), plan.compact);
  if (key == "conflict") return put(ParseShare(setting, value), plan.conflict);
  if (key == "seed") {
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), plan.seed);
    if (value.empty() || error != std::errc() || end != value.data() + value.size()) {
      return Bad(setting, "wants a number");
    }
    return {};
  }
  return Bad(
      setting,
      "no such key; there are latency, error, watch-drop, watch-cut, watch-stall, compact, conflict and "
      "seed");
}

}  // namespace

base::Result<FaultPlan> ParseFaults(std::span<const std::string> settings) {
  FaultPlan plan;
  for (const std::string& setting : settings) {
    const base::Result<void> taken = Take(plan, setting);
    if (!taken) return base::Fail(taken.error().message);
  }
  return plan;
}

}  // namespace berth::sandbox
