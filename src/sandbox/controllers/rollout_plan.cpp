#include "sandbox/controllers/rollout_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace berth::sandbox {
namespace {

std::int64_t Sum(std::span<const SetSize> sets, std::int64_t SetSize::* what) {
  return std::transform_reduce(sets.begin(), sets.end(), std::int64_t{0}, std::plus<>(),
                               [&](const SetSize& set) { return set.*what; });
}

std::vector<SetSize*> OldestFirst(std::span<SetSize> sets) {
  std::vector<SetSize*> order;
  for (SetSize& set : sets) order.push_back(&set);
  std::ranges::stable_sort(order, {}, [](const SetSize* set) { return set->created_order; });
  return order;
}

// Takes up to `count` away, oldest set first; from each no more than `may_lose` allows.
std::int64_t TakeAway(std::span<SetSize> sets, std::int64_t count,
                      const std::function<std::int64_t(const SetSize&)>& may_lose) {
  std::int64_t taken = 0;
  for (SetSize* set : OldestFirst(sets)) {
    const std::int64_t part = std::min(count - taken, std::max<std::int64_t>(may_lose(*set), 0));
    if (part <= 0) continue;
    set->replicas -= part;
    taken += part;
  }
  return taken;
}

// What one set gains or loses if all keep their share.
std::int64_t Part(const RolloutLimits& limits, std::int64_t known_size, const SetSize& set) {
  if (limits.replicas == 0) return -set.replicas;
  const std::int64_t before = set.max_replicas > 0 ? set.max_replicas : known_size;
  if (before <= 0) return 0;
  const double share = static_cast<double>(set.replicas) *
                       static_cast<double>(limits.replicas + limits.surge) / static_cast<double>(before);
  return std::llround(share) - set.replicas;
}

}  // namespace

std::int64_t GrowNewSet(const RolloutLimits& limits, std::int64_t new_replicas, std::int64_t all_replicas) {
  const std::int64_t room = limits.replicas + limits.surge - all_replicas;
  if (room <= 0) return new_replicas;
  return new_replicas + std::min(room, limits.replicas - new_replicas);
}

bool ShrinkOldSets(const RolloutLimits& limits, const SetSize& new_set, std::span<SetSize> old_sets) {
  const std::int64_t all = Sum(old_sets, &SetSize::replicas) + new_set.replicas;
  const std::int64_t needed = limits.replicas - limits.unavailable;
  const std::int64_t spare = all - needed - (new_set.replicas - new_set.available);
  if (spare <= 0) return false;
  // Pods that do not serve hold up the rollout for nothing.
  const std::int64_t useless =
      TakeAway(old_sets, spare, [](const SetSize& set) { return set.replicas - set.available; });
  // What was taken so far served nobody, so it does not count here.
  const std::int64_t serving = Sum(old_sets, &SetSize::available) + new_set.available;
  const std::int64_t useful =
      serving > needed ? TakeAway(old_sets, serving - needed, [](const SetSize& set) { return set.replicas; })
                       : 0;
  return useless + useful > 0;
}

void ScaleInProportion(const RolloutLimits& limits, std::int64_t current_status_replicas,
                       std::span<SetSize> sets) {
  const std::int64_t allowed = limits.replicas > 0 ? limits.replicas + limits.surge : 0;
  const std::int64_t to_add = allowed - Sum(sets, &SetSize::replicas);
  if (to_add == 0) return;
  std::vector<SetSize*> order = OldestFirst(sets);
  // The largest set first; among equals the newest gains and the oldest loses.
  if (to_add > 0) std::ranges::reverse(order);
  std::ranges::stable_sort(order, std::greater<>(), [](const SetSize* set) { return set->replicas; });
  std::int64_t added = 0;
  for (SetSize* set : order) {
    if (set->replicas == 0 || added == to_add) continue;
    const std::int64_t part = Part(limits, current_status_replicas, *set);
    const std::int64_t rest = to_add - added;
    const std::int64_t given =
        to_add > 0 ? std::clamp<std::int64_t>(part, 0, rest) : std::clamp<std::int64_t>(part, rest, 0);
    set->replicas += given;
    added += given;
  }
  // What rounding left over goes to the first, and from there to the next where it has too few to lose.
  for (SetSize* set : order) {
    const std::int64_t given = std::max(to_add - added, -set->replicas);
    set->replicas += given;
    added += given;
  }
}

}  // namespace berth::sandbox
