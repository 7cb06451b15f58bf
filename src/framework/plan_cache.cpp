#include "framework/plan_cache.h"

#include "framework/cycle.h"

namespace berth::framework {
namespace {

// How many sets are kept that were used once.
constexpr std::size_t kOnceMax = 64;

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
  const auto [found, is_new] = sets_.try_emplace(key);
  Entry& entry = found->second;
  if (is_new) {
    entry.came_back = seen_.Add(absl::HashOf(key));
    if (!entry.came_back) RememberOnce(key);
  } else {
    entry.came_back = true;
  }
  if (is_new || entry.set->requests != cycle.requests()) entry.set = MakePlans(profile_, cycle, key);
  entry.set->last_used = cycle.step();
  return entry.set;
}

void PlanCache::RememberOnce(const PlanKey& key) {
  once_.push_back(key);
  if (once_.size() <= kOnceMax) return;
  const auto oldest = sets_.find(once_.front());
  if (oldest != sets_.end() && !oldest->second.came_back) sets_.erase(oldest);
  once_.pop_front();
}

void PlanCache::clear() {
  sets_.clear();
  seen_.clear();
  once_.clear();
}

std::shared_ptr<PlanSet> PlanCache::MakeAnew(const Cycle& cycle) const {
  return MakePlans(profile_, cycle, KeyOf(cycle));
}

void PlanCache::Collect(const cluster::Cluster& cluster, std::uint64_t step) {
  const api::TemplateTable& templates = cluster.pod_factory().templates();
  absl::erase_if(sets_, [&](const auto& entry) {
    return entry.second.set->last_used < step || !templates.IsCurrent(entry.first.template_id);
  });
}

}  // namespace berth::framework
