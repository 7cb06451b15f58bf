#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/event.h"
#include "cluster/cluster.h"
#include "cluster/extension.h"
#include "plugins/volume_assume_cache.h"
#include "plugins/volume_capacity_index.h"
#include "plugins/volume_free_index.h"
#include "plugins/volume_places.h"

namespace berth::plugins {

// Tells tasks that wait for volumes when something that they looked at has changed.
class VolumeWatch {
 public:
  static std::string ClaimKey(const api::ObjectMeta& claim) { return "c" + KeyOf(claim); }
  static std::string VolumeKey(std::string_view name) { return "v" + std::string(name); }
  static std::string NodeKey(std::string_view name) { return "n" + std::string(name); }
  static std::string PodKey(std::string_view uid) { return "p" + std::string(uid); }

  // Sets the event at any change of these, while it lives.
  class Subscription {
   public:
    Subscription(VolumeWatch& watch, std::vector<std::string> keys, base::Event& event);
    ~Subscription();
    Subscription(const Subscription&) = delete;
    Subscription& operator=(const Subscription&) = delete;

   private:
    VolumeWatch& watch_;
    const std::vector<std::string> keys_;
    base::Event& event_;
  };

  bool HasWaiters() const { return !waiters_.empty(); }
  void Notify(const std::string& key) const;

 private:
  absl::flat_hash_map<std::string, std::vector<base::Event*>> waiters_;  // looked up, never walked
};

// What VolumeBinding knows of volumes and claims beyond the objects themselves: what was promised to pods
// whose binding is under way, which volumes are free, and who waits for a change. One for all profiles, so
// that two of them cannot promise one volume to two pods.
class VolumeCaches final : public cluster::Extension {
 public:
  explicit VolumeCaches(cluster::Cluster& cluster);

  AssumeCache<api::PersistentVolume>& volumes() { return volumes_; }
  const AssumeCache<api::PersistentVolume>& volumes() const { return volumes_; }
  AssumeCache<api::PersistentVolumeClaim>& claims() { return claims_; }
  const AssumeCache<api::PersistentVolumeClaim>& claims() const { return claims_; }
  const VolumePlaces& places() const { return places_; }
  const FreeVolumes& free_volumes() const { return free_; }
  const CapacityIndex& capacities() const { return capacities_; }
  VolumeWatch& watch() { return watch_; }

  void OnPodPlaced(cluster::PodSlot, cluster::NodeRow) override {}
  void OnPodDisplaced(cluster::PodSlot pod, cluster::NodeRow row) override;
  void OnNodeChanged(cluster::NodeRow row, cluster::Facts facts) override;
  void AddTo(cluster::Digester&) const override {}  // nothing of it follows pods

 private:
  const cluster::Cluster& cluster_;
  VolumeWatch watch_;
  VolumePlaces places_;
  FreeVolumes free_;
  CapacityIndex capacities_;
  AssumeCache<api::PersistentVolume> volumes_;
  AssumeCache<api::PersistentVolumeClaim> claims_;
};

}  // namespace berth::plugins
