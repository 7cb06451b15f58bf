#pragma once

#include <array>
#include <cstdint>

namespace berth::base {

// Random numbers that are the same on every machine for the same seed: xoshiro256** by Blackman and Vigna,
// its state filled from the seed by splitmix64. Not for secrets.
class Random {
 public:
  explicit Random(std::uint64_t seed);

  std::uint64_t Next();
  // 0 to bound - 1, each equally likely; the bound is not zero.
  std::uint64_t Uniform(std::uint64_t bound);
  // 0 to just below 1, in steps of 2^-53.
  double UniformReal();
  // True with this probability.
  bool Chance(double probability) { return UniformReal() < probability; }

  // Another generator, for a part whose draws must not shift those of the rest.
  Random Split() { return Random(Next()); }

  // For comparing runs and for recordings.
  const std::array<std::uint64_t, 4>& state() const { return state_; }

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace berth::base
