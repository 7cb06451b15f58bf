#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "net/http_message.h"
#include "sandbox/revision.h"
#include "wire/watch_frame.h"

namespace berth::sandbox {

// One write.
struct Change {
  wire::WatchType type = wire::WatchType::kAdded;  // or kModified, kDeleted
  std::uint64_t version = 0;
  RevisionPtr object;    // after the write; for a removal the last state, under the removal's version
  RevisionPtr previous;  // before it; null for an addition
};

enum class WatchEncoding : std::uint8_t { kJson, kProtobuf };

// The events that one change is to those who watch, encoded once for each form and shared by all of them.
class ChangeFrames {
 public:
  explicit ChangeFrames(const Change& change) : change_(change) {}

  // kAdded and kModified carry the new object; kDeleted the last state of a removed one, or what an object
  // was before it stopped to match, under the version of the change.
  const net::Buffer& Frame(const Resource& served, wire::WatchType type, WatchEncoding encoding);
  // The object that such an event carries.
  const RevisionPtr& Object(wire::WatchType type);

 private:
  struct Entry {
    const Resource* served;
    wire::WatchType type;
    WatchEncoding encoding;
    net::Buffer frame;
  };

  const Change& change_;
  RevisionPtr departed_;
  std::vector<Entry> entries_;
};

// One event of a watch, framed.
net::Buffer MakeFrame(const Resource& served, wire::WatchType type, const Revision& object,
                      WatchEncoding encoding);

// What a change is to somebody who sees only part of the objects; nothing if it does not concern him.
template <class Matches>
std::optional<wire::WatchType> EventFor(const Change& change, const Matches& matches) {
  const bool before = change.previous != nullptr && matches(*change.previous);
  const bool after = change.type != wire::WatchType::kDeleted && matches(*change.object);
  if (!before && !after) return std::nullopt;
  if (!before) return wire::WatchType::kAdded;
  return after ? wire::WatchType::kModified : wire::WatchType::kDeleted;
}

}  // namespace berth::sandbox
