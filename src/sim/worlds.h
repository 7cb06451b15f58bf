#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/random.h"
#include "sandbox/control_plane.h"
#include "sandbox/controllers/controllers.h"
#include "sim/device_world.h"
#include "sim/promises.h"
#include "sim/volume_world.h"

namespace berth::sim {

// What a simulated cluster has beside pods that only compute: volumes, devices, both or neither, as its seed
// wants it, with the controllers that they need. Its draws are its own, so that it does not shift those of
// the rest.
class Worlds {
 public:
  Worlds(sandbox::ControlPlane& plane, int nodes, std::uint64_t seed);

  void Begin();
  // Does one thing in each.
  void Act();
  void EndFaults();
  // What must hold at any time.
  void Check(Violations& violations);
  // When all pods are gone.
  void CheckNothingIsHeld(Violations& violations) const;

  std::size_t volumes_bound() const { return volumes_ ? volumes_->bound_count() : 0; }
  std::size_t claims_allocated() const { return devices_ ? devices_->allocated_count() : 0; }
  // What was drawn.
  std::string Describe() const;

 private:
  base::Random random_;
  const base::Duration provision_delay_;
  const bool has_volumes_;
  const bool has_devices_;
  std::optional<sandbox::Controllers> controllers_;
  std::optional<VolumeWorld> volumes_;
  std::optional<DeviceWorld> devices_;
};

}  // namespace berth::sim
