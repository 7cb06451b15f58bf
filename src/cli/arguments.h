#pragma once

#include <span>
#include <string>
#include <vector>

namespace berth::cli {

// The arguments as the parser of flags wants them: the last first. "--flag=" becomes "--flag" and an empty
// value, because the parser would take the next argument for the value.
std::vector<std::string> ForParser(std::span<const std::string> arguments);

}  // namespace berth::cli
