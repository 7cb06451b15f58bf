#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::cli {

// Calls `visit(line_number, line)` for each line of a JSON Lines file, plain or gzip; lines count from 1,
// empty ones are passed over.
base::Result<void> ForEachLine(const std::string& path,
                               const std::function<void(std::size_t, std::string_view)>& visit);

}  // namespace berth::cli
