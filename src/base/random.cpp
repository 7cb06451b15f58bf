#include "base/random.h"

#include <bit>

#include "base/check.h"

namespace berth::base {

Random::Random(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    std::uint64_t mixed = seed;
    mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
    word = mixed ^ (mixed >> 31);
  }
}

std::uint64_t Random::Next() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

std::uint64_t Random::Uniform(std::uint64_t bound) {
  BERTH_CHECK(bound > 0);
  // Lemire's multiplication: the high word is the answer, and a low word below 2^64 mod bound is drawn again,
  // because those are the values that would come up once too often.
  using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(Next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t excess = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < excess) product = static_cast<Wide>(Next()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

double Random::UniformReal() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

}  // namespace berth::base
