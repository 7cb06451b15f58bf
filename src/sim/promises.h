#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/scheduler.h"
#include "sandbox/control_plane.h"

// What must hold, however badly the world behaves. Each check appends what is wrong, in a sentence.
namespace berth::sim {

using Violations = std::vector<std::string>;

// On the server: no node has more than it offers, in resources, number of pods and ports.
void CheckNothingOvercommitted(sandbox::Store& store, Violations& violations);

// On the server: every pod is on a node for which `likes` holds.
void CheckOpinionHeeded(sandbox::Store& store,
                        const std::function<bool(const api::PodRecord&, std::string_view node)>& likes,
                        Violations& violations);

// In the scheduler: a pod that waits is in exactly one place of the queue, a pod that does not is in none.
void CheckEveryPodHasOnePlace(const core::Scheduler& scheduler, Violations& violations);

// When nothing is under way any more: nominations are those that the pods' statuses say.
void CheckNominations(const core::Scheduler& scheduler, Violations& violations);

// When nothing is under way any more: no pod waits that could have the place of less important ones. Reckoned
// anew, and only for pods and nodes so plain that no more than sums matters; `likes` as above.
void CheckNobodyCouldEvict(const core::Scheduler& scheduler,
                           const std::function<bool(const api::PodRecord&, std::string_view node)>& likes,
                           Violations& violations);

// When all pods are gone: nothing is remembered of them.
void CheckNothingIsLeft(const core::Scheduler& scheduler, Violations& violations);

}  // namespace berth::sim
