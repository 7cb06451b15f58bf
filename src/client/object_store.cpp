#include "client/object_store.h"

#include <utility>

namespace berth::client {

std::vector<ObjectEvent> ObjectStore::Replace(std::vector<ReadObject> items) {
  ++replaces_;
  std::vector<ObjectEvent> events;
  for (const ReadObject& item : items) {
    if (const auto found = entries_.find(item.key); found != entries_.end()) found->second.seen = replaces_;
  }
  std::erase_if(entries_, [&](auto& entry) {
    if (entry.second.seen == replaces_) return false;
    events.push_back({.type = ObjectEvent::Type::kDelete,
                      .object = std::move(entry.second.object),
                      .is_final_state_unknown = true});
    return true;
  });
  for (ReadObject& item : items) Put(std::move(item), events);
  return events;
}

void ObjectStore::Put(ReadObject item, std::vector<ObjectEvent>& events) {
  const auto [entry, is_new] = entries_.try_emplace(std::move(item.key));
  Entry& known = entry->second;
  if (is_new) {
    events.push_back({.type = ObjectEvent::Type::kAdd, .object = item.object});
  } else if (known.uid != item.uid) {
    events.push_back({.type = ObjectEvent::Type::kDelete,
                      .object = std::move(known.object),
                      .is_final_state_unknown = true});
    events.push_back({.type = ObjectEvent::Type::kAdd, .object = item.object});
  } else if (known.resource_version != item.resource_version) {
    events.push_back(
        {.type = ObjectEvent::Type::kUpdate, .object = item.object, .old = std::move(known.object)});
  }
  known = {.uid = std::move(item.uid),
           .resource_version = std::move(item.resource_version),
           .object = std::move(item.object),
           .seen = replaces_};
}

void ObjectStore::Apply(wire::WatchType type, ReadObject item, std::vector<ObjectEvent>& events) {
  if (type == wire::WatchType::kDeleted) {
    entries_.erase(item.key);
    events.push_back({.type = ObjectEvent::Type::kDelete, .object = std::move(item.object)});
    return;
  }
  Put(std::move(item), events);
}

const Object* ObjectStore::Find(const std::string& key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second.object;
}

}  // namespace berth::client
