#pragma once

// An assertion of the standard library says where it is by the name of the function, which for a template is
// its whole signature: three megabytes of text among the constants of a release. File and line tell enough.
#include <version>

#ifdef __glibcxx_assert_impl
#undef __glibcxx_assert_impl
#define __glibcxx_assert_impl(condition)                                 \
  if (__builtin_expect(!bool(condition), false)) {                       \
    __glibcxx_constexpr_assert(false);                                   \
    std::__glibcxx_assert_fail(__FILE__, __LINE__, "std::", #condition); \
  }
#endif
