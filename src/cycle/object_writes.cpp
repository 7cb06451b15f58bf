#include "cycle/object_writes.h"

#include <optional>
#include <utility>

#include "base/log.h"

namespace berth::cycle {

base::Task<base::Result<cluster::AnyObject>> ObjectWrites::Write(framework::ObjectWrite write) {
  const WriteId id = ++last_id_;
  Answer answer(executor_);
  auto future = answer.future();
  waiting_.emplace(id, std::move(answer));
  started_.push_back({id, std::move(write)});
  std::optional<base::Result<cluster::AnyObject>> result = co_await future.Get();
  if (!result) co_return base::Fail("the write was given up");
  co_return *std::move(result);
}

void ObjectWrites::Post(framework::ObjectWrite write) { started_.push_back({++last_id_, std::move(write)}); }

std::vector<StartedWrite> ObjectWrites::TakeStarted() { return std::exchange(started_, {}); }

void ObjectWrites::Finish(WriteId id, base::Result<cluster::AnyObject> result) {
  auto waiting = waiting_.extract(id);
  if (waiting) {
    waiting.mapped().Set(std::move(result));
  } else if (!result) {
    BERTH_LOG_ERROR(result.error(), "A write to a claim or volume failed");
  }
}

}  // namespace berth::cycle
