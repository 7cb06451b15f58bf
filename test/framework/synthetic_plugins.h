#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "framework/node_plugin.h"
#include "framework/points.h"
#include "framework/profile.h"
#include "framework/queue_points.h"
#include "framework/registry.h"

// Small plugins that each use one part of the contract of views, so that tests of the engine do not depend on
// what real plugins do.
namespace berth::framework::test {

// Kept, reads the row: refuses nodes without room for the pod's cpu.
class RoomFilter final : public Plugin, public PreFilterPoint, public FilterPoint {
 public:
  explicit RoomFilter(const PluginSetup&) {}
  std::string_view Name() const override { return "Room"; }
  std::span<const ReasonText> Reasons() const override;
  std::unique_ptr<Plan> MakePlan(const PlanInput& input) const override;
  // Skips pods that ask for nothing.
  PreFilterResult PreFilter(Cycle& cycle) const override;
  void Filter(const Cycle& cycle, NodeSelection& nodes) const override;
};

// Kept, reads the row and the pod's namespace: a node with the label "owner" takes only pods of that
// namespace.
class OwnerFilter final : public Plugin, public FilterPoint {
 public:
  explicit OwnerFilter(const PluginSetup&) {}
  std::string_view Name() const override { return "Owner"; }
  std::span<const ReasonText> Reasons() const override;
  std::unique_ptr<Plan> MakePlan(const PlanInput& input) const override;
  void AppendScope(Cycle& cycle, Scope& scope) const override;
  void Filter(const Cycle& cycle, NodeSelection& nodes) const override;
};

// Kept, with a state: no zone gets more than twice as many pods as the emptiest one; prefers emptier zones.
// Skips while no pod is in any zone.
class ZoneSpread final : public Plugin,
                         public StatefulPoint,
                         public PreFilterPoint,
                         public FilterPoint,
                         public ScorePoint {
 public:
  explicit ZoneSpread(const PluginSetup&) {}
  std::string_view Name() const override { return "Zones"; }
  std::unique_ptr<Plan> MakePlan(const PlanInput& input) const override;
  std::unique_ptr<State> MakeState(Cycle& cycle) const override;
  void Refresh(Cycle& cycle, State& state, StateChanges& changes) const override;
  PreFilterResult PreFilter(Cycle& cycle) const override;
  void Filter(const Cycle& cycle, NodeSelection& nodes) const override;
  Status Score(const Cycle& cycle, std::span<const cluster::NodeRow> rows,
               std::span<std::int64_t> scores) const override;
  Normalizing normalizing() const override { return Normalizing::kByExtent; }
  void Normalize(const Extent& extent, std::span<std::int64_t> scores) const override;
};

// Kept, scores by the set of feasible nodes: how many of them are in the node's zone. No score without zone.
class FeasibleZones final : public Plugin, public StatefulPoint, public ScorePoint {
 public:
  explicit FeasibleZones(const PluginSetup&) {}
  std::string_view Name() const override { return "FeasibleZones"; }
  std::unique_ptr<Plan> MakePlan(const PlanInput& input) const override;
  std::unique_ptr<State> MakeState(Cycle& cycle) const override;
  void Refresh(Cycle&, State&, StateChanges&) const override {}
  Status PreScore(Cycle& cycle, const FeasibleSet& feasible, ChangedRows& changed) const override;
  bool reads_feasible() const override { return true; }
  Status Score(const Cycle& cycle, std::span<const cluster::NodeRow> rows,
               std::span<std::int64_t> scores) const override;
  Normalizing normalizing() const override { return Normalizing::kByExtent; }
  void Normalize(const Extent& extent, std::span<std::int64_t> scores) const override;
};

// Not kept: declares nothing. Refuses by the pod's name and the node's, which no scope has.
class PairFilter final : public NodeFilter {
 public:
  explicit PairFilter(const PluginSetup&) {}
  std::string_view Name() const override { return "Pairs"; }
  Status FilterNode(const Cycle& cycle, cluster::NodeRow row) const override;
};

// Kept, normalised by the whole column: how many pods are on the node, as a share of all.
class ShareScore final : public Plugin, public ScorePoint {
 public:
  explicit ShareScore(const PluginSetup&) {}
  std::string_view Name() const override { return "Share"; }
  std::unique_ptr<Plan> MakePlan(const PlanInput& input) const override;
  Status PreScore(Cycle& cycle, const FeasibleSet& feasible, ChangedRows& changed) const override;
  bool reads_feasible() const override { return true; }
  Status Score(const Cycle& cycle, std::span<const cluster::NodeRow> rows,
               std::span<std::int64_t> scores) const override;
  Normalizing normalizing() const override { return Normalizing::kByColumn; }
  Status NormalizeColumn(const Cycle& cycle, std::span<const cluster::NodeRow> rows,
                         std::span<std::int64_t> scores) const override;
};

// Room, Owner, Pairs, Zones, FeasibleZones, Share.
Registry SyntheticPlugins();

// Answers as the test says; null: accepts, or scores 0.
struct Script {
  std::function<PreFilterResult(Cycle&)> pre_filter;
  std::function<Status(const Cycle&, cluster::NodeRow)> filter;
  std::function<Status(Cycle&)> pre_score;
  std::function<std::int64_t(const Cycle&, cluster::NodeRow)> score;
};
// A plugin of that name that follows the script, which must outlive it. Never kept.
void AddScripted(Registry& registry, std::string_view name, const Script& script);

}  // namespace berth::framework::test
