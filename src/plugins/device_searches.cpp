#include "plugins/device_searches.h"

#include <algorithm>

namespace berth::plugins {
namespace {

// Enough for the templates that a cluster makes pods of at one time.
constexpr std::size_t kSearchesMax = 64;

// Calls with the class of every alternative of the plans, until it says no.
template <class F>
bool EachClass(std::span<const dra::ClaimPlan* const> plans, F&& visit) {
  for (const dra::ClaimPlan* const plan : plans) {
    for (const dra::PlannedRequest& request : plan->requests) {
      for (const dra::Alternative& alternative : request.alternatives) {
        if (!visit(alternative.device_class)) return false;
      }
    }
  }
  return true;
}

}  // namespace

DeviceSearch::DeviceSearch(std::uint64_t id, std::span<const dra::ClaimPlan* const> plans) : id_(id) {
  for (const dra::ClaimPlan* const plan : plans) claims_.push_back(plan->claim);
  EachClass(plans, [&](const auto& device_class) {
    classes_.push_back(device_class);
    return true;
  });
}

bool DeviceSearch::IsFor(std::span<const dra::ClaimPlan* const> plans) const {
  const bool asks_for_same =
      std::ranges::equal(plans, claims_, [](const dra::ClaimPlan* plan, const dra::ClaimRef& claim) {
        return plan->claim == claim || plan->claim->spec == claim->spec;
      });
  if (!asks_for_same) return false;
  // A class that changed is another object.
  std::size_t index = 0;
  return EachClass(plans, [&](const auto& device_class) { return classes_[index++] == device_class; });
}

const DeviceSearch::Finding* DeviceSearch::Find(cluster::NodeRow row, std::uint64_t stamp,
                                                std::uint64_t use) const {
  if (row.index() >= findings_.size()) return nullptr;
  const Finding& finding = findings_[row.index()];
  return finding.stamp == stamp && finding.use == use ? &finding : nullptr;
}

void DeviceSearch::Set(cluster::NodeRow row, const Finding& finding) {
  if (row.index() >= findings_.size()) findings_.resize(row.index() + 1);
  findings_[row.index()] = finding;
}

std::shared_ptr<DeviceSearch> DeviceSearches::Use(std::span<const dra::ClaimPlan* const> plans) {
  auto found = std::ranges::find_if(searches_, [&](const auto& search) { return search->IsFor(plans); });
  if (found == searches_.end()) {
    if (searches_.size() == kSearchesMax) searches_.pop_back();
    searches_.push_back(std::make_shared<DeviceSearch>(++last_id_, plans));
    found = searches_.end() - 1;
  }
  std::rotate(searches_.begin(), found, found + 1);
  return searches_.front();
}

}  // namespace berth::plugins
