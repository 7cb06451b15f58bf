#pragma once

#include <cstdint>
#include <limits>

// Arithmetic whose results are kube-scheduler's also where C++ has none: amounts are input and may be absurd.
namespace berth::plugins {

// These wrap around.
inline std::int64_t WrappingAdd(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}
inline std::int64_t WrappingSubtract(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
inline std::int64_t WrappingMultiply(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// Towards zero. What does not fit, and what is no number, becomes the least number: that is what Go does on
// amd64.
inline std::int64_t Truncated(double x) {
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  return x >= -kEnd && x < kEnd ? static_cast<std::int64_t>(x) : std::numeric_limits<std::int64_t>::min();
}

}  // namespace berth::plugins
