#include "dispatch/status_change.h"

#include <algorithm>

namespace berth::dispatch {

const api::PodCondition* FindCondition(const api::PodStatusChange& change, std::string_view type) {
  const auto found = std::ranges::find(change.conditions, type, &api::PodCondition::type);
  return found == change.conditions.end() ? nullptr : &*found;
}

bool HasEffect(const api::PodStatusChange& change, const api::PodRecord& known, std::string_view nomination) {
  if (change.nominated_node_name && *change.nominated_node_name != nomination) return true;
  if (change.remove_not_ready && std::ranges::any_of(known.conditions(), api::IsNotReadyForScheduling))
    return true;
  return std::ranges::any_of(change.conditions, [&](const api::PodCondition& wanted) {
    const auto old = std::ranges::find(known.conditions(), wanted.type, &api::PodCondition::type);
    return old == known.conditions().end() || !api::SaysTheSame(*old, wanted);
  });
}

void AddOlder(api::PodStatusChange& change, const api::PodStatusChange& older) {
  if (!change.nominated_node_name) change.nominated_node_name = older.nominated_node_name;
  const bool sets_scheduled = FindCondition(change, api::kPodScheduled) != nullptr;
  for (const api::PodCondition& condition : older.conditions) {
    if (change.remove_not_ready && api::IsNotReadyForScheduling(condition)) continue;
    if (FindCondition(change, condition.type) == nullptr) change.conditions.push_back(condition);
  }
  change.remove_not_ready = (change.remove_not_ready || (older.remove_not_ready && !sets_scheduled)) &&
                            FindCondition(change, api::kPodScheduled) == nullptr;
}

}  // namespace berth::dispatch
