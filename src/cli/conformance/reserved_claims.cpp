#include "cli/conformance/reserved_claims.h"

#include <boost/json.hpp>
#include <fmt/format.h>
#include <ranges>

#include "cli/conformance/case_json.h"

#include "api/devices.h"
#include "dra/device_state.h"
#include "framework/binding_points.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

using Difference = std::optional<std::string>;

// Without what the clock and chance decide.
std::string TextOf(api::AllocationResult allocation) {
  allocation.allocation_timestamp.reset();
  for (api::DeviceRequestAllocationResult& result : allocation.devices.results) result.share_id.reset();
  return wire::EncodeJson(allocation);
}

Difference CompareClaims(const json::object& want, const dra::DeviceState& state) {
  for (const auto& entry : want) {
    const std::string_view key = entry.key();
    const std::size_t slash = key.find('/');
    const dra::ClaimRef claim = state.claims().Find(key.substr(0, slash), key.substr(slash + 1));
    if (claim == nullptr) return fmt::format("reserve: there is no claim {}", key);
    const dra::ClaimRef reserved = state.claims().InFlightClaim(claim->metadata.uid);
    const std::string got = reserved ? TextOf(*reserved->status.allocation) : "nothing";
    const std::string wanted = TextOf(DecodeObject<api::AllocationResult>(entry.value()));
    if (auto difference = Compare(fmt::format("reserve of {}", key), got, wanted)) return difference;
  }
  return std::nullopt;
}

}  // namespace

Difference CheckReservedClaims(const json::object& expect, const CaseRun& run) {
  const json::value* const reserve = ValueAt(expect, "reserve");
  const json::value* const claims = reserve == nullptr ? nullptr : ValueAt(reserve->as_object(), "claims");
  if (claims == nullptr) return std::nullopt;
  run.engine.SchedulePod(run.subject);
  const cluster::NodeRow row = run.cluster.nodes().Find(TextsAt(expect, "suggestedHosts").front());
  framework::Assignment assignment{.pod = run.cluster.pods().Version(run.subject.pod),
                                   .record = run.cluster.pods().facts(run.subject.pod).record,
                                   .row = run.cluster.nodes().Version(row),
                                   .node_name = std::string(run.cluster.nodes().name(row)),
                                   .data = run.engine.cycle().TakeData()};
  Difference difference;
  for (const auto& placed : run.profile.reserve()) {
    const framework::Status status = placed.point->Reserve(run.cluster, assignment);
    if (!status.IsSuccess() && !difference) difference = "reserve: " + status.Message();
  }
  if (!difference) {
    difference = CompareClaims(claims->as_object(), run.cluster.UseExtension<dra::DeviceState>());
  }
  for (const auto& placed : std::views::reverse(run.profile.reserve())) {
    placed.point->Unreserve(run.cluster, assignment);
  }
  return difference;
}

}  // namespace berth::cli
