#include "plugins/plugin_harness.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/check.h"
#include "framework/post_filter.h"
#include "framework/registry.h"
#include "plugins/all_plugins.h"

namespace berth::test {
namespace {

std::unique_ptr<const framework::Profile> MakeProfile(const PluginHarness::Options& options,
                                                      cluster::Cluster& cluster,
                                                      framework::RejectionTable& rejections) {
  const framework::Registry registry = plugins::AllPlugins();
  const framework::PluginSetup setup{.features = options.features,
                                     .args = options.args,
                                     .cluster = cluster,
                                     .made_up_node_features = options.made_up_node_features};
  const auto config = framework::ExpandEverywhere(options.plugins, registry, setup);
  BERTH_CHECK(config.has_value());
  auto profile = framework::Profile::Make(*config, registry, setup, rejections);
  BERTH_CHECK(profile.has_value());
  return *std::move(profile);
}

framework::EngineOptions VerifyingOptions() {
  framework::EngineOptions options;
  options.verify_views = true;
  return options;
}

}  // namespace

std::string ShortText(const framework::Status& status) {
  switch (status.code()) {
    case framework::Code::kSuccess:
      return "";
    case framework::Code::kUnschedulable:
      return "U " + status.Message();
    case framework::Code::kUnschedulableAndUnresolvable:
      return "UU " + status.Message();
    default:
      return std::string(framework::CodeName(status.code())) + " " + status.Message();
  }
}

PluginHarness::PluginHarness(Options options)
    : features_(options.features),
      args_(options.args),
      cluster_({.resources = options.features.ForResources()}),
      profile_(MakeProfile(options, cluster_, rejections_)),
      engine_(std::make_unique<framework::Engine>(cluster_, *profile_, rejections_, VerifyingOptions())) {}

PluginHarness& PluginHarness::Add(const api::Node& node) {
  cluster_.SetNode(std::make_shared<const api::Node>(node));
  return *this;
}

PluginHarness& PluginHarness::Add(const PodBuilder& pod) {
  const auto record = pod.Record();
  if (record->node_name.empty()) {
    BERTH_CHECK(cluster_.SetPending(record).has_value());
  } else {
    BERTH_CHECK(cluster_.AddPod(record).has_value());
  }
  return *this;
}

cluster::PodSlot PluginHarness::SlotOf(const PodBuilder& pod) {
  const std::string uid = pod.Record()->uid;
  if (!cluster_.pods().Find(uid).IsValid()) Add(pod);
  return cluster_.pods().Find(uid);
}

framework::Explanation PluginHarness::Explain(const PodBuilder& pod) {
  return engine_->Explain({.pod = SlotOf(pod), .step = ++step_});
}

std::map<std::string, std::string> PluginHarness::Verdicts(const PodBuilder& pod) {
  const framework::Explanation explanation = Explain(pod);
  std::map<std::string, std::string> verdicts;
  for (const auto& [row, status] : explanation.refused) {
    verdicts[std::string(cluster_.nodes().name(row))] = ShortText(status);
  }
  for (const cluster::NodeRow row : explanation.feasible) {
    verdicts[std::string(cluster_.nodes().name(row))] = "";
  }
  return verdicts;
}

std::string PluginHarness::PreFilter(const PodBuilder& pod) {
  const framework::Explanation explanation = Explain(pod);
  const framework::Cycle& cycle = engine_->cycle();
  const auto skipped = [&](const auto& placed) {
    const framework::Plan* const plan = cycle.plan(placed.index());
    return cycle.IsSkipped(placed.index()) || (plan != nullptr && !plan->filters);
  };
  if (std::ranges::all_of(profile_->filter(), skipped)) return "Skip";
  return ShortText(explanation.pre_filter);
}

PluginHarness::Scores PluginHarness::ScoresOf(
    const PodBuilder& pod, std::vector<std::int64_t> framework::Explanation::PluginScores::* kind) {
  const framework::Explanation explanation = Explain(pod);
  Scores scores;
  if (explanation.scores.empty()) return scores;
  BERTH_CHECK(explanation.scores.size() == 1);
  for (std::size_t i = 0; i < explanation.feasible.size(); ++i) {
    scores[std::string(cluster_.nodes().name(explanation.feasible[i]))] =
        (explanation.scores.front().*kind)[i];
  }
  return scores;
}

PluginHarness::Scores PluginHarness::RawScores(const PodBuilder& pod) {
  return ScoresOf(pod, &framework::Explanation::PluginScores::raw);
}

PluginHarness::Scores PluginHarness::FinalScores(const PodBuilder& pod) {
  return ScoresOf(pod, &framework::Explanation::PluginScores::weighted);
}

std::string PluginHarness::Schedule(const PodBuilder& pod) {
  const framework::Outcome outcome = engine_->SchedulePod({.pod = SlotOf(pod), .step = ++step_});
  const auto* const decision = std::get_if<framework::Decision>(&outcome);
  return decision == nullptr ? std::string() : std::string(cluster_.nodes().name(decision->row));
}

std::uint64_t PluginHarness::Likeness(const PodBuilder& pod) {
  BERTH_CHECK(Schedule(pod).empty());
  return engine_->likeness();
}

PluginHarness::Room PluginHarness::MakeRoom(const PodBuilder& pod) {
  const framework::Outcome outcome = engine_->SchedulePod({.pod = SlotOf(pod), .step = ++step_});
  const auto& diagnosis = std::get<framework::Diagnosis>(outcome);
  const std::uint64_t before = cluster_.Digest();
  const framework::PostFilterResult result = framework::RunPostFilter(*profile_, engine_->cycle(), diagnosis);
  BERTH_CHECK(cluster_.Digest() == before);  // dry runs leave no trace
  Room room{.status = ShortText(result.status),
            .message = result.status.Message(),
            .node = result.nominated_node,
            .victims = {}};
  if (result.preemption) {
    for (const cluster::PodSlot victim : result.preemption->victims) {
      room.victims.push_back(cluster_.pods().record(victim).name);
    }
  }
  return room;
}

std::string PluginHarness::Hint(std::string_view plugin, const PodBuilder& waiting, const Event& event) {
  const framework::HintInput input{cluster_, SlotOf(waiting), event.old_object, event.new_object};
  std::string answer = "not registered";
  for (const auto& placed : profile_->enqueue()) {
    if (placed.plugin->Name() != plugin) continue;
    for (const framework::EventRegistration& registration :
         framework::Expand(placed.point->EventsToRegister())) {
      if (!framework::Matches(registration.event, {event.resource, event.actions})) continue;
      if (registration.hint == nullptr) return "Queue";
      const auto hint = registration.hint(input);
      if (!hint) return "Error";
      if (*hint == framework::Hint::kQueue) return "Queue";
      answer = "Skip";
    }
  }
  return answer;
}

}  // namespace berth::test
