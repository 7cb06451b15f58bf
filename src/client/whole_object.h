#pragma once

#include <memory>
#include <string>
#include <utility>

#include "client/objects.h"

namespace berth::client {

// The bytes that an object was read from. What berth decodes is what a scheduler reads; programs outside that
// are shown an object expect all of it.
struct WholeBytes {
  Encoding encoding = Encoding::kProtobuf;
  std::string bytes;
};

// Rides on the pointer to the object, as its deleter, so that the object's own type knows nothing of it and
// objects without cost nothing.
template <class T>
struct WholeKeeper {
  Shared<T> object;
  WholeBytes whole;

  void operator()(const T*) { object.reset(); }
};

// The same object, with its bytes.
template <class T>
Shared<T> WithWhole(Shared<T> object, WholeBytes whole) {
  const T* const plain = object.get();
  return Shared<T>(plain, WholeKeeper<T>{std::move(object), std::move(whole)});
}

// Null if they were not kept.
template <class T>
const WholeBytes* WholeOf(const Shared<T>& object) {
  const auto* const keeper = std::get_deleter<WholeKeeper<T>>(object);
  return keeper == nullptr ? nullptr : &keeper->whole;
}

// A reader whose objects have their bytes with them. Costs the bytes of every object for as long as it lives.
std::unique_ptr<ObjectReader> MakeWholeReader(std::unique_ptr<ObjectReader> reader);

}  // namespace berth::client
