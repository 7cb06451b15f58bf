#include "plugins/node_resources_balanced_allocation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include "absl/container/inlined_vector.h"

#include "api/pod_requests.h"
#include "api/resource_names.h"
#include "plugins/pod_signatures.h"
#include "plugins/resource_allocation.h"
#include "plugins/resource_args.h"

namespace berth::plugins {
namespace {

using Shares = absl::InlinedVector<double, 4>;

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

// 100 for shares that are all equal; the less so the lower.
std::int64_t BalanceOf(const Shares& shares) {
  double deviation = 0;
  if (shares.size() == 2) {
    deviation = std::abs((shares[0] - shares[1]) / 2);
  } else if (shares.size() > 2) {
    double sum = 0;
    for (const double share : shares) sum += share;
    const auto count = static_cast<double>(shares.size());
    const double mean = sum / count;
    double squares = 0;
    for (const double share : shares) squares += (share - mean) * (share - mean);
    deviation = std::sqrt(squares / count);
  }
  return static_cast<std::int64_t>((1 - deviation) * static_cast<double>(framework::kScoreMax));
}

constexpr std::int64_t kHalf = framework::kScoreMax / 2;

std::int64_t ScoreRow(std::span<const ScoredResource> resources, cluster::NodeRow row) {
  Shares before;
  Shares after;
  for (const ScoredResource& resource : resources) {
    if (resource.capacity(row) <= 0) continue;
    const auto capacity = static_cast<double>(resource.capacity(row));
    before.push_back(std::min(1.0, static_cast<double>(resource.before(row)) / capacity));
    after.push_back(std::min(1.0, static_cast<double>(resource.after(row)) / capacity));
  }
  return kHalf + (kHalf + BalanceOf(after) - BalanceOf(before)) / 2;
}

// Two resources that every node counts itself, which is what pods mostly have: the same steps as in general,
// without lists. Rows that lack one of them are left to the general way. A row like the one before, as new
// nodes of one kind are, is not scored again.
class PairScore {
 public:
  explicit PairScore(std::span<const ScoredResource> resources) : resources_(resources) {}
  static bool Fits(std::span<const ScoredResource> resources) {
    return resources.size() == 2 && std::ranges::all_of(resources, [](const ScoredResource& resource) {
             return resource.devices == nullptr && !resource.allocatable.empty();
           });
  }

  std::int64_t operator()(cluster::NodeRow row) {
    const ScoredResource& first = resources_[0];
    const ScoredResource& second = resources_[1];
    const std::int64_t capacities[] = {first.allocatable[row.index()], second.allocatable[row.index()]};
    if (capacities[0] <= 0 || capacities[1] <= 0) return ScoreRow(resources_, row);
    const std::int64_t used[] = {first.used[row.index()], second.used[row.index()]};
    const Inputs inputs{capacities[0], capacities[1], used[0], used[1]};
    if (inputs == last_inputs_) return last_score_;
    last_inputs_ = inputs;
    const auto share = [&](std::int64_t amount, std::size_t i) {
      return std::min(1.0, static_cast<double>(amount) / static_cast<double>(capacities[i]));
    };
    const auto balance = [](double a, double b) {
      return static_cast<std::int64_t>((1 - std::abs((a - b) / 2)) *
                                       static_cast<double>(framework::kScoreMax));
    };
    const std::int64_t before = balance(share(used[0], 0), share(used[1], 1));
    const std::int64_t after =
        balance(share(WrappingAdd(used[0], first.wanted), 0), share(WrappingAdd(used[1], second.wanted), 1));
    return last_score_ = kHalf + (kHalf + after - before) / 2;
  }

 private:
  using Inputs = std::array<std::int64_t, 4>;

  std::span<const ScoredResource> resources_;
  Inputs last_inputs_{};  // no capacity is zero
  std::int64_t last_score_ = 0;
};

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
  if (PairScore::Fits(resources)) {
    PairScore score(resources);
    for (std::size_t i = 0; i < rows.size(); ++i) scores[i] = score(rows[i]);
    return {};
  }
  for (std::size_t i = 0; i < rows.size(); ++i) scores[i] = ScoreRow(resources, rows[i]);
  return {};
}

bool NodeResourcesBalancedAllocation::Sign(const framework::WaitingPod& pod,
                                           framework::Signature& signature) const {
  SignRequests(pod, features_, signature);
  return true;
}

}  // namespace berth::plugins
