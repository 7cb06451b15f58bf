#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace berth::net {

// An absolute http or https URL without user information and fragment.
struct Url {
  std::string scheme;  // "http" or "https"
  std::string host;    // lower case; an IPv6 address without its brackets
  std::uint16_t port = 0;
  std::string path = {};   // empty, or starts with '/'; as written
  std::string query = {};  // without '?', as written

  bool operator==(const Url&) const = default;

  bool is_https() const { return scheme == "https"; }
  // host:port as it goes on a wire: brackets around IPv6, no port if it is the scheme's own.
  std::string Authority() const;
  // The same, always with the port, as CONNECT and dialing want it.
  std::string HostPort() const;
  std::string ToString() const;
};

base::Result<Url> ParseUrl(std::string_view text);

// host:port for a host that may be an IPv6 address.
std::string JoinHostPort(std::string_view host, std::uint16_t port);

// One slash between the two, whatever they end and start with; an empty side adds nothing.
std::string JoinPath(std::string_view base, std::string_view path);

// Leaves letters, digits and -._~ alone; a blank becomes '+', as forms and Kubernetes clients write it.
std::string EncodeQueryPart(std::string_view text);
// The same for one segment of a path: a blank becomes %20, a slash %2F.
std::string EncodePathSegment(std::string_view text);
void AppendPathSegment(std::string& out, std::string_view text);

// Undoes %XX; '+' is a blank only if `plus_is_blank`. Nothing if an escape is torn or no hexadecimal.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_blank);

using QueryPairs = std::vector<std::pair<std::string, std::string>>;

// The pairs in the order written; "a" is ("a", ""). Fails on a bad escape and on ';'.
base::Result<QueryPairs> ParseQuery(std::string_view query);
std::string EncodeQuery(const QueryPairs& pairs);

// The value of the first pair with that key, or null.
const std::string* FindQuery(const QueryPairs& pairs, std::string_view key);

}  // namespace berth::net
