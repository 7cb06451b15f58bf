#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/executor.h"
#include "base/future.h"
#include "framework/object_writes.h"

namespace berth::cycle {

using WriteId = std::uint64_t;

struct StartedWrite {
  WriteId id;
  framework::ObjectWrite write;
};

// Writes of plugins, between the plugin that waits for one and whoever makes the request.
//
// Those to one object are made one after the other: a reservation that is taken back and made again must not
// arrive in the other order.
class ObjectWrites final : public framework::ObjectWriter {
 public:
  explicit ObjectWrites(base::Executor& executor) : executor_(executor) {}

  base::Task<base::Result<cluster::AnyObject>> Write(framework::ObjectWrite write) override;
  void Post(framework::ObjectWrite write) override;

  // What is to be requested now, in the order in which it was asked for.
  std::vector<StartedWrite> TakeStarted();
  void Finish(WriteId id, base::Result<cluster::AnyObject> result);
  // Started or about to be.
  std::size_t pending_count() const { return waiting_.size() + started_.size(); }
  // Of these, the ones that wait for another of their object.
  std::size_t held_count() const;

 private:
  using Answer = base::Promise<base::Result<cluster::AnyObject>>;

  void Start(StartedWrite write);

  base::Executor& executor_;
  WriteId last_id_ = 0;
  std::vector<StartedWrite> started_;
  absl::flat_hash_map<WriteId, Answer> waiting_;  // nobody waits for what was posted
  // Objects that a write is under way to, and the writes behind it.
  absl::flat_hash_map<std::string, std::deque<StartedWrite>> busy_;
  absl::flat_hash_map<WriteId, std::string> object_of_;  // of the writes under way
};

}  // namespace berth::cycle
