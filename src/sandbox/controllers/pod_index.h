#pragma once

#include <absl/container/btree_map.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/control_plane.h"

namespace berth::sandbox {

enum class PodPhase : std::uint8_t { kPending, kRunning, kSucceeded, kFailed };

// A pod as controllers see it. What is not in the revision's head is read from the document when it is first
// asked for: most pods are never looked at so closely.
class WatchedPod {
 public:
  explicit WatchedPod(RevisionPtr revision) : revision_(std::move(revision)) {}

  const Revision& revision() const { return *revision_; }
  std::string_view node_name() const { return revision_->field(0); }
  PodPhase phase() const;
  bool is_finished() const { return phase() == PodPhase::kSucceeded || phase() == PodPhase::kFailed; }
  // Neither finished nor on its way out.
  bool is_active() const { return !is_finished() && !revision_->is_terminating(); }
  bool is_ready() const { return details().ready_since.has_value(); }
  std::optional<std::int64_t> ready_since() const { return details().ready_since; }  // seconds, wall time
  std::int64_t created() const { return details().created; }
  std::int64_t restarts() const { return details().restarts; }
  std::int64_t deletion_cost() const { return details().deletion_cost; }
  // Ready for so long that it counts.
  bool IsAvailable(std::int64_t min_ready_seconds, std::int64_t now) const;

 private:
  struct Details {
    std::optional<std::int64_t> ready_since;
    std::int64_t created = 0;
    std::int64_t restarts = 0;
    std::int64_t deletion_cost = 0;
  };
  const Details& details() const;

  RevisionPtr revision_;
  mutable std::optional<Details> details_;
};

using WatchedPodPtr = std::shared_ptr<const WatchedPod>;

class PodListener {
 public:
  virtual ~PodListener() = default;
  // Before the change and after it; null if there was none. Called while the store announces: writes wait.
  virtual void OnPod(const WatchedPodPtr& before, const WatchedPodPtr& after) = 0;
};

// Pods by the object that manages them and by node, kept up to date change by change.
class PodIndex final : public ChangeReceiver {
 public:
  using Pods = absl::btree_map<std::string, WatchedPodPtr>;  // by key

  explicit PodIndex(ControlPlane& plane);
  ~PodIndex() override;
  PodIndex(const PodIndex&) = delete;
  PodIndex& operator=(const PodIndex&) = delete;

  const Pods& OwnedBy(std::string_view uid) const;
  const Pods& OnNode(std::string_view node) const;

  // In the order of listening. Listeners outlive the index's changes.
  void Listen(PodListener& listener) { listeners_.push_back(&listener); }

  void OnChange(const Change& change, ChangeFrames& frames) override;

 private:
  using Buckets = absl::btree_map<std::string, Pods, std::less<>>;

  static const Pods& Find(const Buckets& buckets, std::string_view key);
  void Insert(const WatchedPodPtr& pod);
  WatchedPodPtr Take(const RevisionPtr& previous);

  ControlPlane& plane_;
  SubscriptionId subscription_;
  Buckets by_owner_;
  Buckets by_node_;
  std::vector<PodListener*> listeners_;
};

}  // namespace berth::sandbox
