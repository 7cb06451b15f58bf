#include <algorithm>
#include <boost/json.hpp>
#include <exception>
#include <fmt/format.h>

#include "cli/conformance/cases.h"
#include "cli/conformance/queue_case_run.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

using Difference = std::optional<std::string>;

constexpr std::string_view kLists[] = {
    "active",   "backoff",      "errorBackoff",     "unschedulable",      "gated",
    "inFlight", "inFlightList", "pendingGroupPods", "incompleteGroupPods"};
constexpr std::string_view kOutcomes[] = {"popped", "poppedInfo", "error", "preEnqueue"};

json::object EmptyState() {
  json::object state;
  for (const std::string_view list : kLists) state[list].emplace_array();
  state["inFlightEvents"] = 0;
  state["cycle"] = 0;
  state["nominated"].emplace_object();
  state["info"].emplace_object();
  return state;
}

// Expectations are the fields that changed, except that `info` is merged by key.
void Merge(const json::object& expect, json::object& state) {
  for (const auto& [key, value] : expect) {
    if (!state.contains(key)) continue;
    if (key != "info") {
      state[key] = value;
      continue;
    }
    for (const auto& [name, info] : value.as_object()) {
      if (info.is_null()) {
        state["info"].as_object().erase(name);
      } else {
        state["info"].as_object()[name] = info;
      }
    }
  }
}

Difference CompareValues(std::string_view what, const json::value* got, const json::value* want) {
  const json::value nothing;
  if (got == nullptr) got = &nothing;
  if (want == nullptr) want = &nothing;
  if (*got == *want) return std::nullopt;
  return fmt::format("{}: got {}, want {}", what, json::serialize(*got), json::serialize(*want));
}

Difference CompareStates(const json::object& got, const json::object& want) {
  for (const auto& [key, value] : want) {
    if (key == "info") continue;
    if (auto difference = CompareValues(key, got.if_contains(key), &value)) return difference;
  }
  const json::object& got_info = got.at("info").as_object();
  for (const auto& [key, value] : want.at("info").as_object()) {
    if (auto difference = CompareValues("info " + std::string(key), got_info.if_contains(key), &value))
      return difference;
  }
  if (got_info.size() == want.at("info").as_object().size()) return std::nullopt;
  return CompareValues("info", got.if_contains("info"), want.if_contains("info"));
}

// Calls that are random upstream are not in the case.
bool IsRandom(const json::object& expect, std::string_view key) {
  const json::value* depends = expect.if_contains(key);
  return depends != nullptr && *depends == "random";
}

Difference CompareOutcomes(const json::object& got, const json::object& want) {
  for (const std::string_view key : kOutcomes) {
    if (auto difference = CompareValues(key, got.if_contains(key), want.if_contains(key))) return difference;
  }
  for (const std::string_view key : {"hintCalls", "preHintCalls"}) {
    if (IsRandom(want, std::string(key) + "Depend")) continue;
    if (auto difference = CompareValues(key, got.if_contains(key), want.if_contains(key))) return difference;
  }
  return std::nullopt;
}

Difference CompareMetrics(const json::object& got, const json::object& want) {
  json::array inexact;
  if (const json::value* names = want.if_contains("inexact")) inexact = names->as_array();
  for (const auto& [name, series] : got) {
    if (std::ranges::find(inexact, json::value(name)) != inexact.end()) continue;
    if (auto difference = CompareValues(name, &series, want.if_contains(name))) return difference;
  }
  return std::nullopt;
}

struct RunOptions {
  std::size_t steps = 0;
  bool upstream_backoff_order = false;
};

Difference RunSteps(const json::object& test_case, const RunOptions& options) {
  QueueCaseRun run(test_case, options.upstream_backoff_order);
  json::object want = EmptyState();
  const json::array& steps = test_case.at("steps").as_array();
  for (std::size_t i = 0; i < options.steps; ++i) {
    const json::object& expect = test_case.at("expect").as_array()[i].as_object();
    Merge(expect, want);
    const json::object outcome = run.Do(steps[i].as_object());
    Difference difference = CompareOutcomes(outcome, expect);
    if (!difference) difference = CompareStates(run.State(), want);
    if (difference) return fmt::format("step {} {}: {}", i, json::serialize(steps[i]), *difference);
  }
  const json::value* metrics = test_case.if_contains("metrics");
  if (options.steps < steps.size() || metrics == nullptr || metrics->is_null()) return std::nullopt;
  return CompareMetrics(run.Metrics(), metrics->as_object());
}

}  // namespace

std::optional<std::string> CheckQueueCase(const json::object& test_case) {
  try {
    const std::size_t all = test_case.at("steps").as_array().size();
    const json::value* diverges_at = test_case.if_contains("divergeAt");
    if (diverges_at == nullptr) return RunSteps(test_case, {.steps = all});
    // Up to there both agree; of the rest berth can be told to follow upstream's order of backoff.
    const auto common = static_cast<std::size_t>(diverges_at->as_int64());
    if (auto difference = RunSteps(test_case, {.steps = common})) return difference;
    if (test_case.at("divergence") != "10.7") return std::nullopt;
    return RunSteps(test_case, {.steps = all, .upstream_backoff_order = true});
  } catch (const std::exception& error) {
    return fmt::format("the case cannot be read: {}", error.what());
  }
}

}  // namespace berth::cli
