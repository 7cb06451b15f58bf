#include "cycle/pod_deletions.h"

#include <utility>

namespace berth::cycle {
namespace {

dispatch::CallOutcome GivenUp() {
  return {.end = dispatch::CallEnd::kFailed, .message = "the deletion was given up"};
}

// The dispatcher drops the calls of a pod that is gone: nothing is left to be done.
dispatch::CallOutcome Understood(dispatch::CallOutcome outcome) {
  if (outcome.end == dispatch::CallEnd::kCancelled) outcome.end = dispatch::CallEnd::kSkipped;
  return outcome;
}

}  // namespace

void PodDeletions::Start(const cluster::PodRecordRef& pod, api::PodCondition condition) {
  dispatch::Call call{.type = dispatch::CallType::kPodDeletion, .pod = pod, .change = {}};
  call.change.conditions.push_back(std::move(condition));
  call.on_finish = [under_way = under_way_, uid = pod->uid](const dispatch::CallOutcome& outcome) {
    const auto found = under_way->find(uid);
    Waiting waiting = std::move(found->second);
    under_way->erase(found);
    for (auto& promise : waiting) promise.Set(outcome);
  };
  static_cast<void>(dispatcher_.Add(std::move(call)));
}

base::Task<dispatch::CallOutcome> PodDeletions::Delete(cluster::PodRecordRef pod,
                                                       api::PodCondition condition) {
  base::Promise<dispatch::CallOutcome> promise(executor_);
  auto future = promise.future();
  const auto [entry, is_first] = under_way_->try_emplace(pod->uid);
  entry->second.push_back(std::move(promise));
  if (is_first) Start(pod, std::move(condition));
  std::optional<dispatch::CallOutcome> outcome = co_await future.Get();
  if (!outcome) co_return GivenUp();
  co_return Understood(*std::move(outcome));
}

}  // namespace berth::cycle
