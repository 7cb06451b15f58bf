#pragma once

#include <expected>
#include <string>
#include <utility>

namespace berth::base {

// What went wrong, in words for the person who can mend it: the field path or byte offset, the file, the URL.
//
// Errors are values and cross rooms inside a Result. A caller that must tell errors apart gets a type of its
// own from the room that makes them; text is never parsed.
struct Error {
  std::string message;

  bool operator==(const Error&) const = default;
};

template <class T>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> Fail(std::string message) {
  return std::unexpected<Error>(Error{std::move(message)});
}

}  // namespace berth::base
