#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::cel {

// A URL split as Go's net/url does. Requires the text to be an absolute URI or an absolute path.
struct Url {
  std::string scheme;
  std::string host;          // with the port
  std::string escaped_path;  // "" for an opaque URL
  std::string raw_query;
  std::string text;  // put together again: what equality compares

  std::string Hostname() const;
  std::string Port() const;
  std::map<std::string, std::vector<std::string>> Query() const;
};

// The error is the complete text of Go's, "parse \"x\": ...".
base::Result<Url> ParseUrl(std::string_view text);
// Why the text is no absolute URI and no absolute path, or nothing. A fragment counts as part of the path.
std::optional<std::string> RequestUriProblem(std::string_view text);

}  // namespace berth::cel
