#include "base/log.h"

#include <algorithm>
#include <charconv>
#include <fnmatch.h>
#include <mutex>
#include <string>
#include <unistd.h>
#include <utility>

#include "base/log_batch.h"

namespace berth::base {
namespace {

class StandardError final : public LogSink {
 public:
  // One write for whole lines: those of several processes on one terminal do not mix.
  void Write(Severity, std::string_view line) override {
    while (!line.empty()) {
      const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
      // There is no place to complain about the place for complaints.
      if (written <= 0) return;
      line.remove_prefix(static_cast<std::size_t>(written));
    }
  }
};

// Whether what this thread tells is kept; see LogBatch.
thread_local bool keeps_log = false;

std::string_view ModuleName(std::string_view file) {
  file = file.substr(file.find_last_of('/') + 1);
  return file.substr(0, file.find_last_of('.'));
}

}  // namespace

// The options in force and the sites that have asked about them. The mutex guards everything, and writing
// too.
class LogState {
 public:
  static LogState& Get() {
    // Never destroyed: destructors of other statics may log.
    static auto* const state = new LogState;
    return *state;
  }

  LogOptions Configure(LogOptions options) {
    const std::lock_guard lock(mutex_);
    WriteKept();  // to where it was meant to go
    std::swap(options_, options);
    TellSites();
    return options;
  }

  void SetVerbosity(int verbosity) {
    const std::lock_guard lock(mutex_);
    options_.verbosity = verbosity;
    TellSites();
  }

  int Register(LogSite& site) {
    const std::lock_guard lock(mutex_);
    const int verbosity = VerbosityOf(site);
    // Another thread may have come here first.
    if (site.verbosity_.exchange(verbosity, std::memory_order_relaxed) == LogSite::kUnknown) {
      site.next_ = sites_;
      sites_ = &site;
    }
    return verbosity;
  }

  void Write(LogRecord record) {
    const std::lock_guard lock(mutex_);
    record.time = options_.clock != nullptr ? options_.clock->WallNow() : RealClock().WallNow();
    record.process_id = options_.process_id != 0 ? options_.process_id : own_process_id_;
    const std::string line =
        options_.format == LogFormat::kJson ? FormatLogJson(record) : FormatLogText(record);
    if (!keeps_log || record.severity != Severity::kInfo) {
      WriteKept();
      sink().Write(record.severity, line);
      return;
    }
    if (kept_.empty()) kept_since_ = MonotonicNow();
    kept_ += line;
    if (kept_.size() >= LogBatch::kBytesMax || IsKeptOld()) WriteKept();
  }

  void Flush() {
    const std::lock_guard lock(mutex_);
    WriteKept();
  }

  void FlushOld() {
    const std::lock_guard lock(mutex_);
    if (!kept_.empty() && IsKeptOld()) WriteKept();
  }

  void FlushAtOnce() {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock.owns_lock()) WriteKept();
  }

 private:
  int VerbosityOf(const LogSite& site) const {
    const std::string module(ModuleName(site.file()));
    const auto rule = std::ranges::find_if(options_.vmodule, [&](const VmoduleRule& candidate) {
      return ::fnmatch(candidate.pattern.c_str(), module.c_str(), 0) == 0;
    });
    const int more = rule == options_.vmodule.end() ? 0 : rule->verbosity;
    // Below the mark of a site that has not asked yet.
    return std::min(std::max(options_.verbosity, more), LogSite::kUnknown - 1);
  }

  void TellSites() {
    for (LogSite* site = sites_; site != nullptr; site = site->next_) {
      site->verbosity_.store(VerbosityOf(*site), std::memory_order_relaxed);
    }
  }

  LogSink& sink() { return options_.sink != nullptr ? *options_.sink : standard_error_; }
  TimePoint MonotonicNow() const {
    return options_.clock != nullptr ? options_.clock->Now() : RealClock().Now();
  }
  bool IsKeptOld() const { return MonotonicNow() - kept_since_ >= LogBatch::kAgeMax; }

  void WriteKept() {
    if (kept_.empty()) return;
    sink().Write(Severity::kInfo, kept_);
    kept_.clear();
  }

  const pid_t own_process_id_ = getpid();  // once: it is a system call
  std::mutex mutex_;
  LogOptions options_;
  LogSite* sites_ = nullptr;
  StandardError standard_error_;
  std::string kept_;      // lines that a batch has not written yet
  TimePoint kept_since_;  // the first of them
};

LogBatch::LogBatch() { keeps_log = true; }

LogBatch::~LogBatch() {
  keeps_log = false;
  Flush();
}

void LogBatch::Flush() { LogState::Get().Flush(); }

void LogBatch::FlushOld() { LogState::Get().FlushOld(); }

void FlushLogAtOnce() { LogState::Get().FlushAtOnce(); }

Result<std::vector<VmoduleRule>> ParseVmodule(std::string_view text) {
  std::vector<VmoduleRule> rules;
  while (!text.empty()) {
    const std::string_view rule = text.substr(0, text.find(','));
    text.remove_prefix(std::min(rule.size() + 1, text.size()));
    if (rule.empty()) continue;
    const std::size_t equals = rule.find('=');
    const std::string_view digits = equals == rule.npos ? "" : rule.substr(equals + 1);
    int verbosity = 0;
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), verbosity);
    if (equals == 0 || digits.empty() || parsed.ec != std::errc() ||
        parsed.ptr != digits.data() + digits.size()) {
      return Fail("syntax error: expect comma-separated list of filename=N");
    }
    if (verbosity < 0) return Fail("negative value for vmodule level");
    if (verbosity > 0) rules.push_back({std::string(rule.substr(0, equals)), verbosity});
  }
  return rules;
}

LogOptions ConfigureLogging(LogOptions options) { return LogState::Get().Configure(std::move(options)); }

void SetLogVerbosity(int verbosity) { LogState::Get().SetVerbosity(verbosity); }

bool LogSite::IsEnabledOnceKnown(int verbosity) {
  int known = verbosity_.load(std::memory_order_relaxed);
  if (known == kUnknown) known = LogState::Get().Register(*this);
  return verbosity <= known;
}

void Log(const LogSite& site, Severity severity, int verbosity, std::string_view message, LogError error,
         std::initializer_list<LogField> fields) {
  LogState::Get().Write({.severity = severity,
                         .verbosity = verbosity,
                         .time = {},
                         .process_id = 0,
                         .file = site.file(),
                         .line = site.line(),
                         .message = message,
                         .error = error,
                         .fields = {fields.begin(), fields.size()}});
}

}  // namespace berth::base
