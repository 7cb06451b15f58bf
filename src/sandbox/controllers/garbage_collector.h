#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "sandbox/controllers/work_queue.h"
#include "sandbox/controllers/workload.h"

namespace berth::sandbox {

// Deletes objects whose owners are all gone, and does its part of a deletion that was asked for in the
// foreground (owner after its dependents) or with orphans (dependents stay).
//
// Owners of kinds that are not served here cannot be looked up; they count as present.
class GarbageCollector final : public ChangeReceiver {
 public:
  explicit GarbageCollector(const ControllerContext& context);
  ~GarbageCollector() override;

  void OnChange(const Change& change, ChangeFrames& frames) override;

 private:
  void Add(const Revision& object);
  void AddOwners(const Revision& object);
  void Look(const std::string& work_key);
  // Both for an object that is being deleted.
  void OrphanDependents(const RevisionPtr& owner);
  void DeleteDependents(const RevisionPtr& owner);
  void CheckOwners(const RevisionPtr& object, const boost::json::object& document);

  const ControllerContext context_;
  WorkQueue queue_;
  std::vector<SubscriptionId> subscriptions_;
};

}  // namespace berth::sandbox
