#include "framework/plan_cache.h"

#include "framework/cycle.h"

namespace berth::framework {
namespace {

PlanKey KeyOf(const Cycle& cycle) {
  const cluster::PodFacts& facts = cycle.facts();
  return {cycle.cluster().pod_factory().templates().Version(facts.template_id), facts.requests};
}

std::shared_ptr<PlanSet> MakePlans(const Profile& profile, const Cycle& cycle, const PlanKey& key) {
  auto set = std::make_shared<PlanSet>();
  set->key = key;
  set->spec = cycle.cluster().pod_factory().templates().Get(key.template_id.id);
  set->requests = cycle.requests();
  const PlanInput input{set->spec->spec, set->requests, key.template_id.id, cycle.cluster(),
                        cycle.features()};
  for (const auto& plugin : profile.plugins()) {
    set->owned.push_back(plugin->MakePlan(input));
    set->plans.push_back(set->owned.back().get());
  }
  return set;
}

}  // namespace

const std::shared_ptr<PlanSet>& PlanCache::Use(const Cycle& cycle) {
  const PlanKey key = KeyOf(cycle);
  std::shared_ptr<PlanSet>& set = sets_[key];
  if (set == nullptr || set->requests != cycle.requests()) set = MakePlans(profile_, cycle, key);
  set->last_used = cycle.step();
  return set;
}

std::shared_ptr<PlanSet> PlanCache::MakeAnew(const Cycle& cycle) const {
  return MakePlans(profile_, cycle, KeyOf(cycle));
}

void PlanCache::Collect(const cluster::Cluster& cluster, std::uint64_t step) {
  const api::TemplateTable& templates = cluster.pod_factory().templates();
  absl::erase_if(sets_, [&](const auto& entry) {
    return entry.second->last_used < step || !templates.IsCurrent(entry.first.template_id);
  });
}

}  // namespace berth::framework
