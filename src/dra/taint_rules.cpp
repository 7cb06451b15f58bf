#include "dra/taint_rules.h"

#include <algorithm>
#include <optional>
#include <string>

namespace berth::dra {
namespace {

bool Selects(const std::optional<std::string>& wanted, std::string_view value) {
  return !wanted || *wanted == value;
}

bool SelectsDevice(const api::DeviceTaintRule& rule, const api::Device& device) {
  return !rule.spec.device_selector || Selects(rule.spec.device_selector->device, device.name);
}

}  // namespace

void TaintRules::Set(std::string_view name, const Rule& rule) {
  if (rule == nullptr) {
    rules_.erase(name);
  } else {
    rules_.insert_or_assign(std::string(name), rule);
  }
}

bool TaintRules::Concerns(const api::DeviceTaintRule& rule, const api::ResourceSlice& slice) {
  const std::optional<api::DeviceTaintSelector>& selector = rule.spec.device_selector;
  if (selector &&
      !(Selects(selector->driver, slice.spec.driver) && Selects(selector->pool, slice.spec.pool.name)))
    return false;
  return std::ranges::any_of(slice.spec.devices,
                             [&](const api::Device& device) { return SelectsDevice(rule, device); });
}

TaintRules::Slice TaintRules::Patched(const Slice& slice) const {
  std::shared_ptr<api::ResourceSlice> patched;
  for (const auto& [name, rule] : rules_) {
    if (!Concerns(*rule, *slice)) continue;
    if (patched == nullptr) patched = std::make_shared<api::ResourceSlice>(*slice);
    for (api::Device& device : patched->spec.devices) {
      if (SelectsDevice(*rule, device)) device.taints.push_back(rule->spec.taint);
    }
  }
  if (patched == nullptr) return slice;
  return patched;
}

}  // namespace berth::dra
