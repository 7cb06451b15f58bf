#include "client/object_store.h"

#include <algorithm>
#include <utility>

namespace berth::client {

std::vector<ObjectEvent> ObjectStore::Replace(std::vector<ReadObject> items) {
  ++replaces_;
  std::vector<ObjectEvent> events;
  if (!entries_.empty()) {
    for (const ReadObject& item : items) {
      if (const auto found = entries_.find(IdentityOf(item.object)); found != entries_.end())
        found->seen = replaces_;
    }
  }
  absl::erase_if(entries_, [&](const Entry& entry) {
    if (entry.seen == replaces_) return false;
    // The entry is still asked for its name when it is erased.
    events.push_back(
        {.type = ObjectEvent::Type::kDelete, .object = entry.object, .is_final_state_unknown = true});
    return true;
  });
  std::ranges::sort(events, Identity::ComesBefore,
                    [](const ObjectEvent& event) { return IdentityOf(event.object); });
  entries_.reserve(items.size());
  events.reserve(events.size() + items.size());
  for (ReadObject& item : items) Put(std::move(item), events);
  return events;
}

void ObjectStore::Put(ReadObject item, std::vector<ObjectEvent>& events) {
  const Identity identity = IdentityOf(item.object);
  bool is_new = false;
  const auto found = entries_.lazy_emplace(identity, [&](const auto& make) {
    is_new = true;
    make(Entry{.object = item.object, .seen = replaces_});
  });
  if (is_new) {
    events.push_back({.type = ObjectEvent::Type::kAdd, .object = std::move(item.object)});
    return;
  }
  found->seen = replaces_;
  const Identity known = IdentityOf(found->object);
  if (known.uid != identity.uid) {
    events.push_back({.type = ObjectEvent::Type::kDelete,
                      .object = std::move(found->object),
                      .is_final_state_unknown = true});
    events.push_back({.type = ObjectEvent::Type::kAdd, .object = item.object});
  } else if (known.resource_version != identity.resource_version) {
    events.push_back(
        {.type = ObjectEvent::Type::kUpdate, .object = item.object, .old = std::move(found->object)});
  } else {
    return;  // the one that is here is the one that others have, too
  }
  found->object = std::move(item.object);
}

void ObjectStore::Apply(wire::WatchType type, ReadObject item, std::vector<ObjectEvent>& events) {
  if (type == wire::WatchType::kDeleted) {
    if (const auto found = entries_.find(IdentityOf(item.object)); found != entries_.end())
      entries_.erase(found);
    events.push_back({.type = ObjectEvent::Type::kDelete, .object = std::move(item.object)});
    return;
  }
  Put(std::move(item), events);
}

const Object* ObjectStore::Find(std::string_view key) const {
  const std::size_t slash = key.find('/');
  const Identity wanted = slash == key.npos
                              ? Identity{.namespace_ = {}, .name = key, .uid = {}, .resource_version = {}}
                              : Identity{.namespace_ = key.substr(0, slash),
                                         .name = key.substr(slash + 1),
                                         .uid = {},
                                         .resource_version = {}};
  const auto found = entries_.find(wanted);
  return found == entries_.end() ? nullptr : &found->object;
}

}  // namespace berth::client
