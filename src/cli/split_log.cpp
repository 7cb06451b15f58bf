#include "cli/split_log.h"

#include <cerrno>
#include <utility>

namespace berth::cli {
namespace {

// A stream that nobody reads any more, or that is full for good, is no reason to end.
void WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace

SplitLog::~SplitLog() {
  if (is_installed_) {
    base::LogOptions options = base::ConfigureLogging({});
    options.sink = nullptr;
    base::ConfigureLogging(std::move(options));
  }
  Flush();
}

void SplitLog::Install() {
  is_installed_ = true;
  base::LogOptions options = base::ConfigureLogging({});
  options.sink = this;
  base::ConfigureLogging(std::move(options));
}

void SplitLog::Write(base::Severity severity, std::string_view line) {
  const bool is_error = severity == base::Severity::kError ||
                        (severity == base::Severity::kWarning && options_.warnings_are_errors);
  if (is_error) return WriteAll(options_.error_file, line);
  const std::lock_guard lock(mutex_);
  if (kept_.size() + line.size() > options_.buffer_bytes) FlushLocked();
  if (line.size() > options_.buffer_bytes) return WriteAll(options_.info_file, line);
  kept_ += line;
}

void SplitLog::Flush() {
  const std::lock_guard lock(mutex_);
  FlushLocked();
}

void SplitLog::FlushLocked() {
  WriteAll(options_.info_file, kept_);
  kept_.clear();
}

}  // namespace berth::cli
