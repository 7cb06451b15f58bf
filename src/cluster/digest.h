#pragma once

#include <cstdint>
#include <string_view>

namespace berth::cluster {

// A running hash of state, equal in every process and on every machine for equal state: tests and replays
// compare it. Not for hash tables (slow) and not against adversaries.
class Digester {
 public:
  void Add(std::uint64_t value) {
    state_ ^= value + 0x9e3779b97f4a7c15 + (state_ << 6) + (state_ >> 2);
    state_ *= 0xff51afd7ed558ccd;
    state_ ^= state_ >> 32;
  }
  void Add(std::string_view text) {
    Add(text.size());
    for (const char c : text) Add(static_cast<std::uint64_t>(static_cast<unsigned char>(c)));
  }
  // Two's complement makes every int64 one value.
  void AddSigned(std::int64_t value) { Add(static_cast<std::uint64_t>(value)); }

  std::uint64_t value() const { return state_; }

 private:
  std::uint64_t state_ = 0x243f6a8885a308d3;
};

}  // namespace berth::cluster
