#include "plugins/node_resources_fit.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"

#include "api/pod_requests.h"
#include "api/resource_names.h"
#include "plugins/pod_signatures.h"
#include "plugins/resource_allocation.h"
#include "plugins/resource_args.h"
#include "plugins/resource_columns.h"

namespace berth::plugins {
namespace {

constexpr std::string_view kTooManyPods = "Too many pods";
constexpr std::string_view kInsufficient = "Insufficient ";

struct RequestedResource {
  std::string name;
  std::int64_t amount = 0;
  bool may_be_devices = false;
};

struct FitPlan final : framework::Plan {
  std::vector<RequestedResource>
      requested;                     // cpu, memory, ephemeral-storage, then scalars by name; none zero
  bool asks_for_devices = false;     // some requested resource may be one that devices serve
  std::vector<std::int64_t> scored;  // by position in the strategy
  bool scores_devices = false;       // some of them may be devices
  // What a node lacks, as bits (see Shortage), to the words for it.
  absl::flat_hash_map<std::uint64_t, framework::RejectionId> refusals;
};

// What is lacking: bit 0 stands for pods, bit i + 1 for the i-th requested resource, the last bit for a lack
// that no eviction can mend. A pod that asks for more resources than there are bits is judged without the
// table.
using Shortage = std::uint64_t;
constexpr Shortage kPodsBit = 1;
constexpr Shortage kUnresolvableBit = Shortage{1} << 63;
constexpr std::size_t kResourceBits = 62;

// A requested resource with its columns; none: no node has any, no pod uses any.
struct Demand {
  cluster::AmountColumn allocatable;
  cluster::AmountColumn used;
  std::int64_t more = 0;   // to be found free
  std::int64_t whole = 0;  // more than this the node must have at all
  // Of a node that has none of it, devices are asked instead.
  bool devices_instead = false;

  std::int64_t capacity(cluster::NodeRow row) const { return allocatable[row.index()]; }
  std::int64_t free(cluster::NodeRow row) const {
    return WrappingSubtract(allocatable[row.index()], used[row.index()]);
  }
  bool IsShortOn(cluster::NodeRow row) const {
    return more > free(row) && !(devices_instead && capacity(row) <= 0);
  }
  // Of up to 64 rows from a multiple of that on, those that have too little themselves, as bits.
  std::uint64_t ShortOf(std::size_t first, std::size_t count) const {
    static_assert(cluster::AmountColumn::kRunRows == 64);
    if (!allocatable.exists()) return ~std::uint64_t{0};
    cluster::AmountColumn::Room offered_room;
    cluster::AmountColumn::Room taken_room;
    const std::int64_t* const offered = allocatable.Run(first, count, offered_room);
    const std::int64_t* const taken = used.Run(first, count, taken_room);
    std::uint64_t rows = 0;
    for (std::size_t i = 0; i < count; ++i) {
      rows |= std::uint64_t{more > WrappingSubtract(offered[i], taken[i])} << i;
    }
    return rows;
  }
};
using Demands = absl::InlinedVector<Demand, 4>;

// What scores by devices are up to date with.
struct ScoredDevices final : framework::State {
  dra::DeviceState::Version version;
  std::vector<std::shared_ptr<const api::DeviceClass>> classes;  // as the resources of the arguments

  std::size_t MemoryBytes() const override { return sizeof(*this) + classes.capacity() * sizeof(classes[0]); }
};

std::int64_t AmountIn(const cluster::Requests& requests, cluster::ResourceId resource) {
  if (resource == cluster::kCpu) return requests.milli_cpu;
  if (resource == cluster::kMemory) return requests.memory;
  if (resource == cluster::kEphemeralStorage) return requests.ephemeral_storage;
  const auto found = std::ranges::find(requests.scalars, resource, &cluster::ResourceAmount::resource);
  return found == requests.scalars.end() ? 0 : found->amount;
}

// Which of the requested resources a DeviceClass offers, as bits.
std::uint64_t OfferedByDevices(const FitPlan& plan, const dra::DeviceState& devices) {
  if (!plan.asks_for_devices || devices.extended_names().empty()) return 0;
  std::uint64_t offered = 0;
  for (std::size_t i = 0; i < std::min(plan.requested.size(), kResourceBits); ++i) {
    const RequestedResource& requested = plan.requested[i];
    if (requested.may_be_devices && devices.extended_names().Find(requested.name) != nullptr) {
      offered |= std::uint64_t{1} << i;
    }
  }
  return offered;
}

// `counted`: what the node counts for this pod already; null for a pod that is not there.
Demands DemandsOf(const FitPlan& plan, const cluster::Cluster& cluster, std::uint64_t offered_by_devices,
                  const cluster::Requests* counted) {
  Demands demands;
  for (const RequestedResource& requested : plan.requested) {
    Demand demand;
    demand.devices_instead =
        demands.size() < kResourceBits && ((offered_by_devices >> demands.size()) & 1) != 0;
    demand.more = demand.whole = requested.amount;
    // Ids of scalar resources come and go with the nodes and pods that name them.
    const cluster::ResourceId id = cluster.resources().Find(requested.name);
    if (id.IsValid()) {
      demand.allocatable = cluster.nodes().allocatable(id);
      demand.used = cluster.nodes().requested(id);
    }
    if (counted != nullptr && id.IsValid()) {
      demand.more = std::max<std::int64_t>(0, WrappingSubtract(requested.amount, AmountIn(*counted, id)));
      const bool is_scalar = id.value() > cluster::kPods.value();
      if (is_scalar) demand.whole = demand.more;
      // The node may be over its capacity by what others use; of a scalar that does not grow this is no
      // matter.
      if (is_scalar && demand.more == 0) demand = {};
    }
    demands.push_back(demand);
  }
  return demands;
}

// Judges rows for pods of one plan; calls nodes.Intern for combinations that were not met yet.
class FitJudge {
 public:
  FitJudge(FitPlan& plan, const cluster::Cluster& cluster, framework::NodeSelection& nodes)
      : plan_(plan),
        nodes_(nodes),
        pod_count_(cluster.nodes().pod_count()),
        pod_limit_(cluster.nodes().pod_limit()) {}

  framework::RejectionId Judge(const Demands& demands, cluster::NodeRow row) {
    const bool full = std::int64_t{pod_count_[row.index()]} + 1 > pod_limit_[row.index()];
    const auto lacks = [&](const Demand& demand) { return demand.IsShortOn(row); };
    if (!full && std::ranges::none_of(demands, lacks)) return framework::kAccepted;

    Shortage shortage = full ? kPodsBit : 0;
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (!lacks(demands[i])) continue;
      if (i < kResourceBits) shortage |= Shortage{2} << i;
      if (demands[i].whole > demands[i].capacity(row)) shortage |= kUnresolvableBit;
    }
    if (demands.size() > kResourceBits) return Refuse(demands, row, full, shortage);
    const auto [entry, is_new] = plan_.refusals.try_emplace(shortage);
    if (is_new) entry->second = Refuse(demands, row, full, shortage);
    return entry->second;
  }

  // Of up to 64 rows from a multiple of that on, those that have too little of something, as bits.
  std::uint64_t MayLack(const Demands& demands, std::size_t first, std::size_t count) const {
    std::uint64_t lacks = 0;
    for (std::size_t i = 0; i < count; ++i) {
      lacks |= std::uint64_t{pod_count_[first + i] >= pod_limit_[first + i]} << i;
    }
    for (const Demand& demand : demands) lacks |= demand.ShortOf(first, count);
    return lacks;
  }

 private:
  framework::RejectionId Refuse(const Demands& demands, cluster::NodeRow row, bool full, Shortage shortage) {
    std::vector<framework::Reason> reasons;
    if (full) reasons.push_back({kTooManyPods, {}});
    for (std::size_t i = 0; i < demands.size(); ++i) {
      if (demands[i].IsShortOn(row)) {
        reasons.push_back({kInsufficient, plan_.requested[i].name});
      }
    }
    const bool unresolvable = (shortage & kUnresolvableBit) != 0;
    return nodes_.Intern(
        unresolvable ? framework::Code::kUnschedulableAndUnresolvable : framework::Code::kUnschedulable,
        std::move(reasons));
  }

  FitPlan& plan_;
  framework::NodeSelection& nodes_;
  std::span<const std::int32_t> pod_count_;
  std::span<const std::int64_t> pod_limit_;
};

}  // namespace

base::Result<std::unique_ptr<framework::Plugin>> NodeResourcesFit::Make(const framework::PluginSetup& setup) {
  if (auto valid = Validate(setup.args.node_resources_fit); !valid) return std::unexpected(valid.error());
  return std::unique_ptr<framework::Plugin>(new NodeResourcesFit(setup));
}

NodeResourcesFit::NodeResourcesFit(const framework::PluginSetup& setup)
    : args_(setup.args.node_resources_fit),
      features_(setup.features),
      devices_(setup.cluster.UseExtension<dra::DeviceState>()),
      device_counts_(std::make_unique<DeviceCountsTable>(devices_)) {}

NodeResourcesFit::~NodeResourcesFit() = default;

bool NodeResourcesFit::IsOfferedByDevices(std::string_view resource) const {
  return features_.dra_extended_resource && dra::MayBeServedByDevices(resource) &&
         devices_.extended_names().Find(resource) != nullptr;
}

bool NodeResourcesFit::IsIgnored(std::string_view resource) const {
  if (!api::IsExtendedResource(resource)) return false;
  const std::string_view group = resource.substr(0, resource.find('/'));
  return std::ranges::find(args_.ignored_resources, resource) != args_.ignored_resources.end() ||
         std::ranges::find(args_.ignored_resource_groups, group) != args_.ignored_resource_groups.end();
}

std::unique_ptr<framework::Plan> NodeResourcesFit::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<FitPlan>();
  const api::PodResourceView view(input.spec);
  // Not the requests that nodes count for the pod: a status that an earlier life of the pod left is no
  // demand.
  const api::ResourceVector wanted = api::PendingPodRequests(view, features_.ForResources());
  const auto add = [&](std::string_view name, std::int64_t amount) {
    if (amount <= 0) return;
    const bool may_be_devices = features_.dra_extended_resource && dra::MayBeServedByDevices(name);
    plan->requested.push_back({std::string(name), amount, may_be_devices});
    plan->asks_for_devices = plan->asks_for_devices || may_be_devices;
  };
  add(api::kCpu, wanted.milli_cpu);
  add(api::kMemory, wanted.memory);
  add(api::kEphemeralStorage, wanted.ephemeral_storage);
  for (const auto& [name, amount] : wanted.scalars) {
    if (!IsIgnored(name)) add(name, amount);
  }
  plan->filter_reads = framework::Reads::Alike(cluster::kResourcesFact | cluster::kPodsFact);

  plan->scored = AmountsOf(FitScoreRequests(view), args_.resources);
  plan->score_reads = framework::Reads::Alike(cluster::kResourcesFact);
  for (std::size_t i = 0; i < plan->scored.size(); ++i) {
    // How many devices there are and are free is no fact of a node's row.
    const bool by_devices =
        features_.dra_extended_resource && dra::MayBeServedByDevices(args_.resources[i].name);
    if (!by_devices || plan->scored[i] == 0) continue;
    plan->scores_devices = true;
    plan->score_reads = framework::Reads::RowAndState(cluster::kResourcesFact);
  }
  return plan;
}

std::unique_ptr<framework::State> NodeResourcesFit::MakeState(framework::Cycle& cycle) const {
  if (!cycle.PlanOf<FitPlan>(*this).scores_devices) return nullptr;
  return std::make_unique<ScoredDevices>();
}

void NodeResourcesFit::Refresh(framework::Cycle&, framework::State& state,
                               framework::StateChanges& changes) const {
  auto& seen = static_cast<ScoredDevices&>(state);
  // Which class offers a resource, and what it selects, is asked every time: there are few.
  bool is_same = true;
  seen.classes.resize(args_.resources.size());
  for (std::size_t i = 0; i < args_.resources.size(); ++i) {
    const std::string* const name = devices_.extended_names().Find(args_.resources[i].name);
    std::shared_ptr<const api::DeviceClass> now = name == nullptr ? nullptr : devices_.FindClass(*name);
    is_same = is_same && seen.classes[i] == now;
    seen.classes[i] = std::move(now);
  }
  const dra::DeviceState::Version now = devices_.version();
  is_same =
      is_same && devices_.RowsSince(seen.version, [&](cluster::NodeRow row) { changes.scores.Add(row); });
  if (!is_same) changes.scores.AddAll();
  seen.version = now;
}

cluster::NodeRow NodeResourcesFit::ResizedInPlace(const framework::Cycle& cycle) const {
  if (!features_.in_place_pod_vertical_scaling_scheduler_preemption) return {};
  if (cycle.record().node_name.empty()) return {};
  return cycle.cluster().pods().row(cycle.pod());
}

bool NodeResourcesFit::AsksForSums(const framework::Cycle& cycle, std::vector<Asked>& asked) const {
  const auto& plan = cycle.PlanOf<FitPlan>(*this);
  if (ResizedInPlace(cycle).IsValid() || OfferedByDevices(plan, devices_) != 0) return false;
  for (const RequestedResource& requested : plan.requested) {
    const cluster::ResourceId id = cycle.cluster().resources().Find(requested.name);
    if (!id.IsValid()) return false;
    asked.push_back({id, requested.amount});
  }
  return true;
}

void NodeResourcesFit::AppendScope(framework::Cycle& cycle, framework::Scope& scope) const {
  // Device classes may come and go while a plan lives.
  const auto& plan = cycle.PlanOf<FitPlan>(*this);
  if (plan.asks_for_devices) scope.Add(OfferedByDevices(plan, devices_));
  if (!features_.in_place_pod_vertical_scaling_scheduler_preemption) return;
  const cluster::NodeRow own = ResizedInPlace(cycle);
  scope.Add(own.IsValid() ? cycle.cluster().nodes().Version(own) : base::Versioned<cluster::NodeRow>());
}

void NodeResourcesFit::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  auto& plan = cycle.PlanOf<FitPlan>(*this);
  const cluster::Cluster& cluster = cycle.cluster();
  FitJudge judge(plan, cluster, nodes);
  const std::uint64_t offered = OfferedByDevices(plan, devices_);
  const Demands demands = DemandsOf(plan, cluster, offered, nullptr);
  const cluster::NodeRow own = ResizedInPlace(cycle);
  if (!own.IsValid()) {
    nodes.JudgeSuspects(
        [&](std::size_t first, std::size_t count) { return judge.MayLack(demands, first, count); },
        [&](cluster::NodeRow row) { return judge.Judge(demands, row); });
    return;
  }
  const Demands growth = DemandsOf(plan, cluster, offered, &cycle.requests());
  nodes.Judge([&](cluster::NodeRow row) { return judge.Judge(row == own ? growth : demands, row); });
}

bool NodeResourcesFit::LeaveCandidates(const framework::Cycle& cycle, base::Bitset& rows) const {
  const auto& plan = cycle.PlanOf<FitPlan>(*this);
  const cluster::Cluster& cluster = cycle.cluster();
  if (ResizedInPlace(cycle).IsValid()) return false;
  const Demands demands = DemandsOf(plan, cluster, OfferedByDevices(plan, devices_), nullptr);
  bool is_any = false;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const cluster::ResourceId id = cluster.resources().Find(plan.requested[i].name);
    if (!id.IsValid() || id.value() <= cluster::kPods.value() || demands[i].devices_instead) continue;
    const std::span<std::uint64_t> words = rows.words();
    for (std::size_t index = 0; index < words.size(); ++index) {
      if (words[index] == 0) continue;
      const std::size_t first = index * 64;
      words[index] &= ~demands[i].ShortOf(first, std::min<std::size_t>(64, rows.size() - first));
    }
    is_any = true;
  }
  return is_any;
}

framework::Status NodeResourcesFit::Score(const framework::Cycle& cycle,
                                          std::span<const cluster::NodeRow> rows,
                                          std::span<std::int64_t> scores) const {
  if (args_.resources.empty()) return framework::Status::Error("resources not found");
  const auto& plan = cycle.PlanOf<FitPlan>(*this);
  const ScoredResources resources = ResourcesToScore(
      cycle.cluster(), args_.resources, plan.scored, Usage::kNonZero,
      features_.dra_extended_resource ? DevicesOfResources{.state = &devices_, .counts = device_counts_.get()}
                                      : DevicesOfResources{});
  const auto fill = [&](auto&& score_of) {
    for (std::size_t i = 0; i < rows.size(); ++i) scores[i] = score_of(rows[i]);
  };
  switch (args_.strategy) {
    case framework::ScoringStrategyType::kLeastAllocated:
      LeastAllocatedScores(resources, rows, scores);
      break;
    case framework::ScoringStrategyType::kMostAllocated:
      fill([&](cluster::NodeRow row) { return MostAllocatedScore(resources, row); });
      break;
    case framework::ScoringStrategyType::kRequestedToCapacityRatio:
      fill([&](cluster::NodeRow row) { return RequestedToCapacityRatioScore(resources, args_.shape, row); });
      break;
  }
  return {};
}

bool NodeResourcesFit::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  const api::ResourceVector wanted = PendingRequests(pod.record());
  const bool asks_for_devices = std::ranges::any_of(wanted.scalars, [&](const auto& scalar) {
    return scalar.second != 0 && IsOfferedByDevices(scalar.first);
  });
  if (asks_for_devices) return false;
  SignRequests(pod, features_, signature);
  return true;
}

}  // namespace berth::plugins
