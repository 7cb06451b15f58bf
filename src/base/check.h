#pragma once

namespace berth::base {

// Prints the place and the condition to standard error and aborts.
[[noreturn]] void CheckFailed(const char* condition, const char* file, int line);

}  // namespace berth::base

// For what only a bug in berth can break; on in every build. Input from outside is never checked this way.
#define BERTH_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::berth::base::CheckFailed(#condition, __FILE__, __LINE__))

// The same, for inner loops: off in release builds.
#ifdef NDEBUG
#define BERTH_DCHECK(condition) static_cast<void>(sizeof(!(condition)))
#else
#define BERTH_DCHECK(condition) BERTH_CHECK(condition)
#endif
