#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/executor.h"
#include "base/future.h"
#include "base/task.h"
#include "dispatch/dispatcher.h"

namespace berth::cycle {

// Deletes pods through the dispatcher. Who wants a pod gone that is being deleted already waits for the same
// request.
class PodDeletions {
 public:
  PodDeletions(dispatch::Dispatcher& dispatcher, base::Executor& executor)
      : dispatcher_(dispatcher), executor_(executor) {}

  // The status says `condition` first. Skipped: the pod was gone.
  base::Task<dispatch::CallOutcome> Delete(cluster::PodRecordRef pod, api::PodCondition condition);

 private:
  using Waiting = std::vector<base::Promise<dispatch::CallOutcome>>;
  // Shared with the calls: they may end after this object.
  using UnderWay = absl::flat_hash_map<std::string, Waiting>;

  void Start(const cluster::PodRecordRef& pod, api::PodCondition condition);

  dispatch::Dispatcher& dispatcher_;
  base::Executor& executor_;
  std::shared_ptr<UnderWay> under_way_ = std::make_shared<UnderWay>();  // by uid
};

}  // namespace berth::cycle
