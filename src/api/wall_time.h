#pragma once

#include <chrono>

#include "api/time.h"
#include "base/clock.h"

namespace berth::api {

// What a clock on the wall shows, in the seconds that objects carry.
inline Time TimeOf(base::WallPoint wall) {
  return {.unix_seconds = std::chrono::floor<std::chrono::seconds>(wall.time_since_epoch()).count()};
}

}  // namespace berth::api
