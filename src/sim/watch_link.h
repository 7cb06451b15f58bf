#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "client/object_store.h"
#include "client/objects.h"
#include "client/resource.h"

#include "api/pod_record.h"
#include "base/clock.h"
#include "base/random.h"
#include "core/messages.h"
#include "sandbox/control_plane.h"
#include "sim/faults.h"

namespace berth::sim {

// The objects of the server that a client of this kind asks for.
sandbox::Selection SelectionOf(client::Resource resource);

// What a scheduler hears of one kind of object: every change in order, each some time after it was made.
//
// While it is cut nothing arrives. When it heals, what was missed comes in order, or the connection has lost
// its place and the whole state is listed, as after a 410.
class WatchLink final : public sandbox::ChangeReceiver {
 public:
  WatchLink(sandbox::ControlPlane& plane, client::Resource resource, api::SharedParts& shared);
  ~WatchLink() override;
  WatchLink(const WatchLink&) = delete;
  WatchLink& operator=(const WatchLink&) = delete;

  // Changes from now on take up to this long.
  void SetDelay(base::Duration max, base::Random random) {
    delay_max_ = max;
    random_ = random;
  }
  void Cut() { is_cut_ = true; }
  void Heal(bool relist);
  bool is_cut() const { return is_cut_; }
  // A new scheduler knows nothing yet: it gets everything there is.
  void Restart();

  // When there is something to take.
  std::optional<base::TimePoint> NextDeadline() const;
  void TakeDue(base::TimePoint now, std::vector<core::Input>& inputs);
  // Everything that was made has arrived.
  bool IsIdle() const { return !is_cut_ && !must_list_ && backlog_.empty(); }

  void OnChange(const sandbox::Change& change, sandbox::ChangeFrames& frames) override;

 private:
  struct Late {
    base::TimePoint due;
    wire::WatchType type;
    sandbox::RevisionPtr object;
  };

  client::ReadObject Read(const sandbox::Revision& revision);
  void List(std::vector<core::Input>& inputs);

  sandbox::ControlPlane& plane_;
  const client::Resource resource_;
  const sandbox::Selection selection_;
  std::unique_ptr<client::ObjectReader> reader_;
  client::ObjectStore seen_;
  std::deque<Late> backlog_;
  base::Duration delay_max_{};
  base::Random random_{0};
  bool is_cut_ = false;
  bool must_list_ = true;
  sandbox::SubscriptionId subscription_;
};

}  // namespace berth::sim
