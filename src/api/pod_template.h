#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "api/pod.h"

namespace berth::api {

// The part of a pod's spec that a scheduler looks at and that all pods of one Deployment share: requests, selectors,
// affinity, tolerations, spread constraints, ports, priority, gates, and the shape of its claims. Immutable; pods hold
// it by shared pointer, so it goes away with the last of them.
//
// What is a pod's own is cut out before interning (PodRecord has it): nodeName, the names of its persistent volume
// claims and resource claims. Volumes that no plugin reads (service-account tokens, config maps, empty dirs, with
// their random names) are dropped. A pod's labels were never part of the spec.
struct PodTemplate {
  PodSpec spec;
  std::size_t hash = 0;
};

using PodTemplateRef = std::shared_ptr<const PodTemplate>;

}  // namespace berth::api
