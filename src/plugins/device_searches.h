#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "cluster/ids.h"
#include "dra/allocator.h"
#include "dra/claim_plan.h"

namespace berth::plugins {

// What the search for devices came to on each node, for one kind of wish.
//
// Pods of one template have claims of their own, which all ask for the same. Whether a node can serve them
// depends on what is asked for and on the devices of the node, so that after a pod was placed only its node
// has to be searched again for the next. Which devices they are is not kept: they are found again, by the
// same search, on the node that is chosen.
class DeviceSearch {
 public:
  struct Finding {
    std::uint64_t stamp = 0;  // of the pools; none has 0
    std::uint64_t use = 0;    // of their devices
    dra::Verdict verdict = dra::Verdict::kNone;
    std::int64_t score = 0;  // of kFound
  };

  // No two have the same id.
  DeviceSearch(std::uint64_t id, std::span<const dra::ClaimPlan* const> plans);
  std::uint64_t id() const { return id_; }

  bool IsFor(std::span<const dra::ClaimPlan* const> plans) const;
  // Null: not known for these pools with this use of theirs.
  const Finding* Find(cluster::NodeRow row, std::uint64_t stamp, std::uint64_t use) const;
  void Set(cluster::NodeRow row, const Finding& finding);

 private:
  const std::uint64_t id_;
  std::vector<dra::ClaimRef> claims_;
  std::vector<std::shared_ptr<const api::DeviceClass>> classes_;  // of all alternatives, as listed
  std::vector<Finding> findings_;                                 // by row
};

// The searches of the last few kinds. Looking one up compares the wishes.
class DeviceSearches {
 public:
  std::shared_ptr<DeviceSearch> Use(std::span<const dra::ClaimPlan* const> plans);
  std::size_t size() const { return searches_.size(); }

 private:
  std::vector<std::shared_ptr<DeviceSearch>> searches_;  // the last used first
  std::uint64_t last_id_ = 0;
};

}  // namespace berth::plugins
