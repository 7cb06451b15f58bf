#include "plugins/node_resources_balanced_allocation.h"

#include <algorithm>
#include <cstddef>

#include "api/pod_requests.h"
#include "api/resource_names.h"
#include "plugins/pod_signatures.h"
#include "plugins/resource_allocation.h"
#include "plugins/resource_args.h"
#include "plugins/resource_columns.h"

namespace berth::plugins {
namespace {

struct BalancePlan final : framework::Plan {
  std::vector<std::int64_t> wanted;  // by position in the arguments; empty: to be taken from the pod itself
};

// What the node would count for the pod.
std::int64_t AmountIn(const framework::PlanInput& input, std::string_view resource) {
  const cluster::Requests& requests = input.requests;
  if (resource == api::kCpu) return requests.milli_cpu;
  if (resource == api::kMemory) return requests.memory;
  if (resource == api::kEphemeralStorage) return requests.ephemeral_storage;
  const cluster::ResourceId id = input.cluster.resources().Find(resource);
  const auto found = std::ranges::find(requests.scalars, id, &cluster::ResourceAmount::resource);
  return found == requests.scalars.end() ? 0 : found->amount;
}

bool IsBestEffort(std::span<const std::int64_t> wanted) {
  return std::ranges::all_of(wanted, [](std::int64_t amount) { return amount == 0; });
}

}  // namespace

base::Result<std::unique_ptr<framework::Plugin>> NodeResourcesBalancedAllocation::Make(
    const framework::PluginSetup& setup) {
  const base::Result<void> valid = Validate(setup.args.node_resources_balanced_allocation);
  if (!valid) return std::unexpected(valid.error());
  return std::unique_ptr<framework::Plugin>(new NodeResourcesBalancedAllocation(setup));
}

NodeResourcesBalancedAllocation::NodeResourcesBalancedAllocation(const framework::PluginSetup& setup)
    : args_(setup.args.node_resources_balanced_allocation), features_(setup.features) {}

std::unique_ptr<framework::Plan> NodeResourcesBalancedAllocation::MakePlan(
    const framework::PlanInput& input) const {
  auto plan = std::make_unique<BalancePlan>();
  plan->score_reads = framework::Reads::Alike(cluster::kResourcesFact);
  if (features_.dra_node_allocatable_resources) {
    // The requests at hand have the pod's claims in them, which must not count here.
    plan->score_reads.attempt = true;
    return plan;
  }
  for (const framework::ResourceWeight& resource : args_.resources) {
    plan->wanted.push_back(AmountIn(input, resource.name));
  }
  plan->scores = !IsBestEffort(plan->wanted);
  return plan;
}

std::vector<std::int64_t> NodeResourcesBalancedAllocation::WantedBy(const framework::Cycle& cycle) const {
  const auto& plan = cycle.PlanOf<BalancePlan>(*this);
  if (!plan.wanted.empty()) return plan.wanted;
  const api::PodResourceView view(cycle.record());
  return AmountsOf(BalanceScoreRequests(view, features_.ForResources()), args_.resources);
}

framework::Status NodeResourcesBalancedAllocation::PreScore(framework::Cycle& cycle,
                                                            const framework::FeasibleSet&,
                                                            framework::ChangedRows&) const {
  return IsBestEffort(WantedBy(cycle)) ? framework::Status::Skip() : framework::Status();
}

framework::Status NodeResourcesBalancedAllocation::Score(const framework::Cycle& cycle,
                                                         std::span<const cluster::NodeRow> rows,
                                                         std::span<std::int64_t> scores) const {
  const std::vector<std::int64_t> wanted = WantedBy(cycle);
  const ScoredResources resources =
      ResourcesToScore(cycle.cluster(), args_.resources, wanted, Usage::kRequested);
  BalanceScores(resources, rows, scores);
  return {};
}

bool NodeResourcesBalancedAllocation::Sign(const framework::WaitingPod& pod,
                                           framework::Signature& signature) const {
  SignRequests(pod, features_, signature);
  return true;
}

}  // namespace berth::plugins
