#include "cycle/waiting_pods.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/check.h"
#include "base/go_duration.h"

namespace berth::cycle {
namespace {

constexpr base::Duration kTimeoutMax = std::chrono::minutes(15);

}  // namespace

WaitingPods::~WaitingPods() {
  // house: hash-order: cancelling timers has no order
  for (const auto& [uid, waiting] : by_uid_) {
    for (const Pending& pending : waiting->pending) executor_.timers().Cancel(pending.timer);
  }
}

base::Future<framework::Status> WaitingPods::Add(std::string_view uid, std::vector<PermitWait> waits) {
  BERTH_CHECK(!by_uid_.contains(uid) && !waits.empty());
  auto waiting = std::make_unique<Waiting>(
      Waiting{.pending = {}, .decision = base::Promise<framework::Status>(executor_)});
  for (PermitWait& wait : waits) {
    const base::Duration timeout = std::min(wait.timeout, kTimeoutMax);
    const auto timer = executor_.timers().Schedule(
        executor_.clock().Now() + timeout,
        [this, uid = std::string(uid), plugin = wait.plugin, timeout, after_wait = wait.after_wait] {
          if (after_wait == framework::AfterWait::kAllow) {
            Allow(uid, plugin);
          } else {
            Reject(uid, plugin,
                   "rejected due to timeout after waiting " + base::FormatGoDuration(timeout) +
                       " at plugin " + plugin);
          }
        });
    waiting->pending.push_back({std::move(wait.plugin), timer});
  }
  auto future = waiting->decision.future();
  by_uid_.emplace(uid, std::move(waiting));
  return future;
}

bool WaitingPods::Allow(std::string_view uid, std::string_view plugin) {
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return false;
  auto& pending = found->second->pending;
  const auto allowed = std::ranges::find(pending, plugin, &Pending::plugin);
  if (allowed == pending.end()) return false;
  executor_.timers().Cancel(allowed->timer);
  pending.erase(allowed);
  if (pending.empty()) Decide(uid, {});
  return true;
}

bool WaitingPods::Reject(std::string_view uid, std::string_view plugin, std::string message) {
  return Decide(uid, framework::Status::Unschedulable(std::move(message)).WithPlugin(plugin));
}

bool WaitingPods::Preempt(std::string_view uid, std::string_view plugin, std::string message) {
  return Decide(uid, framework::Status::Error(std::move(message)).WithPlugin(plugin));
}

bool WaitingPods::Decide(std::string_view uid, framework::Status status) {
  const auto found = by_uid_.find(uid);
  if (found == by_uid_.end()) return false;
  const std::unique_ptr<Waiting> decided = std::move(found->second);
  by_uid_.erase(found);
  for (const Pending& pending : decided->pending) executor_.timers().Cancel(pending.timer);
  decided->decision.Set(std::move(status));
  return true;
}

}  // namespace berth::cycle
