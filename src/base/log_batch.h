#pragma once

#include <chrono>
#include <cstddef>

#include "base/clock.h"

namespace berth::base {

// Keeps what its thread tells the log, and writes many lines at once: for a thread that logs with everything
// it does. They are written when there is enough of them, or with the next line when they are old, by Flush
// and at the end; before a warning or an error, and before a line of another thread, so that the order stays.
// A process that is killed loses what is kept; one that fails a check does not.
//
// Made, used and destroyed on one thread, and one at a time in the process.
class LogBatch {
 public:
  static constexpr std::size_t kBytesMax = 32 * 1024;
  static constexpr Duration kAgeMax = std::chrono::milliseconds(100);

  LogBatch();
  ~LogBatch();
  LogBatch(const LogBatch&) = delete;
  LogBatch& operator=(const LogBatch&) = delete;

  void Flush();
  // If the first line has been kept for as long as that.
  void FlushOld();
};

// For the end of a process that cannot go on: never waits, so that it may be called from anywhere.
void FlushLogAtOnce();

}  // namespace berth::base
