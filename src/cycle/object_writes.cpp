#include "cycle/object_writes.h"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/log.h"

namespace berth::cycle {
namespace {

std::string KeyOf(char kind, const api::ObjectMeta& metadata) {
  return fmt::format("{}{}/{}", kind, metadata.namespace_, metadata.name);
}

// The object that a write changes; empty: one that nobody else can name yet.
struct KeyOfObject {
  std::string operator()(const framework::ReserveVolume& write) const {
    return KeyOf('v', write.volume->metadata);
  }
  std::string operator()(const framework::SelectVolumeNode& write) const {
    return KeyOf('c', write.claim->metadata);
  }
  std::string operator()(const framework::UnreserveClaim& write) const { return KeyOf('d', write.claim); }
  std::string operator()(const framework::CreateClaim&) const { return {}; }
  std::string operator()(const framework::SetExtendedResourceClaim& write) const {
    return "p" + write.pod->uid;
  }
  std::string operator()(const auto& write) const { return KeyOf('d', write.claim->metadata); }
};

}  // namespace

base::Task<base::Result<cluster::AnyObject>> ObjectWrites::Write(framework::ObjectWrite write) {
  const WriteId id = ++last_id_;
  Answer answer(executor_);
  auto future = answer.future();
  waiting_.emplace(id, std::move(answer));
  Start({id, std::move(write)});
  std::optional<base::Result<cluster::AnyObject>> result = co_await future.Get();
  if (!result) co_return base::Fail("the write was given up");
  co_return *std::move(result);
}

void ObjectWrites::Post(framework::ObjectWrite write) { Start({++last_id_, std::move(write)}); }

void ObjectWrites::Start(StartedWrite write) {
  std::string key = std::visit(KeyOfObject(), write.write);
  if (!key.empty()) {
    const auto [line, is_free] = busy_.try_emplace(key);
    if (!is_free) {
      line->second.push_back(std::move(write));
      return;
    }
    object_of_.emplace(write.id, std::move(key));
  }
  started_.push_back(std::move(write));
}

std::size_t ObjectWrites::held_count() const {
  std::size_t count = 0;
  // house: hash-order: a sum does not depend on order
  for (const auto& [key, line] : busy_) count += line.size();
  return count;
}

std::vector<StartedWrite> ObjectWrites::TakeStarted() { return std::exchange(started_, {}); }

void ObjectWrites::Finish(WriteId id, base::Result<cluster::AnyObject> result) {
  if (auto object = object_of_.extract(id)) {
    const auto line = busy_.find(object.mapped());
    if (line->second.empty()) {
      busy_.erase(line);
    } else {
      StartedWrite next = std::move(line->second.front());
      line->second.pop_front();
      object_of_.emplace(next.id, std::move(object.mapped()));
      started_.push_back(std::move(next));
    }
  }
  auto waiting = waiting_.extract(id);
  if (waiting) {
    waiting.mapped().Set(std::move(result));
  } else if (!result) {
    BERTH_LOG_ERROR(result.error(), "A write to a claim or volume failed");
  }
}

}  // namespace berth::cycle
