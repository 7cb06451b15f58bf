#pragma once

#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/error.h"
#include "base/executor.h"
#include "base/future.h"
#include "base/task.h"
#include "cycle/extender.h"

namespace berth::cycle {

// Questions to extenders, between the task that waits for an answer and whoever carries them.
class ExtenderCalls {
 public:
  explicit ExtenderCalls(base::Executor& executor) : executor_(executor) {}

  base::Task<base::Result<ExtenderAnswer>> Ask(ExtenderCall call);

  // What is to be asked now, in order.
  std::vector<ExtenderCall> TakeStarted();
  // An answer that nobody waits for is dropped.
  void Finish(ExtenderCallId id, base::Result<ExtenderAnswer> answer);
  // Asked or about to be.
  std::size_t pending_count() const { return waiting_.size(); }

 private:
  using Answer = base::Promise<base::Result<ExtenderAnswer>>;

  base::Executor& executor_;
  ExtenderCallId last_id_ = 0;
  std::vector<ExtenderCall> started_;
  absl::flat_hash_map<ExtenderCallId, Answer> waiting_;
};

}  // namespace berth::cycle
