#include "sandbox/time_text.h"

#include <boost/json.hpp>

#include "api/time.h"
#include "api/wall_time.h"

namespace berth::sandbox {

std::optional<std::int64_t> SecondsAt(const boost::json::object& document, Path path) {
  const std::string_view text = TextAt(document, path);
  if (text.empty()) return std::nullopt;
  const base::Result<api::Time> time = api::ParseTime(text);
  return time ? std::optional(time->unix_seconds) : std::nullopt;
}

std::int64_t SecondsOf(base::WallPoint time) { return api::TimeOf(time).unix_seconds; }

}  // namespace berth::sandbox
