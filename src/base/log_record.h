#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace berth::base {

enum class Severity : char { kInfo = 'I', kWarning = 'W', kError = 'E', kFatal = 'F' };

// A reference to a named object, which may be in a namespace: "ns/name" in text.
struct LogObject {
  std::string_view namespace_;
  std::string_view name;
};

// JSON that is written as it stands.
struct LogJson {
  std::string_view json;
};

// A value with its type kept. Refers to what it was made from: for the duration of one log statement.
class LogValue {
 public:
  using Any = std::variant<bool, std::int64_t, std::uint64_t, double, std::string_view, Duration, LogObject,
                           LogJson, std::span<const std::string>>;

  LogValue(bool value) : any_(value) {}
  template <std::signed_integral T>
  LogValue(T value) : any_(static_cast<std::int64_t>(value)) {}
  template <std::unsigned_integral T>
  LogValue(T value) : any_(static_cast<std::uint64_t>(value)) {}
  LogValue(double value) : any_(value) {}
  LogValue(std::string_view value) : any_(value) {}
  LogValue(const std::string& value) : any_(std::string_view(value)) {}
  LogValue(const char* value) : any_(std::string_view(value)) {}
  LogValue(const Error& value) : any_(std::string_view(value.message)) {}
  template <class Rep, class Period>
  LogValue(std::chrono::duration<Rep, Period> value) : any_(std::chrono::duration_cast<Duration>(value)) {}
  LogValue(LogObject value) : any_(value) {}
  LogValue(LogJson value) : any_(value) {}
  LogValue(const std::vector<std::string>& value) : any_(std::span<const std::string>(value)) {}
  LogValue(std::span<const std::string> value) : any_(value) {}

  const Any& any() const { return any_; }

 private:
  Any any_;
};

// The key "logger" names the logger and comes before the other fields.
struct LogField {
  std::string_view key;
  LogValue value;
};

// What went wrong, or nothing.
class LogError {
 public:
  LogError(std::nullptr_t) {}
  LogError(const Error& error) : text_(error.message), present_(true) {}
  LogError(std::string_view text) : text_(text), present_(true) {}
  LogError(const std::string& text) : text_(text), present_(true) {}
  LogError(const char* text) : text_(text), present_(true) {}

  bool present() const { return present_; }
  std::string_view text() const { return text_; }

 private:
  std::string_view text_;
  bool present_ = false;
};

struct LogRecord {
  Severity severity = Severity::kInfo;
  int verbosity = 0;
  WallPoint time;
  int process_id = 0;
  std::string_view file;
  int line = 0;
  std::string_view message;
  LogError error = nullptr;
  std::span<const LogField> fields;
};

// I0820 18:59:46.123456       1 file.cpp:123] "Message" key="value" n=3
// In local time. A key that comes again wins over the earlier one.
std::string FormatLogText(const LogRecord& record);

// {"ts":1755716386123.456,"logger":"x","caller":"room/file.cpp:12","msg":"m","v":2,"key":"value"}
// Errors have no "v" and end with "err".
std::string FormatLogJson(const LogRecord& record);

}  // namespace berth::base
