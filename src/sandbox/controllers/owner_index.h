#pragma once

#include <absl/container/btree_map.h>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sandbox/control_plane.h"

namespace berth::sandbox {

// Which objects belong to which, by the uids in their ownerReferences, kept up to date change by change.
class OwnerIndex final : public ChangeReceiver {
 public:
  explicit OwnerIndex(ControlPlane& plane);
  ~OwnerIndex() override;
  OwnerIndex(const OwnerIndex&) = delete;
  OwnerIndex& operator=(const OwnerIndex&) = delete;

  // In the order of resources and keys.
  std::vector<RevisionPtr> DependentsOf(std::string_view uid) const;
  // Those of one resource that the owner manages.
  std::vector<RevisionPtr> ManagedBy(std::string_view uid, const Resource& resource) const;

  void OnChange(const Change& change, ChangeFrames& frames) override;

 private:
  using Entry = std::pair<std::size_t, std::string>;  // index of the resource, key

  void Insert(const Revision& object);
  void Remove(const Revision& object);

  ControlPlane& plane_;
  std::vector<SubscriptionId> subscriptions_;
  absl::btree_map<std::string, std::set<Entry>, std::less<>> dependents_;
};

// The stored object of that key, or null.
RevisionPtr FindByKey(const Store& store, const Resource& resource, std::string_view key);
// What a write to an object is addressed to.
Target TargetOf(const Revision& object, std::string subresource = {});

}  // namespace berth::sandbox
