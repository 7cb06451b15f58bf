#pragma once

#include <expected>
#include <utility>
#include <variant>

#include "base/error.h"
#include "framework/events.h"

namespace berth::plugins {

// The object of an event before and after it; null if it did not exist.
template <class T>
struct HintObjects {
  const T* before = nullptr;
  const T* after = nullptr;
};

// Fails for an object of another type, and for an event about nothing. A hint hands the error on; the queue
// then tries the pod.
template <class T>
base::Result<HintObjects<T>> ObjectsOf(const framework::HintInput& input) {
  HintObjects<T> objects;
  for (const auto& [object, typed] :
       {std::pair(&input.old_object, &objects.before), std::pair(&input.new_object, &objects.after)}) {
    if (std::holds_alternative<std::monostate>(*object)) continue;
    const T* const* const found = std::get_if<const T*>(object);
    if (found == nullptr) return base::Fail("the event is about an object of another kind");
    *typed = *found;
  }
  if (objects.before == nullptr && objects.after == nullptr) return base::Fail("the event has no object");
  return objects;
}

// For events after which the object is there.
template <class T>
base::Result<HintObjects<T>> ChangedObjectsOf(const framework::HintInput& input) {
  base::Result<HintObjects<T>> objects = ObjectsOf<T>(input);
  if (objects && objects->after == nullptr) return base::Fail("the event has no new object");
  return objects;
}

// For deletions.
template <class T>
base::Result<const T*> DeletedObjectOf(const framework::HintInput& input) {
  const base::Result<HintObjects<T>> objects = ObjectsOf<T>(input);
  if (!objects) return std::unexpected(objects.error());
  if (objects->before == nullptr) return base::Fail("the event has no old object");
  return objects->before;
}

inline framework::Hint QueueIf(bool helps) {
  return helps ? framework::Hint::kQueue : framework::Hint::kQueueSkip;
}

}  // namespace berth::plugins
