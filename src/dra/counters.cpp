#include "dra/counters.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace berth::dra {
namespace {

using Groups = std::vector<std::string>;

const Groups* GroupsIn(const api::Device& device, std::string_view set) {
  const auto found =
      std::ranges::find(device.consumes_counters, set, &api::DeviceCounterConsumption::counter_set);
  return found == device.consumes_counters.end() ? nullptr : &found->compatibility_groups;
}

void Intersect(Groups& common, const Groups& groups) {
  std::erase_if(common,
                [&](const std::string& group) { return std::ranges::find(groups, group) == groups.end(); });
}

}  // namespace

CounterUse::CounterUse(const PoolView& pool, const DeviceTable& devices) : pool_(&pool) {
  left_.reserve(pool.counters.size());
  for (const PoolView::Counter& counter : pool.counters) left_.push_back(counter.total);
  for (const PoolView::Consumer& consumer : pool.consumers) {
    if (!devices.use(consumer.id).IsUsed()) continue;
    for (const CounterAmount& amount : consumer.consumes) left_[amount.counter].Sub(amount.amount);
  }
  is_over_committed_ = std::ranges::any_of(left_, [](const api::Quantity& left) { return left.Sign() < 0; });
}

bool CounterUse::Take(const PoolDevice& device) {
  if (is_over_committed_) return false;
  for (const CounterAmount& amount : device.consumes) left_[amount.counter].Sub(amount.amount);
  const bool enough = std::ranges::none_of(
      device.consumes, [&](const CounterAmount& amount) { return left_[amount.counter].Sign() < 0; });
  if (!enough) GiveBack(device);
  return enough;
}

void CounterUse::GiveBack(const PoolDevice& device) {
  for (const CounterAmount& amount : device.consumes) left_[amount.counter].Add(amount.amount);
}

bool CounterUse::GroupsAllow(const PoolDevice& device, const std::vector<const PoolDevice*>& taken,
                             const DeviceTable& devices) const {
  for (const api::DeviceCounterConsumption& consumption : device.device().consumes_counters) {
    Groups common = consumption.compatibility_groups;
    const bool has_groups = !common.empty();
    bool is_first = true;
    bool is_refused = false;
    const auto meet = [&](const api::Device& member) {
      const Groups* const groups = GroupsIn(member, consumption.counter_set);
      if (groups == nullptr) return;
      is_first = false;
      if (has_groups) {
        Intersect(common, *groups);
      } else if (!groups->empty()) {
        is_refused = true;
      }
    };
    for (const PoolView::Consumer& consumer : pool_->consumers) {
      if (devices.use(consumer.id).IsUsed()) meet(*consumer.device);
    }
    for (const PoolDevice* member : taken) meet(member->device());
    if (is_refused || (!is_first && has_groups && common.empty())) return false;
  }
  return true;
}

}  // namespace berth::dra
