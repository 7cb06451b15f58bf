#include "plugins/volume_binding_caches.h"

#include <algorithm>
#include <utility>

#include "cluster/object_store.h"

namespace berth::plugins {

VolumeWatch::Subscription::Subscription(VolumeWatch& watch, std::vector<std::string> keys, base::Event& event)
    : watch_(watch), keys_(std::move(keys)), event_(event) {
  for (const std::string& key : keys_) watch_.waiters_[key].push_back(&event_);
}

VolumeWatch::Subscription::~Subscription() {
  for (const std::string& key : keys_) {
    const auto found = watch_.waiters_.find(key);
    std::vector<base::Event*>& events = found->second;
    events.erase(std::ranges::find(events, &event_));
    if (events.empty()) watch_.waiters_.erase(found);
  }
}

void VolumeWatch::Notify(const std::string& key) const {
  const auto found = waiters_.find(key);
  if (found == waiters_.end()) return;
  for (base::Event* const event : found->second) event->Set();
}

VolumeCaches::VolumeCaches(cluster::Cluster& cluster)
    : cluster_(cluster),
      places_(cluster),
      free_(places_),
      capacities_(cluster.objects().Of<api::CSIStorageCapacity>(), places_),
      volumes_(cluster.objects().Of<api::PersistentVolume>(), "persistentvolumes",
               [this](const api::PersistentVolume& volume) {
                 const std::string& name = volume.metadata.name;
                 free_.Set(name, volumes_.Get({}, name));
                 if (watch_.HasWaiters()) watch_.Notify(VolumeWatch::VolumeKey(name));
               }),
      claims_(cluster.objects().Of<api::PersistentVolumeClaim>(), "persistentvolumeclaims",
              [this](const api::PersistentVolumeClaim& claim) {
                if (watch_.HasWaiters()) watch_.Notify(VolumeWatch::ClaimKey(claim.metadata));
              }) {}

void VolumeCaches::OnPodDisplaced(cluster::PodSlot pod, cluster::NodeRow) {
  if (watch_.HasWaiters()) watch_.Notify(VolumeWatch::PodKey(cluster_.pods().record(pod).uid));
}

void VolumeCaches::OnNodeChanged(cluster::NodeRow row, cluster::Facts facts) {
  if ((facts & (cluster::kExistsFact | cluster::kLabelsFact)) == 0) return;
  places_.OnNodeChanged(row);
  if (watch_.HasWaiters() && cluster_.nodes().IsLive(row)) {
    watch_.Notify(VolumeWatch::NodeKey(cluster_.nodes().name(row)));
  }
}

}  // namespace berth::plugins
