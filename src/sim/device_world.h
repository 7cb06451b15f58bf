#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "base/random.h"
#include "sim/promises.h"
#include "sim/world_objects.h"

namespace berth::sim {

// Pods with devices: claims of their own by template, and claims that several pods share. Every node has a
// pool of a few devices that now and then changes; rules taint devices and go. A controller makes claims and
// ends reservations beside.
class DeviceWorld {
 public:
  struct Size {
    int nodes = 6;  // node-1 to node-N may exist
    int pods = 12;
  };
  DeviceWorld(sandbox::ControlPlane& plane, Size size, base::Random random)
      : objects_(plane), size_(size), random_(random) {}

  void Begin();
  // Does one thing.
  void Act();

  // On the server: no device for two claims, and a pod on a node has its devices there, reserved for it.
  void Check(Violations& violations);
  // When all pods are gone: no claim is reserved, and none that was made for a pod is there or holds a
  // device. One that several may share can keep its devices: a scheduler that gives a pod up takes its
  // reservation back and leaves the allocation to whoever comes next.
  void CheckNothingIsHeld(Violations& violations) const;
  // Claims that got devices.
  std::size_t allocated_count() const { return allocated_.size(); }

 private:
  void CreatePod();
  void DeletePod();
  void DeleteSharedClaim();
  void ChangeSlice();
  void ToggleRule();
  boost::json::object Slice(int number, int generation, int devices) const;
  bool IsOurs(const sandbox::Revision& pod) const { return pod.name().starts_with("dev-"); }

  WorldObjects objects_;
  const Size size_;
  base::Random random_;
  int pods_made_ = 0;
  int claims_made_ = 0;
  std::set<std::string> allocated_;  // uids
};

}  // namespace berth::sim
