#pragma once

#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>
#include <unistd.h>

#include "base/log.h"

namespace berth::cli {

// Sends what is only told to one stream and errors to another, as --log-text-split-stream and
// --log-json-split-stream ask for. What is told may be kept for a while, until there is enough of it or
// somebody calls Flush; errors never are.
class SplitLog final : public base::LogSink {
 public:
  struct Options {
    std::size_t buffer_bytes = 0;  // 0: nothing is kept
    // In text a warning goes with the errors; JSON has no warnings.
    bool warnings_are_errors = true;
    int info_file = STDOUT_FILENO;
    int error_file = STDERR_FILENO;
  };

  explicit SplitLog(Options options) : options_(options) {}
  // Flushes, and leaves the log of the process to standard error.
  ~SplitLog() override;
  SplitLog(const SplitLog&) = delete;
  SplitLog& operator=(const SplitLog&) = delete;

  // All lines of the process go here from now on.
  void Install();
  void Write(base::Severity severity, std::string_view line) override;
  // From any thread.
  void Flush();

 private:
  void FlushLocked();

  const Options options_;
  std::mutex mutex_;
  std::string kept_;
  bool is_installed_ = false;
};

}  // namespace berth::cli
