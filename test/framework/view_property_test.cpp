#include <memory>
#include <rapidcheck.h>
#include <string>
#include <vector>

#include "gtest/gtest.h"

#include "cluster/history.h"
#include "framework/engine_bed.h"
#include "framework/synthetic_plugins.h"
#include "plugins/all_plugins.h"
#include "support/builders.h"

// Two engines look at one cluster through the same histories: one keeps views, the other decides from scratch
// every time. They must agree in everything, whatever happened in between, and the one with views checks
// itself as well.
namespace berth::framework {
namespace {

using berth::test::MakePod;
using berth::test::MakeSelector;
using berth::test::MakeTerm;
using cluster::NodeRow;
using cluster::PodSlot;
using cluster::test::Event;
using test::EngineBed;

constexpr const char* kZone = "topology.kubernetes.io/zone";
constexpr const char* kHost = "kubernetes.io/hostname";

api::TopologySpreadConstraint Constraint(std::string key, std::string when) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = 1;
  constraint.topology_key = std::move(key);
  constraint.when_unsatisfiable = std::move(when);
  constraint.label_selector = api::LabelSelector(MakeSelector().Label("app", "a"));
  return constraint;
}

// Pods that ask, beside those of the history: one of every kind that plugins tell apart, each twice, so that
// views are shared.
std::vector<berth::test::PodBuilder> Askers() {
  std::vector<berth::test::PodBuilder> pods;
  for (int copy = 0; copy < 2; ++copy) {
    for (int kind = 0; kind < 10; ++kind) {
      const std::string name = "ask" + std::to_string(copy) + std::to_string(kind);
      auto pod = MakePod(name);
      pod.Namespace("ns" + std::to_string(kind % 2)).Cpu("1").Priority(1);
      if (kind % 4 != 3) pod.Label("app", kind % 2 == 0 ? "a" : "b");
      if (kind == 1) pod.Spread(Constraint(kZone, "DoNotSchedule"));
      if (kind == 2)
        pod.Spread(Constraint(kZone, "ScheduleAnyway")).Spread(Constraint(kHost, "ScheduleAnyway"));
      if (kind == 3) pod.AntiAffinity(MakeTerm(kHost).Label("app", "a"));
      if (kind == 4) pod.Affinity(MakeTerm(kZone).Label("app", "a"));
      if (kind == 5) pod.PreferAffinity(5, MakeTerm(kZone).Label("app", "b")).HostPort(80);
      if (kind == 6)
        pod.Tolerate(
            {.key = "gone", .operator_ = "Exists", .value = {}, .effect = {}, .toleration_seconds = {}});
      if (kind == 7) pod.NodeSelector("fast", "yes").Request("example.com/gpu", "1");
      if (kind == 8) pod.Container("img-1").Cpu("2");
      pods.push_back(pod);
    }
  }
  return pods;
}

// Pods of topology alone, each kind often, so that their views are kept and told by class.
std::vector<berth::test::PodBuilder> TopologyAskers() {
  std::vector<berth::test::PodBuilder> pods;
  for (int copy = 0; copy < 3; ++copy) {
    for (int kind = 0; kind < 7; ++kind) {
      auto pod = MakePod("ask" + std::to_string(copy) + std::to_string(kind));
      pod.Namespace("ns0").Label("app", "a").Cpu("1").Priority(1);
      const auto by_zone = MakeTerm(kZone).Label("app", "a");
      if (kind == 0) pod.Spread(Constraint(kZone, "DoNotSchedule"));
      if (kind == 1) {
        pod.Spread(Constraint(kHost, "ScheduleAnyway")).Spread(Constraint(kZone, "ScheduleAnyway"));
      }
      if (kind == 2) {
        pod.Spread(Constraint(kZone, "DoNotSchedule")).Spread(Constraint(kHost, "DoNotSchedule"));
        pod.Spread(Constraint(kZone, "ScheduleAnyway"));
      }
      if (kind == 3) pod.Affinity(by_zone);
      if (kind == 4) pod.PreferAffinity(5, by_zone).PreferAntiAffinity(3, MakeTerm(kHost).Label("app", "a"));
      if (kind == 5) pod.AntiAffinity(by_zone).PreferAffinity(1, MakeTerm(kHost).Label("app", "b"));
      if (kind == 6) {
        pod.Spread(Constraint(kZone, "DoNotSchedule")).PreferAffinity(7, by_zone);
        pod.PreferNodes(9, {.match_expressions = {{.key = "fast", .operator_ = "Exists", .values = {}}},
                            .match_fields = {}});
      }
      pods.push_back(pod);
    }
  }
  return pods;
}

std::string TextOf(const Outcome& outcome, const cluster::Cluster& cluster) {
  if (const auto* decision = std::get_if<Decision>(&outcome)) {
    return std::string(cluster.nodes().name(decision->row)) + " of " + std::to_string(decision->feasible);
  }
  if (const auto* diagnosis = std::get_if<Diagnosis>(&outcome)) {
    std::string text = FitErrorMessage(*diagnosis);
    for (const std::string& plugin : diagnosis->unschedulable_plugins) text += ' ' + plugin;
    return text;
  }
  return std::get<Status>(outcome).Message();
}

class Comparison {
 public:
  Comparison(const Registry& registry, const std::vector<EnabledPlugin>& plugins, EngineOptions options = {},
             const std::vector<berth::test::PodBuilder>& askers = Askers())
      : warm_(cluster_, registry, plugins, options), cold_(cluster_, registry, plugins, Cold(options)) {
    for (const auto& pod : askers) askers_.push_back(*cluster_.SetPending(pod.Record()));
  }

  std::size_t attempts_by_class() const { return attempts_by_class_; }
  std::size_t attempts_by_kind() const { return attempts_by_kind_; }

  void Apply(const Event& event) {
    cluster::test::Apply(event, cluster_, model_);
    const PodSlot pod = askers_[event.how % askers_.size()];
    Release(pod);
    Ask(pod, event);
    if (event.kind % 5 == 0) Ask(askers_[(event.how + 10) % askers_.size()], event);
  }

 private:
  static EngineOptions Cold(EngineOptions options) {
    options.views.memory_bytes_max = 0;
    return options;
  }

  void Release(PodSlot pod) {
    if (cluster_.pods().state(pod) == cluster::PodState::kPending) return;
    const std::string node(cluster_.nodes().name(cluster_.pods().row(pod)));
    RC_ASSERT(cluster_.Forget(cluster_.pods().record(pod).uid, node).has_value());
  }

  void Ask(PodSlot pod, const Event& event) {
    if (cluster_.pods().state(pod) != cluster::PodState::kPending) return;
    const Outcome warm = warm_.Schedule(pod);
    const View* const view = warm_.engine().view();
    if (view != nullptr && view->has_groups()) ++attempts_by_class_;
    if (view != nullptr && view->by_kind()) ++attempts_by_kind_;
    const std::string text = TextOf(warm, cluster_);
    const Outcome cold = cold_.Schedule(pod);
    RC_ASSERT(text == TextOf(cold, cluster_));
    if (event.where % 3 == 0) Speculate(event);
    if (event.where % 2 == 1) return;
    // Half of the decisions are carried out.
    if (const auto* decision = std::get_if<Decision>(&warm)) {
      const std::string node(cluster_.nodes().name(decision->row));
      RC_ASSERT(cluster_.Assume(pod, node).has_value());
    }
  }

  // As preemption does, inside the attempt that has just failed or not.
  void Speculate(const Event& event) {
    cluster::Speculation trial(cluster_);
    for (std::uint8_t i = 0; i < 3; ++i) {
      const auto shift = static_cast<std::uint8_t>(event.who + i);
      cluster::test::ApplySpeculatively({event.how, shift, shift, event.where}, cluster_, trial);
      for (std::uint32_t bit = 0; bit < cluster_.nodes().row_count(); ++bit) {
        const NodeRow row(bit);
        if (!cluster_.nodes().exists(row)) continue;
        // After a failed PreFilter there is an attempt, too; only an error leaves none.
        RC_ASSERT(warm_.engine().FilterRow(row, Nominations::kCount) ==
                  cold_.engine().FilterRow(row, Nominations::kCount));
      }
    }
  }

  cluster::Cluster cluster_;
  cluster::test::NaiveModel model_;
  EngineBed warm_;
  EngineBed cold_;
  std::vector<PodSlot> askers_;
  std::size_t attempts_by_class_ = 0;
  std::size_t attempts_by_kind_ = 0;
};

std::size_t attempts_by_kind = 0;  // of all comparisons

bool Agree(const char* what, const Registry& registry, const std::vector<EnabledPlugin>& plugins,
           const EngineOptions& options = {}) {
  return rc::check(what, [&] {
    const auto history = *cluster::test::AnyHistory();
    Comparison comparison(registry, plugins, options);
    // A cluster that has something to decide about from the first event on.
    comparison.Apply({0, 0, 0, 1});
    comparison.Apply({0, 1, 1, 2});
    for (const Event& event : history) comparison.Apply(event);
    attempts_by_kind += comparison.attempts_by_kind();
  });
}

TEST(ViewProperty, SyntheticPluginsDecideAlikeWarmAndCold) {
  EXPECT_TRUE(
      Agree("synthetic", test::SyntheticPlugins(),
            {{"Room", 0}, {"Owner", 0}, {"Pairs", 0}, {"Zones", 2}, {"FeasibleZones", 1}, {"Share", 3}}));
}

TEST(ViewProperty, OrderOfFiltersDoesNotMatter) {
  EXPECT_TRUE(
      Agree("reversed", test::SyntheticPlugins(),
            {{"Share", 0}, {"FeasibleZones", 0}, {"Zones", 0}, {"Pairs", 0}, {"Owner", 0}, {"Room", 0}}));
}

TEST(ViewProperty, SmallBudgetOfViewsDecidesAlike) {
  EXPECT_TRUE(Agree("small budget", test::SyntheticPlugins(),
                    {{"Room", 0}, {"Zones", 2}, {"FeasibleZones", 1}}, {.views = {.memory_bytes_max = 1}}));
}

std::vector<EnabledPlugin> KnownDefaults(const Registry& registry) {
  std::vector<EnabledPlugin> plugins = DefaultPlugins(Features::Upstream());
  std::erase_if(plugins, [&](const EnabledPlugin& plugin) { return !registry.Contains(plugin.name); });
  return plugins;
}

TEST(ViewProperty, DefaultPluginsDecideAlikeWarmAndCold) {
  const Registry registry = plugins::AllPlugins();
  attempts_by_kind = 0;
  EXPECT_TRUE(Agree("default plugins", registry, KnownDefaults(registry)));
  EXPECT_GT(attempts_by_kind, 100u);
}

TEST(ViewProperty, TopologyIsDecidedAlikeByClassAndByRow) {
  const Registry registry = plugins::AllPlugins();
  std::size_t attempts_by_class = 0;
  EXPECT_TRUE(rc::check("by class", [&] {
    const auto history = *cluster::test::AnyHistory();
    Comparison comparison(registry, KnownDefaults(registry), {}, TopologyAskers());
    for (std::uint8_t node = 0; node < 4; ++node) comparison.Apply({0, node, node, node});
    for (const Event& event : history) {
      // The same kind several times, which is what makes a view worth keeping.
      for (std::uint8_t copy = 0; copy < 3; ++copy) {
        comparison.Apply(
            {event.kind, event.who, event.where, static_cast<std::uint8_t>(event.how % 7 + 7 * copy)});
      }
    }
    attempts_by_class += comparison.attempts_by_class();
  }));
  EXPECT_GT(attempts_by_class, 100u);
}

}  // namespace
}  // namespace berth::framework
