#pragma once

#include <cstddef>

namespace berth::cel {

// What a value may grow to. The cost of an expression bounds how long it runs, not what it allocates: joining
// or flattening many references to one big value is cheap to count and dear to hold. Upstream has no such
// bounds.
inline constexpr std::size_t kStringBytesMax = std::size_t{64} << 20;
inline constexpr std::size_t kListItemsMax = 4'000'000;
inline constexpr int kFormatPrecisionMax = 1000;

}  // namespace berth::cel
