#pragma once

#include <boost/json.hpp>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/string_map.h"
#include "base/clock.h"
#include "base/go_duration.h"
#include "config/base64.h"
#include "config/fields.h"
#include "config/json_tree.h"
#include "config/values.h"

// Described structs as JSON, the inverse of Decoder.
namespace berth::config {

inline boost::json::value Encode(bool value) { return value; }
inline boost::json::value Encode(std::int32_t value) { return std::int64_t{value}; }
inline boost::json::value Encode(std::int64_t value) { return value; }
inline boost::json::value Encode(const std::string& value) { return boost::json::string(value); }
inline boost::json::value Encode(base::Duration value) {
  return boost::json::string(base::FormatGoDuration(value));
}
inline boost::json::value Encode(const Base64Bytes& value) {
  return boost::json::string(EncodeBase64(value.bytes));
}
inline boost::json::value Encode(const RawValue& value) {
  return value.node ? ToJson(*value.node) : boost::json::value();
}
// With the digits that a float has: 0.1 and not 0.10000000149.
inline boost::json::value Encode(float value) {
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, value);
  double shortest = 0;
  std::from_chars(digits, end.ptr, shortest);
  constexpr double kIntegersMax = 1e15;
  if (std::floor(shortest) == shortest && std::fabs(shortest) < kIntegersMax) {
    return static_cast<std::int64_t>(shortest);
  }
  return shortest;
}
inline boost::json::value Encode(const api::StringMap& map) {
  boost::json::object object;
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

template <Described T>
boost::json::value Encode(const T& value);
template <class T>
boost::json::value Encode(const std::optional<T>& value);

template <class T>
boost::json::value Encode(const std::vector<T>& list) {
  boost::json::array array;
  for (const T& element : list) array.push_back(Encode(element));
  return array;
}

template <class T>
boost::json::value Encode(const std::optional<T>& value) {
  return value ? Encode(*value) : boost::json::value();
}

// Go's omitempty: false, 0, no text, no elements, no pointer; a struct is never empty.
template <class T>
bool IsEmpty(const T& value) {
  if constexpr (Described<T>) {
    return false;
  } else if constexpr (requires { value.has_value(); }) {
    return !value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return value.empty();
  } else {
    return value == T{};
  }
}

template <Described T>
boost::json::value Encode(const T& value) {
  boost::json::object object;
  ForEachField<T>([&](const auto& field) {
    const auto& member = std::invoke(field.access, value);
    if (field.when_empty == Emptiness::kLeftOut && IsEmpty(member)) return;
    object[field.name] = Encode(member);
  });
  return object;
}

}  // namespace berth::config
