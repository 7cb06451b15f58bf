#include "client/uuid.h"

#include <cstdint>

#include "fmt/format.h"

namespace berth::client {

std::string MakeUuid(base::Random& random) {
  const std::uint64_t high = (random.Next() & ~std::uint64_t{0xf000}) | 0x4000;
  const std::uint64_t low = (random.Next() >> 2) | (std::uint64_t{1} << 63);
  return fmt::format("{:08x}-{:04x}-{:04x}-{:04x}-{:012x}", high >> 32, (high >> 16) & 0xffff, high & 0xffff,
                     low >> 48, low & 0xffff'ffff'ffff);
}

}  // namespace berth::client
