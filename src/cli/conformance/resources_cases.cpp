#include <boost/json.hpp>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/conformance/case_json.h"
#include "cli/conformance/cases.h"

#include "api/node.h"
#include "api/pod.h"
#include "api/pod_requests.h"
#include "api/resource_vector.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

using Difference = std::optional<std::string>;

std::int64_t Integer(const json::object& object, std::string_view key) {
  return object.at(key).to_number<std::int64_t>();
}

api::ResourceGates Gates(const json::object& test_case) {
  api::ResourceGates gates;
  const json::object& set = test_case.at("featureGates").as_object();
  const auto read = [&](std::string_view name, bool& gate) {
    if (const json::value* value = set.if_contains(name)) gate = value->as_bool();
  };
  read("PodLevelResources", gates.pod_level_resources);
  read("InPlacePodVerticalScaling", gates.in_place_pod_vertical_scaling);
  read("InPlacePodLevelResourcesVerticalScaling", gates.in_place_pod_level_resources_vertical_scaling);
  read("DRANodeAllocatableResources", gates.dra_node_allocatable_resources);
  return gates;
}

Difference CompareScalars(const api::ResourceVector& got, const json::object& want) {
  if (auto difference = Compare("scalarResources", got.scalars.size(), want.size())) return difference;
  for (const auto& [name, amount] : got.scalars) {
    if (!want.contains(name)) return fmt::format("scalarResources: {} is not wanted", name);
    if (auto difference = Compare(name, amount, Integer(want, name))) return difference;
  }
  return std::nullopt;
}

Difference CompareVector(std::string_view what, const api::ResourceVector& got, const json::object& want) {
  Difference difference = Compare("milliCPU", got.milli_cpu, Integer(want, "milliCPU"));
  if (!difference) difference = Compare("memory", got.memory, Integer(want, "memory"));
  if (!difference) {
    difference = Compare("ephemeralStorage", got.ephemeral_storage, Integer(want, "ephemeralStorage"));
  }
  if (!difference) difference = CompareScalars(got, want.at("scalarResources").as_object());
  if (difference) return fmt::format("{}: {}", what, *difference);
  return std::nullopt;
}

Difference CompareList(std::string_view what, const api::ResourceList& got, const json::object& want) {
  for (const auto& entry : want) {
    if (!got.contains(std::string_view(entry.key())))
      return fmt::format("{}: {} is missing", what, entry.key());
  }
  for (const auto& [name, quantity] : got) {
    const json::value* text = want.if_contains(name);
    if (text == nullptr) return fmt::format("{}: {} is not wanted", what, name);
    if (auto difference = Compare<std::string_view>(name, quantity.Canonical(), text->as_string())) {
      return fmt::format("{}: {}", what, *difference);
    }
  }
  return std::nullopt;
}

// With claims, unlike what a scheduler filters by: the cases were recorded through a function that the
// kubelet shares.
api::PodRequestOptions PendingOptions(const api::ResourceGates& gates) {
  return {.use_pod_level = gates.pod_level_resources, .use_claims = gates.dra_node_allocatable_resources};
}

Difference CheckPod(const json::object& test_case) {
  const api::ResourceGates gates = Gates(test_case);
  const auto pod = DecodeObject<api::Pod>(test_case.at("pod"));
  const api::PodResourceView view(pod);

  const api::AssignedRequests assigned = AssignedPodRequests(view, gates);
  if (auto difference = CompareVector("assigned", assigned.requests, test_case.at("assigned").as_object())) {
    return difference;
  }
  if (auto difference =
          Compare("nonZeroMilliCPU", assigned.non_zero_milli_cpu, Integer(test_case, "nonZeroMilliCPU"))) {
    return difference;
  }
  if (auto difference =
          Compare("nonZeroMemory", assigned.non_zero_memory, Integer(test_case, "nonZeroMemory"))) {
    return difference;
  }
  if (auto difference = CompareList("assignedList", PodRequests(view, AssignedOptions(gates)),
                                    test_case.at("assignedList").as_object())) {
    return difference;
  }
  const api::ResourceList pending = PodRequests(view, PendingOptions(gates));
  if (auto difference =
          CompareVector("pending", api::ToVector(pending), test_case.at("pending").as_object())) {
    return difference;
  }
  if (auto difference = CompareList("pendingList", pending, test_case.at("pendingList").as_object()))
    return difference;
  // Recorded without claims, whatever the gate says.
  const api::ResourceList limits = PodLimits(view, {.use_pod_level = gates.pod_level_resources});
  if (auto difference = CompareList("limitsList", limits, test_case.at("limitsList").as_object()))
    return difference;

  // The record that berth keeps must count for the same.
  api::SharedParts shared;
  const api::PodRecord record = MakeRecord(api::Pod(pod), shared);
  if (AssignedPodRequests(api::PodResourceView(record), gates) != assigned)
    return "the pod's record counts otherwise";
  return std::nullopt;
}

Difference CompareMissing(const std::vector<api::InsufficientResource>& got, const json::array& want) {
  if (auto difference = Compare("insufficient", got.size(), want.size())) return difference;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const json::object& wanted = want[i].as_object();
    const auto text = [](const api::InsufficientResource& missing, std::string_view reason) {
      return fmt::format("{} ({}): requested {}, used {}, capacity {}, unresolvable {}", missing.resource,
                         reason, missing.requested, missing.used, missing.capacity, missing.unresolvable);
    };
    const api::InsufficientResource expected{.resource = std::string(wanted.at("resource").as_string()),
                                             .requested = Integer(wanted, "requested"),
                                             .used = Integer(wanted, "used"),
                                             .capacity = Integer(wanted, "capacity"),
                                             .unresolvable = wanted.at("unresolvable").as_bool()};
    const std::string_view reason = wanted.at("reason").as_string();
    if (auto difference = Compare("insufficient", text(got[i], got[i].Reason()), text(expected, reason))) {
      return difference;
    }
  }
  return std::nullopt;
}

Difference CheckNode(const json::object& test_case) {
  const api::ResourceGates gates = Gates(test_case);
  const auto node = DecodeObject<api::Node>(test_case.at("node"));
  const api::NodeAllocatable allocatable = api::ToAllocatable(*node.status.allocatable);
  const json::object& wanted = test_case.at("allocatable").as_object();
  if (auto difference = CompareVector("allocatable", allocatable.resources, wanted)) return difference;
  const std::int64_t pods_wanted =
      wanted.contains("allowedPodNumber") ? Integer(wanted, "allowedPodNumber") : 0;
  if (auto difference = Compare("allowedPodNumber", allocatable.pod_count_max, pods_wanted))
    return difference;

  api::ResourceVector requested;
  api::ResourceVector non_zero;
  const json::array& pods = test_case.at("pods").as_array();
  for (const json::value& value : pods) {
    const auto pod = DecodeObject<api::Pod>(value);
    const api::AssignedRequests assigned = AssignedPodRequests(api::PodResourceView(pod), gates);
    requested.Add(assigned.requests);
    api::ResourceVector scored;
    scored.milli_cpu = assigned.non_zero_milli_cpu;
    scored.memory = assigned.non_zero_memory;
    non_zero.Add(scored);
  }
  if (auto difference = CompareVector("requested", requested, test_case.at("requested").as_object()))
    return difference;
  if (auto difference =
          CompareVector("nonZeroRequested", non_zero, test_case.at("nonZeroRequested").as_object())) {
    return difference;
  }
  const auto pending = DecodeObject<api::Pod>(test_case.at("pod"));
  const api::ResourceVector request =
      api::ToVector(PodRequests(api::PodResourceView(pending), PendingOptions(gates)));
  const api::NodeUse use{.allocatable = allocatable,
                         .requested = requested,
                         .pod_count = static_cast<std::int64_t>(pods.size())};
  return CompareMissing(MissingResources(request, use), test_case.at("insufficient").as_array());
}

}  // namespace

std::optional<std::string> CheckResourcesCase(const boost::json::object& test_case) {
  try {
    const std::string_view type = test_case.at("type").as_string();
    if (type == "pod") return CheckPod(test_case);
    if (type == "node") return CheckNode(test_case);
    return fmt::format("unknown type {}", type);
  } catch (const std::exception& error) {
    return fmt::format("cannot read the case: {}", error.what());
  }
}

}  // namespace berth::cli
