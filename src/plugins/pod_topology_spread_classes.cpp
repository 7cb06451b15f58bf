#include <algorithm>
#include <cmath>

#include "plugins/pod_topology_spread.h"
#include "plugins/pod_topology_spread_state.h"

// PodTopologySpread by class of rows.
namespace berth::plugins {
namespace {

// Of a hard constraint whose key is not among those of the class, two bits each.
enum HostState : std::uint64_t { kRoom = 0, kNoLabel = 1, kFull = 2 };
constexpr std::size_t kHardMax = 7;
constexpr unsigned HardShift(std::size_t constraint) {
  return ClassKeys::kFlagsShift + 2 * static_cast<unsigned>(constraint);
}
constexpr std::uint64_t kHasHostname = std::uint64_t{1} << 63;

std::uint64_t HostStateOf(const HardSpread& constraint, const cluster::Cluster& cluster,
                          cluster::NodeRow row) {
  const cluster::DomainId domain = cluster.topology().domain(constraint.key(), row);
  if (!domain.IsValid()) return kNoLabel;
  return constraint.IsFull(cluster.counters(), domain) ? kFull : kRoom;
}

}  // namespace

void SoftSpread::TellByClass() {
  in_class_ = true;
  domain_of_ = {};
  feasible_nodes_ = {};
}

std::size_t SoftSpread::CountDistinct(const cluster::Cluster& cluster, ClassDomains& domains) const {
  std::ranges::sort(domains);
  domains.erase(std::unique(domains.begin(), domains.end()), domains.end());
  std::size_t count = domains.size();
  const bool has_invalid = std::ranges::any_of(domains, [](auto domain) { return !domain.IsValid(); });
  // Nodes without the label share the domain of the empty label.
  if (has_invalid && std::ranges::binary_search(domains, EmptyDomain(cluster)) &&
      EmptyDomain(cluster).IsValid()) {
    --count;
  }
  return count;
}

framework::ClassUse SpreadState::Classes(const cluster::Topology& topology) const {
  using framework::ClassUse;
  if (hard.empty() && soft.empty()) return ClassUse::kNoGain;
  if (hard.size() > kHardMax) return ClassUse::kImpossible;
  ClassKeys keys;
  std::size_t hostnames = 0;
  for (const SoftSpread& each : soft) {
    if (each.is_hostname()) {
      if (++hostnames > 1) return ClassUse::kImpossible;
    } else if (!ClassKeys::HasFewDomains(topology, each.key()) || !keys.Add(each.key())) {
      return ClassUse::kImpossible;
    }
  }
  const auto gains = [&](const HardSpread& each) { return ClassKeys::HasFewDomains(topology, each.key()); };
  return !soft.empty() || std::ranges::any_of(hard, gains) ? ClassUse::kGain : ClassUse::kNoGain;
}

void SpreadState::UseClasses(const cluster::Topology& topology) {
  uses_classes_ = true;
  class_keys_ = {};
  for (SoftSpread& each : soft) {
    if (!each.is_hostname()) class_keys_.Add(each.key());
    each.TellByClass();
  }
  for (HardSpread& each : hard) {
    const bool few = class_keys_.Contains(each.key()) || ClassKeys::HasFewDomains(topology, each.key());
    if (few && class_keys_.Add(each.key())) each.TellByClass();
  }
  entered_ = base::Bitset();
  participants_ = 0;
}

framework::RowClass SpreadState::ClassOf(const cluster::Cluster& cluster, cluster::NodeRow row) const {
  framework::RowClass row_class{class_keys_.Pack(cluster.topology(), row), 0};
  for (std::size_t i = 0; i < hard.size(); ++i) {
    if (!hard[i].in_class()) row_class.place |= HostStateOf(hard[i], cluster, row) << HardShift(i);
  }
  for (const SoftSpread& each : soft) {
    if (!each.is_hostname() || !each.HasKey(cluster.topology(), row)) continue;
    row_class.place |= kHasHostname;
    row_class.value = each.CountFor(cluster, row);
  }
  return row_class;
}

std::optional<framework::ReasonId> SpreadState::JudgeClass(const cluster::Cluster& cluster,
                                                           const framework::RowClass& row_class) const {
  for (std::size_t i = 0; i < hard.size(); ++i) {
    std::uint64_t state = (row_class.place >> HardShift(i)) & 3;
    if (hard[i].in_class()) {
      const cluster::DomainId domain = class_keys_.Domain(row_class, hard[i].key());
      state = !domain.IsValid() ? kNoLabel : hard[i].IsFull(cluster.counters(), domain) ? kFull : kRoom;
    }
    if (state == kNoLabel) return PodTopologySpread::kMissingLabel;
    if (state == kFull) return PodTopologySpread::kSkew;
  }
  return std::nullopt;
}

bool SpreadState::HasKey(const SoftSpread& each, const framework::RowClass& row_class) const {
  if (each.is_hostname()) return (row_class.place & kHasHostname) != 0;
  return class_keys_.Domain(row_class, each.key()).IsValid();
}

bool SpreadState::TakesPart(const framework::RowClass& row_class) const {
  return !require_all ||
         std::ranges::all_of(soft, [&](const SoftSpread& each) { return HasKey(each, row_class); });
}

void SpreadState::WeighClasses(const cluster::Cluster& cluster,
                               std::span<const framework::ClassCount> counts) {
  std::size_t participants = 0;
  for (const framework::ClassCount& each : counts) {
    if (TakesPart(each.row_class)) participants += each.feasible;
  }
  weights_.clear();
  for (const SoftSpread& each : soft) {
    std::size_t domains = participants;
    if (!each.is_hostname()) {
      ClassDomains met;
      for (const framework::ClassCount& count : counts) {
        if (count.feasible > 0 && TakesPart(count.row_class)) {
          met.push_back(class_keys_.Domain(count.row_class, each.key()));
        }
      }
      domains = each.CountDistinct(cluster, met);
    }
    weights_.push_back(GoLog(static_cast<double>(domains + 2)));
  }
}

std::int64_t SpreadState::ScoreClass(const cluster::Cluster& cluster,
                                     const framework::RowClass& row_class) const {
  if (!TakesPart(row_class)) return framework::kNoScore;
  double score = 0;
  for (std::size_t i = 0; i < soft.size(); ++i) {
    if (!HasKey(soft[i], row_class)) continue;
    const std::int64_t count = soft[i].is_hostname()
                                   ? row_class.value
                                   : soft[i].CountIn(cluster, class_keys_.Domain(row_class, soft[i].key()));
    score += static_cast<double>(count) * weights_[i] + static_cast<double>(soft[i].max_skew() - 1);
  }
  return static_cast<std::int64_t>(std::round(score));
}

framework::ClassUse PodTopologySpread::Classes(const framework::Cycle& cycle,
                                               const framework::State& state) const {
  return static_cast<const SpreadState&>(state).Classes(cycle.cluster().topology());
}

void PodTopologySpread::UseClasses(framework::Cycle& cycle, framework::State& state) const {
  static_cast<SpreadState&>(state).UseClasses(cycle.cluster().topology());
}

framework::RowClass PodTopologySpread::ClassOf(const framework::Cycle& cycle, cluster::NodeRow row) const {
  return cycle.StateOf<SpreadState>(*this).ClassOf(cycle.cluster(), row);
}

std::optional<framework::ReasonId> PodTopologySpread::JudgeClass(const framework::Cycle& cycle,
                                                                 const framework::RowClass& row_class) const {
  if (cycle.resize_deferred()) return std::nullopt;
  return cycle.StateOf<SpreadState>(*this).JudgeClass(cycle.cluster(), row_class);
}

framework::Status PodTopologySpread::PreScoreClasses(framework::Cycle& cycle,
                                                     std::span<const framework::ClassCount> counts) const {
  if (framework::Status status = CheckSoft(cycle); !status.IsSuccess()) return status;
  cycle.StateOf<SpreadState>(*this).WeighClasses(cycle.cluster(), counts);
  return {};
}

std::int64_t PodTopologySpread::ScoreClass(const framework::Cycle& cycle,
                                           const framework::RowClass& row_class) const {
  return cycle.StateOf<SpreadState>(*this).ScoreClass(cycle.cluster(), row_class);
}

}  // namespace berth::plugins
