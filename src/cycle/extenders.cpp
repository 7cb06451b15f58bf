#include "cycle/extenders.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <utility>

#include "base/log.h"
#include "base/task_group.h"

namespace berth::cycle {
namespace {

// Extenders rate from 0 to 10, plugins from 0 to 100.
constexpr std::uint64_t kScorePerPoint = 10;

// Scores have no bounds, so sums wrap around, as Go's do.
void AddScore(std::int64_t& sum, std::int64_t score, std::int64_t weight) {
  const std::uint64_t weighted =
      static_cast<std::uint64_t>(score) * static_cast<std::uint64_t>(weight) * kScorePerPoint;
  sum = static_cast<std::int64_t>(static_cast<std::uint64_t>(sum) + weighted);
}

void NoteReasons(const ExtenderAnswer::Reasons& reasons, framework::Code code,
                 std::vector<framework::Advice::Refusal>& refused) {
  for (const auto& [node, reason] : reasons) refused.push_back({node, code, reason});
}

}  // namespace

Extenders::Extenders(std::vector<ExtenderSpec> specs, const cluster::Cluster& cluster, ExtenderCalls& calls,
                     base::Executor& executor)
    : cluster_(cluster), calls_(calls), executor_(executor) {
  for (std::size_t i = 0; i < specs.size(); ++i) extenders_.push_back({std::move(specs[i]), i});
  std::ranges::stable_partition(extenders_,
                                [](const Extender& extender) { return !extender.spec.ignorable; });
}

const std::string& Extenders::VerbOf(const ExtenderSpec& spec, ExtenderVerb verb) {
  switch (verb) {
    case ExtenderVerb::kFilter:
      return spec.filter_verb;
    case ExtenderVerb::kPrioritize:
      return spec.prioritize_verb;
    case ExtenderVerb::kPreempt:
      return spec.preempt_verb;
    case ExtenderVerb::kBind:
      break;
  }
  return spec.bind_verb;
}

bool Extenders::Any(ExtenderVerb verb, const api::PodSpec& pod) const {
  return std::ranges::any_of(extenders_, [&](const Extender& extender) {
    return !VerbOf(extender.spec, verb).empty() && extender.spec.IsInterestedIn(pod);
  });
}

bool Extenders::HaveASay(const api::PodSpec& pod) const {
  if (extenders_.empty()) return false;
  return Any(ExtenderVerb::kFilter, pod) || Any(ExtenderVerb::kPrioritize, pod) ||
         Any(ExtenderVerb::kPreempt, pod);
}

bool Extenders::IsAsked(const Extender& extender, ExtenderVerb verb, const api::PodRecord& pod) const {
  return !VerbOf(extender.spec, verb).empty() && extender.spec.IsInterestedIn(pod.spec->spec);
}

base::Result<void> Extenders::Keep(const Extender& extender, const ExtenderAnswer& answer,
                                   std::vector<cluster::NodeRef>& nodes, framework::Advice& advice) {
  if (!answer.error.empty()) return base::Fail(answer.error);
  std::vector<std::string> names;
  if (extender.spec.node_cache_capable && answer.node_names) {
    names = *answer.node_names;
  } else if (answer.nodes) {
    names = *answer.nodes;
  }
  std::ranges::sort(names);
  std::vector<std::string_view> known;
  known.reserve(nodes.size());
  for (const cluster::NodeRef& node : nodes) known.push_back(node->metadata.name);
  std::ranges::sort(known);
  for (const std::string& name : names) {
    if (std::ranges::binary_search(known, std::string_view(name))) continue;
    return base::Fail(
        fmt::format("extender \"{}\" claims a filtered node \"{}\" which is not found in the input node list",
                    extender.spec.url_prefix, name));
  }
  const std::size_t shown = nodes.size();
  std::erase_if(nodes, [&](const cluster::NodeRef& node) {
    return !std::ranges::binary_search(names, node->metadata.name);
  });
  advice.has_refused = advice.has_refused || nodes.size() < shown;
  // The later of two reasons for one node stands: so the stronger ones come last.
  NoteReasons(answer.failed, framework::Code::kUnschedulable, advice.refused);
  NoteReasons(answer.failed_and_unresolvable, framework::Code::kUnschedulableAndUnresolvable, advice.refused);
  return {};
}

base::Task<base::Result<framework::Advice>> Extenders::Filter(cluster::PodRecordRef pod,
                                                              std::vector<cluster::NodeRef> nodes) {
  framework::Advice advice;
  for (const Extender& extender : extenders_) {
    if (nodes.empty()) break;
    if (!IsAsked(extender, ExtenderVerb::kFilter, *pod)) continue;
    ExtenderCall call{.extender = extender.number, .verb = ExtenderVerb::kFilter, .pod = pod, .nodes = nodes};
    base::Result<ExtenderAnswer> answer = co_await calls_.Ask(std::move(call));
    base::Result<void> kept;
    if (answer) {
      kept = Keep(extender, *answer, nodes, advice);
    } else {
      kept = std::unexpected(std::move(answer.error()));
    }
    if (kept) continue;
    if (!extender.spec.ignorable) co_return std::unexpected(std::move(kept.error()));
    BERTH_LOG_WARNING("Skipping extender as it returned error and has ignorable flag set",
                      {"extender", extender.spec.url_prefix}, {"err", kept.error().message});
  }
  for (const cluster::NodeRef& node : nodes) advice.allowed.push_back(node->metadata.name);
  std::ranges::sort(advice.allowed);
  co_return advice;
}

base::Task<void> Extenders::Rate(const Extender& extender, ExtenderCall call, Scores& scores) {
  const base::Result<ExtenderAnswer> answer = co_await calls_.Ask(std::move(call));
  if (!answer) {
    BERTH_LOG_ERROR(answer.error(),
                    "Failed to run extender's priority function. No score given by this extender",
                    {"extender", extender.spec.url_prefix});
    co_return;
  }
  for (const auto& [node, score] : answer->scores) AddScore(scores[node], score, extender.spec.weight);
}

base::Task<Extenders::Scores> Extenders::Prioritize(cluster::PodRecordRef pod,
                                                    std::vector<cluster::NodeRef> nodes) {
  Scores scores;
  base::TaskGroup tasks(executor_);
  for (const Extender& extender : extenders_) {
    if (!IsAsked(extender, ExtenderVerb::kPrioritize, *pod)) continue;
    ExtenderCall call{
        .extender = extender.number, .verb = ExtenderVerb::kPrioritize, .pod = pod, .nodes = nodes};
    tasks.Spawn(Rate(extender, std::move(call), scores));
  }
  co_await tasks.WaitForAll();
  co_return scores;
}

base::Task<std::optional<framework::Status>> Extenders::Bind(cluster::PodRecordRef pod, std::string node) {
  for (const Extender& extender : extenders_) {
    if (!IsAsked(extender, ExtenderVerb::kBind, *pod)) continue;
    ExtenderCall call{.extender = extender.number, .verb = ExtenderVerb::kBind, .pod = pod, .node = node};
    const base::Result<ExtenderAnswer> answer = co_await calls_.Ask(std::move(call));
    const std::string error = answer ? answer->error : answer.error().message;
    if (error.empty()) co_return framework::Status();
    if (!extender.spec.ignorable) co_return framework::Status::Error(error);
    BERTH_LOG_WARNING("Skipping extender in bind as it returned error and has ignorable flag set",
                      {"extender", extender.spec.url_prefix}, {"err", error});
  }
  co_return std::nullopt;
}

}  // namespace berth::cycle
