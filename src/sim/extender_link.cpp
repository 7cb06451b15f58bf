#include "sim/extender_link.h"

#include <string>
#include <utility>

#include "cluster/digest.h"

namespace berth::sim {
namespace {

constexpr std::uint64_t kDislikesOneIn = 5;
constexpr std::uint64_t kScores = 11;

std::uint64_t OpinionOf(std::string_view app, std::string_view node) {
  cluster::Digester digest;
  digest.Add(app);
  digest.Add(std::string(node));
  return digest.value();
}

std::uint64_t Opinion(const api::PodRecord& pod, std::string_view node) {
  return OpinionOf(pod.labels.find("app").value_or(""), node);
}

}  // namespace

cycle::ExtenderSpec ExtenderLink::Spec(bool ignorable) {
  return {.url_prefix = "http://extender",
          .filter_verb = "filter",
          .prioritize_verb = "prioritize",
          .preempt_verb = "preempt",
          .weight = 1,
          .node_cache_capable = true,
          .ignorable = ignorable};
}

bool ExtenderLink::Likes(const api::PodRecord& pod, std::string_view node) {
  return Opinion(pod, node) % kDislikesOneIn != 0;
}

bool ExtenderLink::LikesApp(const std::string& app, std::string_view node) {
  return OpinionOf(app, node) % kDislikesOneIn != 0;
}

cycle::ExtenderAnswer ExtenderLink::Answer(const cycle::ExtenderCall& call) {
  cycle::ExtenderAnswer answer;
  answer.node_names.emplace();
  for (const cluster::NodeRef& node : call.nodes) {
    const std::string& name = node->metadata.name;
    if (Likes(*call.pod, name)) {
      answer.node_names->push_back(name);
    } else {
      // No eviction changes its mind.
      answer.failed_and_unresolvable.emplace_back(name, "not to the extender's liking");
    }
    answer.scores.emplace_back(name, static_cast<std::int64_t>(Opinion(*call.pod, name) % kScores));
  }
  for (const cycle::NodeVictims& victims : call.victims) {
    if (!Likes(*call.pod, victims.node)) continue;
    cycle::ExtenderAnswer::Victims kept{
        .node = victims.node, .uids = {}, .budget_violations = victims.budget_violations};
    for (const cluster::PodRecordRef& pod : victims.pods) kept.uids.push_back(pod->uid);
    answer.victims.push_back(std::move(kept));
  }
  return answer;
}

void ExtenderLink::Ask(cycle::ExtenderCall call) {
  ++asked_count_;
  base::Duration delay{};
  if (faults_.extender_delay_max.count() > 0) {
    delay = base::Duration(random_.Uniform(static_cast<std::uint64_t>(faults_.extender_delay_max.count())));
  }
  core::ExtenderFinished finished{.id = call.id, .answer = Answer(call)};
  if (random_.Chance(faults_.extender_fails)) finished.answer = base::Fail("the extender fails on purpose");
  timers_.Schedule(plane_.clock().Now() + delay,
                   [this, generation = generation_, finished = std::move(finished)] {
                     if (generation == generation_) deliver_(finished);
                   });
}

}  // namespace berth::sim
