#pragma once

#include <cstdint>

namespace berth::api {

// One step of a hash that is the same in every process, unlike absl::Hash: multiply to 128 bits and fold.
inline std::uint64_t HashMix(std::uint64_t state, std::uint64_t value) {
  const auto product = static_cast<unsigned __int128>(state ^ value) * 0x9E3779B97F4A7C15U;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U) ^
         0xA0761D6478BD642FU;
}

}  // namespace berth::api
