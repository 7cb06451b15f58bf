#pragma once

#include <cstddef>

namespace berth::wire {

// Bounds on what a peer or a file may make berth hold. Every decoder stops with an error at its bound; none
// of them allocates for a length that the input only announces.

// Go's watch clients give up on a larger frame, so no server sends one.
inline constexpr std::size_t kWatchFrameBytesMax = 16 << 20;

// Nested messages, objects and arrays. Real objects stay below 30; the bound keeps recursion off the stack's
// end.
inline constexpr std::size_t kNestingMax = 256;

// One JSON or YAML text. A list of a hundred thousand pods has about half of it.
inline constexpr std::size_t kDocumentBytesMax = std::size_t{1} << 30;

// YAML is written by people; a manifest or a configuration file of this size is none.
inline constexpr std::size_t kYamlBytesMax = 16 << 20;

}  // namespace berth::wire
