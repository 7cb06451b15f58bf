#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"

namespace berth::cli {

// A scheduler on a thread of its own beside the control plane that it works for. It talks to it over the
// network like any other, so that what users see is what they would see on a cluster.
class EmbeddedScheduler {
 public:
  // `kubeconfig` is the text of one.
  static base::Result<std::unique_ptr<EmbeddedScheduler>> Start(const std::string& kubeconfig,
                                                                std::uint64_t seed);
  // Stops it; requests on their way are given up.
  ~EmbeddedScheduler();

 private:
  struct Parts;
  explicit EmbeddedScheduler(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
};

}  // namespace berth::cli
