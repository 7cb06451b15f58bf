#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "client/objects.h"

#include "base/text_hash.h"
#include "wire/watch_frame.h"

namespace berth::client {

struct ObjectEvent {
  enum class Type : std::uint8_t { kAdd, kUpdate, kDelete };

  Object object;    // of a deletion: what the server, or else the store, knew last
  Object old = {};  // of an update
  Type type = Type::kAdd;
  bool is_final_state_unknown = false;  // of a deletion that was found out by listing
};

// What happened to one resource, in order. Made by the client's thread, applied by the core's.
struct EventBatch {
  Resource resource = Resource::kPods;
  bool is_replace = false;  // the events are part of what leads to a whole list
  std::string resource_version;
  std::vector<ObjectEvent> events;
};

// The objects of one resource as last heard, which turns what a server says into events.
//
// An update that changes no resource version is no event. An object whose uid changed is another one: a
// deletion and an addition.
class ObjectStore {
 public:
  using Sink = std::function<void(std::vector<ObjectEvent>)>;

  // Deletions of what is missing come first, in the order of the keys; then the items in theirs. The sink
  // gets them in parts, so that a long list is not in memory once more as events; it is called at least once.
  void Replace(std::vector<ReadObject> items, const Sink& sink);
  // A watch's ADDED, MODIFIED or DELETED.
  void Apply(wire::WatchType type, ReadObject item, std::vector<ObjectEvent>& events);

  // By "namespace/name" or "name". Null if it is not there.
  const Object* Find(std::string_view key) const;
  std::size_t size() const { return entries_.size(); }

 private:
  // There are as many as objects in the cluster, so an entry keeps no text: its name is that of the object.
  struct Entry {
    mutable Object object;           // by another of the same name
    mutable std::uint32_t seen = 0;  // the last Replace that had it
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(const Identity& identity) const {
      return base::HashText(identity.namespace_, identity.name);
    }
    std::size_t operator()(const Entry& entry) const { return (*this)(IdentityOf(entry.object)); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const Identity& a, const Identity& b) const {
      return a.name == b.name && a.namespace_ == b.namespace_;
    }
    bool operator()(const Entry& a, const Entry& b) const {
      return (*this)(IdentityOf(a.object), IdentityOf(b.object));
    }
    bool operator()(const Entry& a, const Identity& b) const { return (*this)(IdentityOf(a.object), b); }
  };

  void Put(ReadObject item, std::vector<ObjectEvent>& events);

  absl::flat_hash_set<Entry, Hash, Equal> entries_;
  std::uint32_t replaces_ = 0;
};

}  // namespace berth::client
