#include "sandbox/uid.h"

#include <cstdint>
#include <fmt/format.h>

namespace berth::sandbox {

std::string NewUid(base::Random& random) {
  const std::uint64_t high = (random.Next() & ~std::uint64_t{0xf000}) | 0x4000;  // version 4
  const std::uint64_t low = (random.Next() >> 2) | (std::uint64_t{1} << 63);     // variant 1
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff,
                     low >> 48, low & 0xffffffffffff);
}

}  // namespace berth::sandbox
