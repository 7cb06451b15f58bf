#include "bench/claim_allocation.h"

#include <fmt/format.h>
#include <limits>
#include <memory>
#include <utility>

#include "dra/allocation_result.h"
#include "dra/allocator.h"
#include "dra/claim_plan.h"
#include "plugins/dynamic_resources.h"
#include "wire/codec.h"
#include "wire/json_document.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

template <class T>
base::Result<std::shared_ptr<const T>> Decode(const json::object& document) {
  auto object = wire::DecodeJson<T>(wire::WriteJson(document), wire::Strictness::kLenient);
  if (!object) return std::unexpected(std::move(object.error()));
  return std::make_shared<const T>(*std::move(object));
}

}  // namespace

ClaimAllocation::ClaimAllocation(const framework::Features& features, std::uint64_t seed)
    : random_(seed), state_(cluster_.UseExtension<dra::DeviceState>()) {
  state_.SetGates(plugins::DeviceGates(features));
}

base::Result<void> ClaimAllocation::Add(std::string_view kind, const json::object& document) {
  const auto keep = [&]<class T>(cluster::ObjectTable<T>& table) -> base::Result<void> {
    auto object = Decode<T>(document);
    if (!object) return std::unexpected(std::move(object.error()));
    table.Set(*std::move(object));
    return {};
  };
  cluster::ObjectStore& objects = cluster_.objects();
  if (kind == "ResourceSlice") return keep(objects.Of<api::ResourceSlice>());
  if (kind == "DeviceClass") return keep(objects.Of<api::DeviceClass>());
  if (kind == "DeviceTaintRule") return keep(objects.Of<api::DeviceTaintRule>());
  if (kind == "ResourceClaim") return keep(objects.Of<api::ResourceClaim>());
  if (kind != "Node") return {};
  auto node = Decode<api::Node>(document);
  if (!node) return std::unexpected(std::move(node.error()));
  nodes_.push_back((*node)->metadata.name);
  cluster_.SetNode(*std::move(node));
  return {};
}

base::Result<json::object> ClaimAllocation::Allocate(const std::string& namespace_name,
                                                     const std::string& name) {
  const dra::ClaimRef claim = state_.claims().Find(namespace_name, name);
  if (claim == nullptr || claim->status.allocation) return json::object();
  for (std::size_t left = nodes_.size(); left > 1; --left) {
    std::swap(nodes_[left - 1], nodes_[random_.Uniform(left)]);
  }
  state_.selectors().BeginAttempt();
  const dra::ClaimPlan plan = dra::PlanClaim(claim, state_);
  const dra::ClaimPlan* const plans[] = {&plan};
  dra::Allocator allocator(state_);
  for (const std::string& node : nodes_) {
    const cluster::NodeRow row = cluster_.nodes().Find(node);
    const dra::Outcome outcome = allocator.Allocate(plans, row, std::numeric_limits<std::uint64_t>::max());
    if (outcome.verdict == dra::Verdict::kError) return base::Fail("allocate claim: " + outcome.error);
    if (outcome.verdict != dra::Verdict::kFound) continue;
    if (const auto where = dra::NodesOf(plan, allocator.taken(), node); !where) {
      return std::unexpected(where.error());
    }
    auto allocated = std::make_shared<api::ResourceClaim>(*claim);
    allocated->status.allocation = dra::MakeAllocation(plan, allocator.taken(), node, state_.gates(),
                                                       {.claim_uid = claim->metadata.uid, .pod_uid = ""});
    auto document = wire::ParseJson(wire::EncodeJson(*allocated));
    if (!document) return std::unexpected(std::move(document.error()));
    cluster_.objects().Of<api::ResourceClaim>().Set(std::move(allocated));
    return std::move(document->as_object());
  }
  return base::Fail(fmt::format("could not allocate claim {}", dra::ClaimName(*claim)));
}

}  // namespace berth::bench
