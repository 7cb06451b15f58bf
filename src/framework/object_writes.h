#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "api/devices.h"
#include "api/meta.h"
#include "api/pod.h"
#include "api/storage.h"
#include "base/error.h"
#include "base/task.h"
#include "cluster/object_store.h"
#include "cluster/pod_table.h"

// What plugins write to objects other than the pod: volumes and claims. Each write says what it wants and
// names the object as it was when that was decided, so that a write to anything else can fail.
namespace berth::framework {

// The volume is for this claim.
struct ReserveVolume {
  std::shared_ptr<const api::PersistentVolume> volume;
  std::shared_ptr<const api::PersistentVolumeClaim> claim;
};
// A volume for the claim is to be made where this node can use it.
struct SelectVolumeNode {
  std::shared_ptr<const api::PersistentVolumeClaim> claim;
  std::string node;
};
// The claim is reserved for the consumer and, with an allocation, allocated first.
struct BindClaim {
  std::shared_ptr<const api::ResourceClaim> claim;
  std::optional<api::AllocationResult> allocation;
  api::ResourceClaimConsumerReference consumer;
};
struct UnreserveClaim {
  api::ObjectMeta claim;
  std::string consumer_uid;
};
struct DeallocateClaim {
  std::shared_ptr<const api::ResourceClaim> claim;
};
// A claim that the scheduler makes itself, and takes away again.
struct CreateClaim {
  std::shared_ptr<const api::ResourceClaim> claim;
};
struct DeleteClaim {
  std::shared_ptr<const api::ResourceClaim> claim;
};
// Says in the pod's status which claim serves its extended resources.
struct SetExtendedResourceClaim {
  cluster::PodRecordRef pod;
  api::PodExtendedResourceClaimStatus status;
};

using ObjectWrite = std::variant<ReserveVolume, SelectVolumeNode, BindClaim, UnreserveClaim, DeallocateClaim,
                                 CreateClaim, DeleteClaim, SetExtendedResourceClaim>;

// The room that owns the connection implements it. Single-threaded, like plugins.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;

  // The object as stored; nothing for UnreserveClaim, DeleteClaim and writes to pods. The watch tells of it
  // too, later.
  virtual base::Task<base::Result<cluster::AnyObject>> Write(ObjectWrite write) = 0;
  // For places that cannot wait. A failure is logged.
  virtual void Post(ObjectWrite write) = 0;
};

}  // namespace berth::framework
