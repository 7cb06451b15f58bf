#include "plugins/default_preemption_budgets.h"

#include <algorithm>
#include <utility>

#include "cluster/object_store.h"

namespace berth::plugins {
namespace {

const std::string& NameOf(const DisruptionBudgets::Budget& budget) { return budget.object->metadata.name; }

}  // namespace

DisruptionBudgets::DisruptionBudgets(cluster::Cluster& cluster) {
  auto& objects = cluster.objects().Of<api::PodDisruptionBudget>();
  objects.ForEach([this](const Ref& object) { Add(object); });
  objects.AddObserver([this](const Ref& before, const Ref& after) {
    if (before) Remove(*before);
    if (after) Add(after);
  });
}

std::span<const DisruptionBudgets::Budget> DisruptionBudgets::InNamespace(std::string_view namespace_) const {
  const auto found = by_namespace_.find(namespace_);
  if (found == by_namespace_.end()) return {};
  return found->second;
}

void DisruptionBudgets::Add(const Ref& object) {
  auto selector = api::Selector::Compile(object->spec.selector);
  if (!selector || selector->matches_nothing() || selector->matches_everything()) return;
  std::vector<Budget>& budgets = by_namespace_[object->metadata.namespace_];
  const auto place = std::ranges::lower_bound(budgets, object->metadata.name, {}, NameOf);
  budgets.insert(place, {object, *std::move(selector)});
}

void DisruptionBudgets::Remove(const api::PodDisruptionBudget& object) {
  const auto found = by_namespace_.find(object.metadata.namespace_);
  if (found == by_namespace_.end()) return;
  std::erase_if(found->second, [&](const Budget& budget) { return NameOf(budget) == object.metadata.name; });
  if (found->second.empty()) by_namespace_.erase(found);
}

}  // namespace berth::plugins
