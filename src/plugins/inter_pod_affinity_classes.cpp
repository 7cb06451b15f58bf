#include <algorithm>

#include "plugins/inter_pod_affinity.h"
#include "plugins/inter_pod_affinity_state.h"

// InterPodAffinity by class of rows.
namespace berth::plugins {
namespace {

// What terms by keys outside of the class say of a node.
constexpr std::uint64_t kHasKeys = std::uint64_t{1} << ClassKeys::kFlagsShift;  // of required affinity
constexpr std::uint64_t kIsNear = kHasKeys << 1;                                // required affinity is met
constexpr std::uint64_t kAntiAffinityHere = kHasKeys << 2;
constexpr std::uint64_t kRefusedByPodsHere = kHasKeys << 3;

}  // namespace

template <class F>
void AffinityState::ForEachSource(F&& visit) const {
  for (const DomainSource& source : affinity) visit(source);
  for (const DomainSource& source : anti_affinity.sources()) visit(source);
  for (const DomainSource& source : existing_anti_affinity.sources()) visit(source);
  for (const DomainSource& source : sums.sources()) visit(source);
}

framework::ClassUse AffinityState::Classes(const cluster::Topology& topology) const {
  // Scores by host name take few values as well.
  bool gains = !sums.sources().empty();
  ForEachSource(
      [&](const DomainSource& source) { gains = gains || ClassKeys::HasFewDomains(topology, source.key); });
  return gains ? framework::ClassUse::kGain : framework::ClassUse::kNoGain;
}

void AffinityState::UseClasses(const cluster::Topology& topology) {
  uses_classes_ = true;
  class_keys_ = {};
  ForEachSource([&](const DomainSource& source) {
    if (ClassKeys::HasFewDomains(topology, source.key)) class_keys_.Add(source.key);
  });
}

framework::RowClass AffinityState::ClassOf(const cluster::Cluster& cluster, cluster::NodeRow row) const {
  const cluster::Topology& topology = cluster.topology();
  framework::RowClass row_class{class_keys_.Pack(topology, row), sums.Sum(topology, row, class_keys_)};
  bool has_keys = true;
  bool is_near = true;
  if (host.affinity.id.IsValid()) {
    has_keys = HasHostname(cluster, row);
    is_near = cluster.counters().CountOnNode(host.affinity.id, row) > 0;
  }
  for (const DomainSource& source : affinity) {
    if (class_keys_.Contains(source.key)) continue;
    const cluster::DomainId domain = topology.domain(source.key, row);
    has_keys = has_keys && domain.IsValid();
    is_near = is_near && domain.IsValid() && source.Get(cluster).Count(domain) > 0;
  }
  if (has_keys) row_class.place |= kHasKeys;
  if (is_near) row_class.place |= kIsNear;
  if (anti_affinity.Contains(topology, row, class_keys_) || HasHostAntiAffinity(cluster, row)) {
    row_class.place |= kAntiAffinityHere;
  }
  if (existing_anti_affinity.Contains(topology, row, class_keys_) || IsRefusedOnHost(cluster, row)) {
    row_class.place |= kRefusedByPodsHere;
  }
  return row_class;
}

std::optional<framework::ReasonId> AffinityState::JudgeClass(const cluster::Cluster& cluster,
                                                             const framework::RowClass& row_class) const {
  bool has_keys = (row_class.place & kHasKeys) != 0;
  bool is_near = (row_class.place & kIsNear) != 0;
  for (const DomainSource& source : affinity) {
    if (!class_keys_.Contains(source.key)) continue;
    const cluster::DomainId domain = class_keys_.Domain(row_class, source.key);
    has_keys = has_keys && domain.IsValid();
    is_near = is_near && domain.IsValid() && source.Get(cluster).Count(domain) > 0;
  }
  const bool has_affinity = !affinity.empty() || host.affinity.id.IsValid();
  if (has_affinity && !(has_keys && (is_near || (first_of_group_ && matches_itself)))) {
    return InterPodAffinity::kAffinity;
  }
  if ((row_class.place & kAntiAffinityHere) != 0 || anti_affinity.Contains(class_keys_, row_class)) {
    return InterPodAffinity::kAntiAffinity;
  }
  if ((row_class.place & kRefusedByPodsHere) != 0 ||
      existing_anti_affinity.Contains(class_keys_, row_class)) {
    return InterPodAffinity::kExistingAntiAffinity;
  }
  return std::nullopt;
}

framework::ClassUse InterPodAffinity::Classes(const framework::Cycle& cycle,
                                              const framework::State& state) const {
  return static_cast<const AffinityState&>(state).Classes(cycle.cluster().topology());
}

void InterPodAffinity::UseClasses(framework::Cycle& cycle, framework::State& state) const {
  static_cast<AffinityState&>(state).UseClasses(cycle.cluster().topology());
}

framework::RowClass InterPodAffinity::ClassOf(const framework::Cycle& cycle, cluster::NodeRow row) const {
  return cycle.StateOf<AffinityState>(*this).ClassOf(cycle.cluster(), row);
}

std::optional<framework::ReasonId> InterPodAffinity::JudgeClass(const framework::Cycle& cycle,
                                                                const framework::RowClass& row_class) const {
  if (cycle.resize_deferred()) return std::nullopt;
  return cycle.StateOf<AffinityState>(*this).JudgeClass(cycle.cluster(), row_class);
}

framework::Status InterPodAffinity::PreScoreClasses(framework::Cycle& cycle,
                                                    std::span<const framework::ClassCount>) const {
  return CheckScore(cycle);
}

std::int64_t InterPodAffinity::ScoreClass(const framework::Cycle& cycle,
                                          const framework::RowClass& row_class) const {
  return cycle.StateOf<AffinityState>(*this).ScoreClass(row_class);
}

}  // namespace berth::plugins
