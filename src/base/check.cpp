#include "base/check.h"

#include <cstdio>
#include <cstdlib>

#include "base/log_batch.h"

namespace berth::base {

void CheckFailed(const char* condition, const char* file, int line) {
  FlushLogAtOnce();
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace berth::base
