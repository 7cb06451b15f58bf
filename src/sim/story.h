#pragma once

#include <boost/json/fwd.hpp>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/control_plane.h"

namespace berth::sim {

// Tells what happens on the server as it happens, one line for each change of an object that a run is about,
// and what the scheduler asks for. For whoever wants to know how a failure came about.
class Story final : public sandbox::ChangeReceiver {
 public:
  // The stream and the control plane must outlive it.
  Story(sandbox::ControlPlane& plane, std::ostream& out);
  ~Story() override;
  Story(const Story&) = delete;
  Story& operator=(const Story&) = delete;

  // One line, with the time.
  void Tell(std::string_view what);

  void OnChange(const sandbox::Change& change, sandbox::ChangeFrames& frames) override;

 private:
  sandbox::ControlPlane& plane_;
  std::ostream& out_;
  std::vector<sandbox::SubscriptionId> subscriptions_;
};

}  // namespace berth::sim
