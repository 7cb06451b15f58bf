#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/executor.h"
#include "base/future.h"
#include "base/interner.h"
#include "framework/binding_points.h"
#include "framework/status.h"

namespace berth::cycle {

struct PermitWait {
  std::string plugin;
  base::Duration timeout;
  framework::AfterWait after_wait = framework::AfterWait::kReject;
};

// Pods that Permit plugins let wait before they are bound. The first decision counts: all plugins allow, one
// rejects, or the time of one is over that rejects then.
class WaitingPods {
 public:
  explicit WaitingPods(base::Executor& executor) : executor_(executor) {}
  ~WaitingPods();
  WaitingPods(const WaitingPods&) = delete;
  WaitingPods& operator=(const WaitingPods&) = delete;

  // Success, or the rejection with its plugin. The pod must not wait already.
  base::Future<framework::Status> Add(std::string_view uid, std::vector<PermitWait> waits);

  bool Contains(std::string_view uid) const { return by_uid_.contains(uid); }
  std::size_t size() const { return by_uid_.size(); }
  // Each is false if the pod does not wait (for this plugin).
  bool Allow(std::string_view uid, std::string_view plugin);
  bool Reject(std::string_view uid, std::string_view plugin, std::string message);
  // As an error, not as a rejection: the pod did nothing wrong and is tried again.
  bool Preempt(std::string_view uid, std::string_view plugin, std::string message);

 private:
  struct Pending {
    std::string plugin;
    base::TimerQueue::TimerId timer;
  };
  struct Waiting {
    std::vector<Pending> pending;
    base::Promise<framework::Status> decision;
  };

  bool Decide(std::string_view uid, framework::Status status);

  base::Executor& executor_;
  absl::flat_hash_map<std::string, std::unique_ptr<Waiting>, base::TextHash, std::equal_to<>> by_uid_;
};

}  // namespace berth::cycle
