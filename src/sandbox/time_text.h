#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "sandbox/document.h"

namespace berth::sandbox {

// The time at the path as seconds since the epoch; nothing if there is none that can be read.
std::optional<std::int64_t> SecondsAt(const boost::json::object& document, Path path);
std::int64_t SecondsOf(base::WallPoint time);

}  // namespace berth::sandbox
