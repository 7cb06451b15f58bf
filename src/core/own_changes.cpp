#include "core/own_changes.h"

#include "dra/device_state.h"
#include "framework/events.h"

namespace berth::core {

using framework::EventResource;

OwnChanges::OwnChanges(cluster::Cluster& cluster, queue::SchedulingQueue& queue)
    : queue_(queue),
      device_claims_(cluster.UseExtension<dra::DeviceState>().claims()),
      volumes_(cluster.UseExtension<plugins::VolumeCaches>()) {}

void OwnChanges::Tell() {
  for (const auto& [allocated, free] : device_claims_.TakeFreed()) {
    queue_.Notify({EventResource::kResourceClaim, free ? framework::kUpdate : framework::kDelete}, allocated,
                  free);
  }
  for (const auto& [promised, stored] : volumes_.volumes().TakeRestored()) {
    queue_.Notify({EventResource::kPersistentVolume, framework::kUpdate}, promised, stored);
  }
  for (const auto& [promised, stored] : volumes_.claims().TakeRestored()) {
    queue_.Notify({EventResource::kPersistentVolumeClaim, framework::kUpdate}, promised, stored);
  }
}

}  // namespace berth::core
