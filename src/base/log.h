#pragma once

#include <atomic>
#include <initializer_list>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/log_record.h"

namespace berth::base {

// Structured logging for the whole process, in the layouts that kube-scheduler's users know:
//
//   BERTH_LOG(2, "Bound pod", {"pod", LogObject{namespace_, name}}, {"node", node}, {"attempts", 3});
//   BERTH_LOG_WARNING("Watch closed early", {"resource", "nodes"});
//   BERTH_LOG_ERROR(error, "Could not update the status", {"pod", pod});
//
// A call that is not enabled costs one load and one branch; its arguments are not evaluated. Any thread may
// log. A message is fixed text; what varies goes into fields.

enum class LogFormat { kText, kJson };

// Where finished lines go, line end included. Calls come one at a time.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void Write(Severity severity, std::string_view line) = 0;
};

// More detail for some source files: the name without folder and extension, with *, ? and [] as in a shell.
struct VmoduleRule {
  std::string pattern;
  int verbosity = 0;
};
// "queue=4,sched*=2"
Result<std::vector<VmoduleRule>> ParseVmodule(std::string_view text);

struct LogOptions {
  LogFormat format = LogFormat::kText;
  int verbosity = 0;
  // The first that matches a file counts, if it asks for more than `verbosity`.
  std::vector<VmoduleRule> vmodule = {};
  // Null: the machine's clock.
  const Clock* clock = nullptr;
  // Null: standard error.
  LogSink* sink = nullptr;
  // 0: this process.
  int process_id = 0;
};

// Replaces the options and returns the old ones. Clock and sink must live until they are replaced.
LogOptions ConfigureLogging(LogOptions options);
// Changes the verbosity of the running process alone.
void SetLogVerbosity(int verbosity);

// One place in the source that logs. Knows the verbosity that is in force there; made by the macros only.
class LogSite {
 public:
  constexpr LogSite(const char* file, int line) : file_(file), line_(line) {}

  bool IsEnabled(int verbosity) {
    return verbosity <= verbosity_.load(std::memory_order_relaxed) && IsEnabledOnceKnown(verbosity);
  }
  const char* file() const { return file_; }
  int line() const { return line_; }

 private:
  friend class LogState;
  static constexpr int kUnknown = std::numeric_limits<int>::max();

  // Finds out about itself on the first call.
  bool IsEnabledOnceKnown(int verbosity);

  const char* file_;
  int line_;
  std::atomic<int> verbosity_ = kUnknown;
  LogSite* next_ = nullptr;
};

void Log(const LogSite& site, Severity severity, int verbosity, std::string_view message, LogError error,
         std::initializer_list<LogField> fields);

}  // namespace berth::base

#define BERTH_LOG(verbosity, message, ...)                                                            \
  do {                                                                                                \
    static constinit ::berth::base::LogSite berth_log_site(__FILE__, __LINE__);                       \
    if (berth_log_site.IsEnabled(verbosity)) [[unlikely]] {                                           \
      ::berth::base::Log(berth_log_site, ::berth::base::Severity::kInfo, verbosity, message, nullptr, \
                         {__VA_ARGS__});                                                              \
    }                                                                                                 \
  } while (false)

#define BERTH_LOG_WARNING(message, ...)                                                                \
  ::berth::base::Log(::berth::base::LogSite(__FILE__, __LINE__), ::berth::base::Severity::kWarning, 0, \
                     message, nullptr, {__VA_ARGS__})

// `error` is an Error, a text or nullptr.
#define BERTH_LOG_ERROR(error, message, ...)                                                         \
  ::berth::base::Log(::berth::base::LogSite(__FILE__, __LINE__), ::berth::base::Severity::kError, 0, \
                     message, error, {__VA_ARGS__})
