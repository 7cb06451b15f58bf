#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/error.h"
#include "sandbox/control_plane.h"

namespace berth::sandbox {

// Node documents as a kubelet registers them: node-1, node-2, ... in three zones, ready, 8 CPUs, 32Gi, 110
// pods.
boost::json::object MakeNode(int number, const std::string& now);
base::Result<void> AddNodes(ObjectWriter& writer, int count);

// What nodes do, without nodes: starts the pods that are bound, ends those that are told to, and renews the
// nodes' leases.
//
// A bound pod runs and is ready a moment later, with an address of its own. If it has the annotation
// `berth.dev/run-seconds`, its program ends after so many seconds; that of a Job's pod ends soon without it.
// It ends well unless `berth.dev/exit-code` says otherwise: then the pod fails, or the program starts again,
// as the restart policy has it. A terminating pod is gone after a second, or after its grace if that is
// shorter.
class FakeKubelet final : public ChangeReceiver {
 public:
  struct Timing {
    base::Duration start = std::chrono::milliseconds(300);
    base::Duration stop = std::chrono::seconds(1);
    base::Duration heartbeat = std::chrono::seconds(10);
  };

  FakeKubelet(ControlPlane& plane, Timing timing);
  explicit FakeKubelet(ControlPlane& plane) : FakeKubelet(plane, Timing()) {}
  ~FakeKubelet() override;
  FakeKubelet(const FakeKubelet&) = delete;
  FakeKubelet& operator=(const FakeKubelet&) = delete;

  void OnChange(const Change& change, ChangeFrames& frames) override;

 private:
  // Sees to it that the pod is looked at when its time comes.
  void Consider(const Revision& revision);
  // The pod of that key is looked at again when the time comes; whatever it is by then decides.
  void LookAgain(const std::string& key, base::Duration delay);
  void Look(const std::string& key);
  void Start(const RevisionPtr& pod, boost::json::object document);
  void Finish(const RevisionPtr& pod, boost::json::object document);
  void Heartbeat();
  void RenewLease(std::string_view node);
  void PostFirstStatus(std::string_view node);
  std::string NextAddress();
  void Patch(const RevisionPtr& pod, boost::json::object document);

  ControlPlane& plane_;
  const Timing timing_;
  const Resource& pods_;
  const Resource& nodes_;
  const Resource& leases_;
  SubscriptionId subscription_;
  std::map<std::string, base::TimerQueue::TimerId, std::less<>> due_;
  base::TimerQueue::TimerId heartbeat_;
  std::uint32_t addresses_given_ = 0;
};

}  // namespace berth::sandbox
