#pragma once

#include <string_view>

#include "base/log.h"

namespace berth::cli {

// While it lives nothing is logged: for commands that make berth complain on purpose, where the log is not
// what the user asked for.
class Silence final : public base::LogSink {
 public:
  Silence() : before_(base::ConfigureLogging({.sink = this})) {}
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
  ~Silence() override { base::ConfigureLogging(before_); }
  void Write(base::Severity, std::string_view) override {}

 private:
  base::LogOptions before_;
};

}  // namespace berth::cli
