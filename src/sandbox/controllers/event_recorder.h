#pragma once

#include <cstdint>
#include <string_view>

#include "sandbox/control_plane.h"

namespace berth::sandbox {

// Writes the events that `kubectl describe` shows below an object.
class EventRecorder {
 public:
  explicit EventRecorder(ControlPlane& plane) : plane_(plane) {}

  struct Note {
    std::string_view component;  // "deployment-controller"
    std::string_view reason;
    std::string_view message;
    bool is_warning = false;
  };
  void Record(const Revision& about, const Note& note);

 private:
  ControlPlane& plane_;
  std::uint64_t count_ = 0;
};

}  // namespace berth::sandbox
