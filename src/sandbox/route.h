#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/http_server.h"
#include "net/url.h"
#include "sandbox/object_writer.h"
#include "sandbox/status_error.h"

namespace berth::sandbox {

enum class Verb : std::uint8_t { kGet, kList, kWatch, kCreate, kUpdate, kPatch, kDelete, kDeleteCollection };

// As the API names it: "get", "deletecollection".
std::string_view NameOf(Verb verb);

// What a request for a resource asks for.
struct Route {
  Verb verb = Verb::kGet;
  Target target;
  net::QueryPairs query;

  // The value of a query parameter, "" if it is not given.
  std::string_view parameter(std::string_view name) const;
  bool flag(std::string_view name) const;  // "true", "1" or given without a value
};

// The path without its empty segments, each percent-decoded.
ApiResult<std::vector<std::string>> PathSegments(std::string_view path);

// For paths below /api/v1 and /apis/<group>/<version>. Refuses what is not served there.
ApiResult<Route> ParseRoute(const net::Request& request);

}  // namespace berth::sandbox
