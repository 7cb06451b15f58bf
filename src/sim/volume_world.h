#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "base/random.h"
#include "sim/promises.h"
#include "sim/world_objects.h"

namespace berth::sim {

// Pods with volumes of every kind: local ones that exist, others that are made for a node or at once, claims
// that pods share, that only one pod may use, that come and go with their pod. Controllers bind and make
// volumes beside; now and then making one fails, and the claim has to look for another node.
class VolumeWorld {
 public:
  struct Size {
    int nodes = 6;  // node-1 to node-N may exist
    int pods = 12;
  };
  VolumeWorld(sandbox::ControlPlane& plane, Size size, base::Random random)
      : objects_(plane), size_(size), random_(random) {}

  // Classes, drivers with limits, and the local volumes.
  void Begin();
  // Does one thing.
  void Act();
  // From now on every volume is made that is asked for.
  void EndFaults() { fails_ = false; }

  // On the server: no volume for two claims, no claim with two volumes or another one than before, no node
  // with more volumes than its driver attaches, no exclusive claim with two users, no pod on a node that its
  // volumes do not reach.
  void Check(Violations& violations);
  // Claims that got a volume.
  std::size_t bound_count() const { return volume_of_.size(); }

 private:
  void CreatePod();
  std::string CreateClaim(std::string_view class_name, std::string_view mode);
  void DeletePod();
  void DeleteClaim();
  void FailProvisioning();
  void ReplaceReleased();
  void CreateLocalVolume(const std::string& node, int number);
  bool IsOurs(const sandbox::Revision& pod) const { return pod.name().starts_with("vol-"); }

  void CheckClaims(Violations& violations);
  void CheckPods(Violations& violations);

  WorldObjects objects_;
  const Size size_;
  base::Random random_;
  bool fails_ = true;
  int pods_made_ = 0;
  int claims_made_ = 0;
  int volumes_made_ = 0;
  std::map<std::string, std::string> volume_of_;  // by uid of the claim, once it has one
};

}  // namespace berth::sim
