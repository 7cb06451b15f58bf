#include "framework/synthetic_plugins.h"

#include <algorithm>
#include <map>

namespace berth::framework::test {
namespace {

using Counts = std::map<std::string, std::int64_t>;

constexpr std::string_view kZone = "topology.kubernetes.io/zone";

// Null: the node is in no zone.
const std::string* ZoneOf(const cluster::Cluster& cluster, cluster::NodeRow row) {
  const cluster::NodeRef& node = cluster.nodes().object(row);
  return node == nullptr ? nullptr : node->metadata.labels.find(kZone);
}

std::int64_t CountOf(const Counts& counts, const std::string& zone) {
  const auto found = counts.find(zone);
  return found == counts.end() ? 0 : found->second;
}

template <class Plan = framework::Plan>
std::unique_ptr<Plan> KeptPlan(Reads filter, Reads score) {
  auto plan = std::make_unique<Plan>();
  plan->filter_reads = filter;
  plan->score_reads = score;
  return plan;
}

struct ZoneState final : State {
  std::size_t MemoryBytes() const override { return counts.size() * 64; }
  bool Refuses(const std::string* zone) const {
    return zone != nullptr && CountOf(counts, *zone) > 2 * smallest + 1;
  }
  Counts counts;  // of every zone that has a node
  std::int64_t smallest = 0;
  bool any = false;
};

void Recount(const cluster::Cluster& cluster, ZoneState& state) {
  state = {};
  cluster.nodes().existing().ForEach([&](std::size_t bit) {
    const cluster::NodeRow row(static_cast<std::uint32_t>(bit));
    const std::string* const zone = ZoneOf(cluster, row);
    if (zone == nullptr) return;
    state.counts[*zone] += static_cast<std::int64_t>(cluster.nodes().pods(row).size());
  });
  if (state.counts.empty()) return;
  state.smallest = std::ranges::min_element(state.counts, {}, [](const auto& c) { return c.second; })->second;
  state.any = std::ranges::any_of(state.counts, [](const auto& count) { return count.second > 0; });
}

struct FeasibleState final : State {
  std::size_t MemoryBytes() const override { return counted.size() * 64; }
  Counts counts;
  std::map<cluster::NodeRow, std::string> counted;  // under which zone a feasible row is counted
};

}  // namespace

std::span<const ReasonText> RoomFilter::Reasons() const {
  static constexpr ReasonText kReasons[] = {{Code::kUnschedulable, "no room"}};
  return kReasons;
}

std::unique_ptr<Plan> RoomFilter::MakePlan(const PlanInput&) const {
  return KeptPlan(Reads::Row(cluster::kResourcesFact), {});
}

PreFilterResult RoomFilter::PreFilter(Cycle& cycle) const {
  if (cycle.requests().milli_cpu == 0) return {.status = Status::Skip()};
  return {};
}

void RoomFilter::Filter(const Cycle& cycle, NodeSelection& nodes) const {
  const cluster::NodeTable& table = cycle.cluster().nodes();
  const auto allocatable = table.allocatable(cluster::kCpu);
  const auto requested = table.requested(cluster::kCpu);
  const std::int64_t wanted = cycle.requests().milli_cpu;
  if (wanted == 0) return;
  nodes.RemoveIf(
      0, [&](cluster::NodeRow row) { return requested[row.index()] + wanted > allocatable[row.index()]; });
}

std::span<const ReasonText> OwnerFilter::Reasons() const {
  static constexpr ReasonText kReasons[] = {{Code::kUnschedulableAndUnresolvable, "owned by another"}};
  return kReasons;
}

std::unique_ptr<Plan> OwnerFilter::MakePlan(const PlanInput&) const {
  return KeptPlan(Reads::Row(cluster::kLabelsFact), {});
}

void OwnerFilter::AppendScope(Cycle& cycle, Scope& scope) const { scope.AddText(cycle.record().namespace_); }

void OwnerFilter::Filter(const Cycle& cycle, NodeSelection& nodes) const {
  nodes.RemoveIf(0, [&](cluster::NodeRow row) {
    const std::string* const owner = cycle.cluster().nodes().object(row)->metadata.labels.find("owner");
    return owner != nullptr && *owner != cycle.record().namespace_;
  });
}

std::unique_ptr<Plan> ZoneSpread::MakePlan(const PlanInput&) const {
  return KeptPlan(Reads::RowAndState(cluster::kLabelsFact), Reads::RowAndState(cluster::kLabelsFact));
}

std::unique_ptr<State> ZoneSpread::MakeState(Cycle&) const { return std::make_unique<ZoneState>(); }

void ZoneSpread::Refresh(Cycle& cycle, State& kept, StateChanges& changes) const {
  auto& state = static_cast<ZoneState&>(kept);
  ZoneState now;
  Recount(cycle.cluster(), now);
  cycle.cluster().nodes().existing().ForEach([&](std::size_t bit) {
    const cluster::NodeRow row(static_cast<std::uint32_t>(bit));
    const std::string* const zone = ZoneOf(cycle.cluster(), row);
    if (zone == nullptr) return;
    if (state.Refuses(zone) != now.Refuses(zone)) changes.verdicts.Add(row);
    if (CountOf(state.counts, *zone) != CountOf(now.counts, *zone)) changes.scores.Add(row);
  });
  state = std::move(now);
}

PreFilterResult ZoneSpread::PreFilter(Cycle& cycle) const {
  if (!cycle.StateOf<ZoneState>(*this).any) return {.status = Status::Skip()};
  return {};
}

void ZoneSpread::Filter(const Cycle& cycle, NodeSelection& nodes) const {
  const auto& state = cycle.StateOf<ZoneState>(*this);
  nodes.Judge([&](cluster::NodeRow row) {
    const std::string* const zone = ZoneOf(cycle.cluster(), row);
    if (!state.Refuses(zone)) return kAccepted;
    return nodes.Intern(Code::kUnschedulable, {{"crowded ", *zone}});
  });
}

Status ZoneSpread::Score(const Cycle& cycle, std::span<const cluster::NodeRow> rows,
                         std::span<std::int64_t> scores) const {
  const auto& state = cycle.StateOf<ZoneState>(*this);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string* const zone = ZoneOf(cycle.cluster(), rows[i]);
    scores[i] = zone == nullptr ? kNoScore : CountOf(state.counts, *zone);
  }
  return {};
}

void ZoneSpread::Normalize(const Extent& extent, std::span<std::int64_t> scores) const {
  NormalizeByMax(extent, Direction::kLowerIsBetter, scores);
}

std::unique_ptr<Plan> FeasibleZones::MakePlan(const PlanInput&) const {
  return KeptPlan({}, Reads::RowAndState(cluster::kLabelsFact));
}

std::unique_ptr<State> FeasibleZones::MakeState(Cycle&) const { return std::make_unique<FeasibleState>(); }

Status FeasibleZones::PreScore(Cycle& cycle, const FeasibleSet& feasible, ChangedRows& changed) const {
  auto& state = cycle.StateOf<FeasibleState>(*this);
  const Counts before = state.counts;
  const auto count = [&](cluster::NodeRow row) {
    const std::string* const zone = ZoneOf(cycle.cluster(), row);
    if (zone == nullptr) return;
    state.counted[row] = *zone;
    ++state.counts[*zone];
  };
  const auto uncount = [&](cluster::NodeRow row) {
    const auto found = state.counted.find(row);
    if (found == state.counted.end()) return;
    --state.counts[found->second];
    state.counted.erase(found);
  };
  if (feasible.rebuilt) {
    state.counts.clear();
    state.counted.clear();
    feasible.rows.ForEach([&](std::size_t bit) { count(cluster::NodeRow(static_cast<std::uint32_t>(bit))); });
  } else {
    for (const cluster::NodeRow row : feasible.left) uncount(row);
    for (const cluster::NodeRow row : feasible.entered) count(row);
    // Rows that stayed feasible and moved to another zone.
    feasible.rows.ForEach([&](std::size_t bit) {
      const cluster::NodeRow row(static_cast<std::uint32_t>(bit));
      uncount(row);
      count(row);
    });
  }
  feasible.rows.ForEach([&](std::size_t bit) {
    const cluster::NodeRow row(static_cast<std::uint32_t>(bit));
    const std::string* const zone = ZoneOf(cycle.cluster(), row);
    if (zone != nullptr && CountOf(before, *zone) != CountOf(state.counts, *zone)) changed.Add(row);
  });
  return {};
}

Status FeasibleZones::Score(const Cycle& cycle, std::span<const cluster::NodeRow> rows,
                            std::span<std::int64_t> scores) const {
  const auto& state = cycle.StateOf<FeasibleState>(*this);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string* const zone = ZoneOf(cycle.cluster(), rows[i]);
    scores[i] = zone == nullptr ? kNoScore : CountOf(state.counts, *zone);
  }
  return {};
}

void FeasibleZones::Normalize(const Extent& extent, std::span<std::int64_t> scores) const {
  NormalizeByMax(extent, Direction::kHigherIsBetter, scores);
}

Status PairFilter::FilterNode(const Cycle& cycle, cluster::NodeRow row) const {
  const std::string_view node = cycle.cluster().nodes().name(row);
  const std::string& pod = cycle.record().name;
  const auto sum = static_cast<unsigned>(pod.back()) + static_cast<unsigned>(node.back());
  if (sum % 5 != 0) return {};
  return Status::Unschedulable("no pair with " + pod);
}

std::unique_ptr<Plan> ShareScore::MakePlan(const PlanInput&) const {
  return KeptPlan({}, Reads::Row(cluster::kPodsFact));
}

Status ShareScore::PreScore(Cycle& cycle, const FeasibleSet& feasible, ChangedRows&) const {
  // Comes and goes, so that totals with and without it are seen.
  if (feasible.count % 3 == 0) return Status::Skip();
  return cycle.record().name.empty() ? Status::Error("no name") : Status();
}

Status ShareScore::Score(const Cycle& cycle, std::span<const cluster::NodeRow> rows,
                         std::span<std::int64_t> scores) const {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    scores[i] = static_cast<std::int64_t>(cycle.cluster().nodes().pods(rows[i]).size());
  }
  return {};
}

Status ShareScore::NormalizeColumn(const Cycle&, std::span<const cluster::NodeRow>,
                                   std::span<std::int64_t> scores) const {
  std::int64_t sum = 0;
  for (const std::int64_t score : scores) sum += score;
  for (std::int64_t& score : scores) score = sum == 0 ? 0 : kScoreMax * score / sum;
  return {};
}

Registry SyntheticPlugins() {
  Registry registry;
  registry.Add<RoomFilter>("Room");
  registry.Add<OwnerFilter>("Owner");
  registry.Add<PairFilter>("Pairs");
  registry.Add<ZoneSpread>("Zones");
  registry.Add<FeasibleZones>("FeasibleZones");
  registry.Add<ShareScore>("Share");
  return registry;
}

namespace {

class Scripted final : public NodeFilter, public PreFilterPoint, public NodeScore {
 public:
  Scripted(std::string_view name, const Script& script) : name_(name), script_(script) {}
  std::string_view Name() const override { return name_; }
  PreFilterResult PreFilter(Cycle& cycle) const override {
    return script_.pre_filter ? script_.pre_filter(cycle) : PreFilterResult{};
  }
  Status FilterNode(const Cycle& cycle, cluster::NodeRow row) const override {
    return script_.filter ? script_.filter(cycle, row) : Status();
  }
  Status PreScore(Cycle& cycle, const FeasibleSet&, ChangedRows&) const override {
    return script_.pre_score ? script_.pre_score(cycle) : Status();
  }
  base::Result<std::int64_t> ScoreNode(const Cycle& cycle, cluster::NodeRow row) const override {
    return script_.score ? script_.score(cycle, row) : 0;
  }

 private:
  const std::string_view name_;
  const Script& script_;
};

}  // namespace

void AddScripted(Registry& registry, std::string_view name, const Script& script) {
  registry.Add(name, [name, &script](const PluginSetup&) -> base::Result<std::unique_ptr<Plugin>> {
    return std::make_unique<Scripted>(name, script);
  });
}

}  // namespace berth::framework::test
