#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "sandbox/control_plane.h"

namespace berth::sandbox {

// The controllers of a small cluster, all on the one thread of the control plane. They work through the same
// rules as requests do, and hear of changes as watches do; nothing is polled.
class Controllers {
 public:
  struct Options {
    std::set<std::string, std::less<>> disabled = {};          // by name
    base::Duration provision_delay = std::chrono::seconds(1);  // how long a volume takes to be made
  };

  // Names as kube-controller-manager has them, and `csi-provisioner`.
  static std::span<const std::string_view> Names();
  // Refuses names that no controller has.
  static base::Result<void> Check(const Options& options);

  Controllers(ControlPlane& plane, const Options& options);
  explicit Controllers(ControlPlane& plane) : Controllers(plane, Options()) {}
  ~Controllers();
  Controllers(const Controllers&) = delete;
  Controllers& operator=(const Controllers&) = delete;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::sandbox
