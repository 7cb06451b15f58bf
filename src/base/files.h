#pragma once

#include <string>

#include "base/error.h"

namespace berth::base {

// All of a file. The error reads as Go's: "open PATH: no such file or directory".
Result<std::string> ReadFile(const std::string& path);

}  // namespace berth::base
