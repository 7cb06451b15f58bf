#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "client/objects.h"

#include "wire/watch_frame.h"

namespace berth::client {

struct ObjectEvent {
  enum class Type : std::uint8_t { kAdd, kUpdate, kDelete };

  Type type = Type::kAdd;
  Object object;                        // of a deletion: what the server, or else the store, knew last
  Object old = {};                      // of an update
  bool is_final_state_unknown = false;  // of a deletion that was found out by listing
};

// What happened to one resource, in order. Made by the client's thread, applied by the core's.
struct EventBatch {
  Resource resource = Resource::kPods;
  bool is_replace = false;  // the events lead to what a whole list says
  std::string resource_version;
  std::vector<ObjectEvent> events;
};

// The objects of one resource as last heard, which turns what a server says into events.
//
// An update that changes no resource version is no event. An object whose uid changed is another one: a
// deletion and an addition.
class ObjectStore {
 public:
  // Deletions of what is missing come first, in the order of the keys; then the items in theirs.
  std::vector<ObjectEvent> Replace(std::vector<ReadObject> items);
  // A watch's ADDED, MODIFIED or DELETED.
  void Apply(wire::WatchType type, ReadObject item, std::vector<ObjectEvent>& events);

  const Object* Find(const std::string& key) const;
  std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string uid;
    std::string resource_version;
    Object object;
    std::uint64_t seen = 0;  // the last Replace that had it
  };

  void Put(ReadObject item, std::vector<ObjectEvent>& events);

  std::map<std::string, Entry> entries_;
  std::uint64_t replaces_ = 0;
};

}  // namespace berth::client
