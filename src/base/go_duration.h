#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace berth::base {

// Durations as Go reads and writes them, in flags, configuration files and messages.

// time.ParseDuration: "300ms", "-1.5h", "2h45m", "0". Errors are Go's: time: invalid duration "x".
Result<Duration> ParseGoDuration(std::string_view text);

// time.Duration.String: "0s", "1.5s", "2h45m0s", "1ns", "1.1µs".
std::string FormatGoDuration(Duration duration);

}  // namespace berth::base
