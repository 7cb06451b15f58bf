#include "client/object_store.h"

#include <algorithm>
#include <utility>

namespace berth::client {
namespace {

constexpr std::size_t kEventsMax = 512;

}  // namespace

void ObjectStore::Replace(std::vector<ReadObject> items, const Sink& sink) {
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
        {.object = entry.object, .type = ObjectEvent::Type::kDelete, .is_final_state_unknown = true});
    return true;
  });
  std::ranges::sort(events, Identity::ComesBefore,
                    [](const ObjectEvent& event) { return IdentityOf(event.object); });
  entries_.reserve(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (events.capacity() == 0) events.reserve(std::min(kEventsMax, items.size() - i));
    Put(std::move(items[i]), events);
    if (events.size() >= kEventsMax) sink(std::exchange(events, {}));
  }
  sink(std::move(events));
}

void ObjectStore::Put(ReadObject item, std::vector<ObjectEvent>& events) {
  const Identity identity = IdentityOf(item.object);
  bool is_new = false;
  const auto found = entries_.lazy_emplace(identity, [&](const auto& make) {
    is_new = true;
    make(Entry{.object = item.object, .seen = replaces_});
  });
  if (is_new) {
    events.push_back({.object = std::move(item.object), .type = ObjectEvent::Type::kAdd});
    return;
  }
  found->seen = replaces_;
  const Identity known = IdentityOf(found->object);
  if (known.uid != identity.uid) {
    events.push_back({.object = std::move(found->object),
                      .type = ObjectEvent::Type::kDelete,
                      .is_final_state_unknown = true});
    events.push_back({.object = item.object, .type = ObjectEvent::Type::kAdd});
  } else if (known.resource_version != identity.resource_version) {
    events.push_back(
        {.object = item.object, .old = std::move(found->object), .type = ObjectEvent::Type::kUpdate});
  } else {
    return;  // the one that is here is the one that others have, too
  }
  found->object = std::move(item.object);
}

void ObjectStore::Apply(wire::WatchType type, ReadObject item, std::vector<ObjectEvent>& events) {
  if (type == wire::WatchType::kDeleted) {
    if (const auto found = entries_.find(IdentityOf(item.object)); found != entries_.end())
      entries_.erase(found);
    events.push_back({.object = std::move(item.object), .type = ObjectEvent::Type::kDelete});
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
