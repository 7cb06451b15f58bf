#pragma once

namespace berth::test {

// Whether a sanitizer looks on, under which a test takes many times as long. One that tries many seeds then
// tries fewer; what it asks of each stays the same.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace berth::test
