#pragma once

#include <string>

namespace berth::api {

// A part of an object whose schema belongs to somebody else (device parameters of a driver). It is kept as
// JSON text and passed on, never looked into.
struct RawJson {
  std::string text;

  bool operator==(const RawJson&) const = default;
};

}  // namespace berth::api
