#pragma once

#include <boost/json/fwd.hpp>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "wire/codec.h"

// Reading what the checkers of scheduling share. A case that cannot be read throws; the checker that entered
// the case catches it and reports a difference.
namespace berth::cli {

std::string Serialized(const boost::json::value& value);

template <class T>
T DecodeObject(const boost::json::value& value) {
  base::Result<T> decoded = wire::DecodeJson<T>(Serialized(value));
  if (!decoded) throw std::runtime_error(decoded.error().message);
  return *std::move(decoded);
}

// Empty if there is none.
std::string StringAt(const boost::json::object& object, std::string_view key);
std::string_view TextAt(const boost::json::object& object, std::string_view key);
std::vector<std::string> TextsAt(const boost::json::object& object, std::string_view key);
// Null if there is none, or if it is null.
const boost::json::value* ValueAt(const boost::json::object& object, std::string_view key);

template <class T>
std::optional<std::string> Compare(std::string_view what, const T& got, const std::type_identity_t<T>& want) {
  if (got == want) return std::nullopt;
  return fmt::format("{}: got {}, want {}", what, got, want);
}

}  // namespace berth::cli
