#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/scheduler.h"
#include "sim/promises.h"

namespace berth::sim {

// A pod that makes room for itself has the place from that moment on, not from the moment at which its status
// says so: no pod of at most its priority may take what it needs while the word is on its way.
//
// Looks at what a scheduler does and at where its pods are, not at what it remembers of nominations. A place
// is given up where that could be right: when the pod is tried again, when a more important one comes to the
// node or is nominated there, when the node goes.
class KeptPlaces {
 public:
  // The scheduler is gone, and with it what it had in mind.
  void Clear() { places_.clear(); }
  // A request has its answer: from here on the pod's status decides.
  void Answered(dispatch::CallId call);
  // After a step that led to these requests.
  void Look(const core::Scheduler& scheduler, std::span<const core::ApiCall> calls, Violations& violations);

  // Places that were watched over, so that a test can tell that there were some.
  std::size_t kept_count() const { return kept_count_; }

 private:
  struct Place {
    dispatch::CallId call;
    std::string pod;  // uid
    std::string node;
    std::int32_t priority = 0;
    std::int32_t attempts = 0;
    std::set<std::string> there;  // uids of the pods of the node that were looked at
  };

  static bool IsGivenUp(const core::Scheduler& scheduler, const Place& place);
  // False: the place need not be kept any longer.
  static bool LookAt(const core::Scheduler& scheduler, Place& place, Violations& violations);

  std::vector<Place> places_;
  std::size_t kept_count_ = 0;
};

}  // namespace berth::sim
