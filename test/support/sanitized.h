#pragma once

namespace berth::test {

// Whether a sanitizer looks on, under which a test takes many times as long. One that tries many seeds then
// tries fewer; what it asks of each stays the same.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // as g++ says it
inline constexpr bool kIsSanitized = true;
#elif defined(__has_feature)  // as clang says it
inline constexpr bool kIsSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kIsSanitized = false;
#endif

}  // namespace berth::test
