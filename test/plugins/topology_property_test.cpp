#include <algorithm>
#include <cstdint>
#include <gtest/gtest.h>
#include <map>
#include <rapidcheck.h>
#include <string>
#include <utility>
#include <vector>

#include "cluster/history.h"
#include "plugins/naive_topology.h"
#include "plugins/topology_harness.h"
#include "support/builders.h"

// Whatever happens to a cluster: what a plugin says from what it kept, what it says from scratch and what the
// written rules say are the same.
namespace berth::plugins::test {
namespace {

using berth::test::MakePod;
using berth::test::MakeSelector;
using berth::test::MakeTerm;
using berth::test::PodBuilder;
using cluster::test::AnyHistory;
using cluster::test::Event;
using cluster::test::History;

using berth::test::kHost;
using berth::test::kZone;

api::TopologySpreadConstraint AppConstraint(const char* key, const char* action, std::int32_t max_skew = 1) {
  api::TopologySpreadConstraint constraint;
  constraint.max_skew = max_skew;
  constraint.topology_key = key;
  constraint.when_unsatisfiable = action;
  constraint.label_selector = MakeSelector().Expression("app", "In", {"a", "b"});
  return constraint;
}

PodBuilder Waiting(int number) {
  return MakePod("q" + std::to_string(number)).Namespace("ns" + std::to_string(number % 3)).Label("app", "a");
}

std::vector<PodBuilder> SpreadPods() {
  std::vector<PodBuilder> pods;
  const auto add = [&]() -> PodBuilder& { return pods.emplace_back(Waiting(static_cast<int>(pods.size()))); };
  add().Spread(AppConstraint(kZone, "DoNotSchedule"));
  add().Spread(AppConstraint(kZone, "DoNotSchedule", 2)).Spread(AppConstraint(kHost, "DoNotSchedule"));
  auto picky = AppConstraint(kHost, "DoNotSchedule");
  picky.min_domains = 4;
  picky.node_taints_policy = "Honor";
  add().Spread(picky).Spread(AppConstraint(kZone, "ScheduleAnyway", 2)).NodeSelector("fast", "yes");
  auto everything = AppConstraint(kZone, "DoNotSchedule");
  everything.label_selector = MakeSelector();
  add().Spread(everything);
  auto keyed = AppConstraint(kZone, "DoNotSchedule");
  keyed.match_label_keys = {"tier", "absent"};
  keyed.node_affinity_policy = "Ignore";
  add().Label("tier", "t0").Spread(keyed).NodeSelector("fast", "yes");
  add().Spread(AppConstraint(kZone, "ScheduleAnyway"));
  add().Spread(AppConstraint(kZone, "ScheduleAnyway", 3)).Spread(AppConstraint(kHost, "ScheduleAnyway", 2));
  auto tolerant = AppConstraint(kZone, "ScheduleAnyway");
  tolerant.node_taints_policy = "Honor";
  add().Spread(tolerant).NodeSelector("fast", "yes");
  auto nothing = AppConstraint(kZone, "DoNotSchedule");
  nothing.label_selector.reset();
  add().Spread(nothing).Spread(AppConstraint(kHost, "ScheduleAnyway"));
  for (int i = 0; i < 3; ++i) add();  // spread by defaults, if a Service selects them
  return pods;
}

std::vector<PodBuilder> AffinityPods() {
  std::vector<PodBuilder> pods;
  const auto add = [&]() -> PodBuilder& { return pods.emplace_back(Waiting(static_cast<int>(pods.size()))); };
  add();
  add().Label("tier", "t0");
  add().Affinity(MakeTerm(kZone).Label("app", "a"));
  add().Affinity(MakeTerm(kZone).Label("app", "b").Namespaces({"ns1", "ns2"}));
  add()
      .Affinity(MakeTerm(kZone).Selector(MakeSelector().Expression("app", "Exists")))
      .Affinity(MakeTerm(kHost).Label("app", "a"));
  add().AntiAffinity(MakeTerm(kHost).Label("app", "a"));
  add()
      .AntiAffinity(MakeTerm(kZone).Label("tier", "t1").NamespaceSelector(MakeSelector()))
      .AntiAffinity(MakeTerm(kHost).Label("app", "b"));
  add()
      .Affinity(MakeTerm(kZone).Label("app", "a").NamespaceSelector(MakeSelector().Label("team", "x")))
      .AntiAffinity(MakeTerm(kHost).Selector(MakeSelector().Expression("tier", "Exists")));
  add()
      .PreferAffinity(5, MakeTerm(kZone).Label("app", "a"))
      .PreferAntiAffinity(3, MakeTerm(kHost).Label("app", "b"));
  add().PreferAntiAffinity(
      7,
      MakeTerm(kZone).Label("app", "a").NamespaceSelector(MakeSelector().Expression("team", "NotIn", {"x"})));
  add().Affinity(MakeTerm(kZone));
  return pods;
}

using Rules = Answer (NaiveTopology::*)(const api::PodRecord&, const TopologyHarness::Question&) const;

class TopologyHistory {
 public:
  TopologyHistory(const char* plugin, Rules rules, std::vector<PodBuilder> waiting,
                  TopologyHarness::Options options = {})
      : harness_(plugin, options), rules_(rules), options_(std::move(options)) {
    for (const PodBuilder& pod : waiting) waiting_.push_back(harness_.AddPod(pod));
  }

  void Apply(const Event& event) {
    if (event.kind >= 240) return ApplyService(event);
    cluster::test::Apply(event, harness_.cluster(), model_);
  }

  // Two pods at a time, so that some are asked often and others seldom.
  void Compare(const Event& event) {
    TopologyHarness::Question question;
    if (event.how % 4 == 0) question.infeasible = {"n" + std::to_string(event.who % 5)};
    Check(waiting_[event.how % waiting_.size()], question, Now());
    Check(waiting_[event.who % 2], question, Now());
    if (event.where % 16 == 0 && harness_.step() > 8) harness_.cluster().CollectUnused(harness_.step() - 8);
  }

  // Trials: each is judged while it is open, and leaves nothing behind.
  void Try(const History& trials, std::size_t begin, std::size_t end) {
    std::vector<NaiveTopology::Placed> deltas;
    cluster::Cluster& cluster = harness_.cluster();
    {
      const NaiveTopology before = Now();
      cluster::Speculation speculation(cluster);
      for (std::size_t i = begin; i < end; ++i) {
        const Event& trial = trials[i];
        const cluster::PodSlot pod = cluster.pods().Find("uid-p" + std::to_string(trial.who % 12));
        const cluster::NodeRow row = cluster.nodes().Find("n" + std::to_string(trial.where % 5));
        if (!pod.IsValid()) continue;
        if (cluster.pods().row(pod).IsValid()) {
          const cluster::NodeRow from = speculation.Displace(pod);
          deltas.push_back({cluster.pods().facts(pod).record, std::string(cluster.nodes().name(from)), -1});
        } else if (row.IsValid()) {
          speculation.Place(pod, row);
          deltas.push_back({cluster.pods().facts(pod).record, std::string(cluster.nodes().name(row)), +1});
        }
        NaiveTopology now = before;
        now.pods.insert(now.pods.end(), deltas.begin(), deltas.end());
        const TopologyHarness::Question question{.score = false};
        Check(waiting_[trial.how % waiting_.size()], question, now);
      }
    }
    for (const cluster::PodSlot pod : waiting_) Check(pod, {}, Now());
  }

 private:
  NaiveTopology Now() const {
    NaiveTopology now = NaiveTopology::Of(harness_.cluster());
    now.namespaces = model_.namespaces;
    for (const auto& [name, service] : services_) now.services.push_back(service);
    now.args = options_.args;
    return now;
  }

  void Check(cluster::PodSlot pod, const TopologyHarness::Question& question, const NaiveTopology& now) {
    const Answer want = (now.*rules_)(harness_.cluster().pods().record(pod), question);
    const Answer kept = harness_.AskAgain(pod, question);
    const Answer fresh = harness_.Ask(pod, question);
    RC_ASSERT(fresh == want);
    RC_ASSERT(kept == want);
  }

  void ApplyService(const Event& event) {
    const std::string name = "s" + std::to_string(event.where % 2);
    const std::string namespace_ = "ns" + std::to_string(event.who % 3);
    if (event.how % 3 == 0) {
      harness_.cluster().workloads().Remove(cluster::WorkloadTable::Kind::kService, namespace_, name);
      services_.erase({namespace_, name});
      return;
    }
    api::Service service;
    service.metadata.name = name;
    service.metadata.namespace_ = namespace_;
    service.spec.selector = event.how % 3 == 1 ? api::StringMap{{"app", "a"}} : api::StringMap{};
    harness_.cluster().workloads().Set(service);
    services_[{namespace_, name}] = service;
  }

  TopologyHarness harness_;
  Rules rules_;
  TopologyHarness::Options options_;
  std::vector<cluster::PodSlot> waiting_;
  cluster::test::NaiveModel model_;
  std::map<std::pair<std::string, std::string>, api::Service> services_;
};

void CompareThroughHistory(TopologyHistory& world) {
  for (const Event& event : *AnyHistory()) {
    world.Apply(event);
    world.Compare(event);
  }
}

void CompareInTrials(TopologyHistory& world) {
  for (const Event& event : *AnyHistory()) world.Apply(event);
  const History trials = *AnyHistory();
  constexpr std::size_t kDepth = 6;
  for (std::size_t begin = 0; begin < trials.size(); begin += kDepth) {
    world.Try(trials, begin, std::min(begin + kDepth, trials.size()));
    world.Apply(trials[begin]);
  }
}

TopologyHarness::Options WithListedDefaults() {
  TopologyHarness::Options options;
  options.args.pod_topology_spread.defaulting = framework::SpreadDefaulting::kList;
  auto hard = AppConstraint(kZone, "DoNotSchedule");
  hard.label_selector.reset();
  auto soft = AppConstraint(kHost, "ScheduleAnyway");
  soft.label_selector.reset();
  options.args.pod_topology_spread.default_constraints = {hard, soft};
  return options;
}

TEST(SpreadProperty, KeptAndFreshAnswersFollowTheRules) {
  EXPECT_TRUE(rc::check("any history", [] {
    TopologyHistory world("PodTopologySpread", &NaiveTopology::Spread, SpreadPods());
    CompareThroughHistory(world);
  }));
}

TEST(SpreadProperty, ListedDefaultsFollowTheRules) {
  EXPECT_TRUE(rc::check("any history", [] {
    TopologyHistory world("PodTopologySpread", &NaiveTopology::Spread, SpreadPods(), WithListedDefaults());
    CompareThroughHistory(world);
  }));
}

TEST(SpreadProperty, TrialsFollowTheRulesAndLeaveNoTrace) {
  EXPECT_TRUE(rc::check("any history and trials", [] {
    TopologyHistory world("PodTopologySpread", &NaiveTopology::Spread, SpreadPods());
    CompareInTrials(world);
  }));
}

TEST(AffinityProperty, KeptAndFreshAnswersFollowTheRules) {
  EXPECT_TRUE(rc::check("any history", [] {
    TopologyHistory world("InterPodAffinity", &NaiveTopology::Affinity, AffinityPods());
    CompareThroughHistory(world);
  }));
}

TEST(AffinityProperty, ArgumentsFollowTheRules) {
  EXPECT_TRUE(rc::check("any history", [] {
    TopologyHarness::Options options;
    options.args.inter_pod_affinity.hard_pod_affinity_weight = *rc::gen::element(0, 7);
    options.args.inter_pod_affinity.ignore_preferred_terms_of_existing_pods = true;
    TopologyHistory world("InterPodAffinity", &NaiveTopology::Affinity, AffinityPods(), options);
    CompareThroughHistory(world);
  }));
}

TEST(AffinityProperty, TrialsFollowTheRulesAndLeaveNoTrace) {
  EXPECT_TRUE(rc::check("any history and trials", [] {
    TopologyHistory world("InterPodAffinity", &NaiveTopology::Affinity, AffinityPods());
    CompareInTrials(world);
  }));
}

}  // namespace
}  // namespace berth::plugins::test
