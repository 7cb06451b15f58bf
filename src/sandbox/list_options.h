#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sandbox/route.h"
#include "sandbox/selection.h"
#include "sandbox/status_error.h"

namespace berth::sandbox {

enum class VersionMatch : std::uint8_t { kUnset, kExact, kNotOlderThan };

// The query of a list or a watch, checked.
struct ListOptions {
  Selection selection;
  std::optional<std::uint64_t> version = {};  // absent and 0 mean the same to a list: what is there now
  VersionMatch match = VersionMatch::kUnset;
  std::size_t limit = 0;
  std::optional<std::uint64_t> continue_version = {};
  std::string continue_after = {};

  bool allow_bookmarks = false;
  bool send_initial_events = false;
  std::optional<std::int64_t> timeout_seconds = {};
};

// Refuses what the two do not allow: 400 for what cannot be read, 422 for combinations that mean nothing.
ApiResult<ListOptions> ParseListOptions(const Route& route);

// An opaque token for the page after `after` of a list at `version`.
std::string MakeContinueToken(std::uint64_t version, std::string_view after);

}  // namespace berth::sandbox
