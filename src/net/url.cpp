#include "net/url.h"

#include <algorithm>
#include <charconv>

#include "fmt/format.h"

namespace berth::net {
namespace {

constexpr std::uint16_t kHttpPort = 80;
constexpr std::uint16_t kHttpsPort = 443;

bool IsUnreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Blanks and control characters in a URL would end the request line early.
bool HasForbiddenByte(std::string_view text) {
  return std::ranges::any_of(text,
                             [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
}

bool IsHostByte(char c) { return IsUnreserved(c) || c == '%' || c == ':'; }

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

void AppendEncoded(std::string& out, std::string_view text, bool blank_is_plus) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  if (std::ranges::all_of(text, IsUnreserved)) {
    out.append(text);
    return;
  }
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (IsUnreserved(c)) {
      out += c;
    } else if (c == ' ' && blank_is_plus) {
      out += '+';
    } else {
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
}

std::string Encode(std::string_view text, bool blank_is_plus) {
  std::string out;
  AppendEncoded(out, text, blank_is_plus);
  return out;
}

// "host", "host:port", "[v6]" or "[v6]:port"; false if it is none of them.
bool ParseAuthority(std::string_view authority, Url& url) {
  std::string_view host = authority;
  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return false;
    host = authority.substr(1, end - 1);
    const std::string_view rest = authority.substr(end + 1);
    if (!rest.empty() && rest.front() != ':') return false;
    has_port = !rest.empty();
    if (has_port) port = rest.substr(1);
    if (host.find(':') == std::string_view::npos) return false;
  } else if (const std::size_t colon = authority.find(':'); colon != std::string_view::npos) {
    host = authority.substr(0, colon);
    port = authority.substr(colon + 1);
    has_port = true;
  }
  if (host.empty() || !std::ranges::all_of(host, IsHostByte)) return false;
  url.host = Lower(host);
  url.port = url.is_https() ? kHttpsPort : kHttpPort;
  if (!has_port) return true;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), url.port);
  return error == std::errc() && end == port.data() + port.size() && url.port != 0;
}

}  // namespace

std::string JoinHostPort(std::string_view host, std::uint16_t port) {
  return host.find(':') == std::string_view::npos ? fmt::format("{}:{}", host, port)
                                                  : fmt::format("[{}]:{}", host, port);
}

std::string Url::HostPort() const { return JoinHostPort(host, port); }

std::string Url::Authority() const {
  if (port != (is_https() ? kHttpsPort : kHttpPort)) return HostPort();
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::string Url::ToString() const {
  return scheme + "://" + Authority() + path + (query.empty() ? "" : "?" + query);
}

base::Result<Url> ParseUrl(std::string_view text) {
  const auto fail = [&](std::string_view why) {
    return base::Fail(fmt::format("url \"{}\": {}", text, why));
  };
  if (HasForbiddenByte(text)) return fail("holds a blank or a control character");
  const std::size_t scheme_end = text.find("://");
  if (scheme_end == std::string_view::npos) return fail("has no scheme");
  Url url;
  url.scheme = Lower(text.substr(0, scheme_end));
  if (url.scheme != "http" && url.scheme != "https") return fail("the scheme must be http or https");
  std::string_view rest = text.substr(scheme_end + 3);
  if (rest.find('#') != std::string_view::npos) return fail("must not have a fragment");
  if (const std::size_t at = rest.find('?'); at != std::string_view::npos) {
    url.query = rest.substr(at + 1);
    rest = rest.substr(0, at);
  }
  const std::size_t path_start = std::min(rest.find('/'), rest.size());
  url.path = rest.substr(path_start);
  const std::string_view authority = rest.substr(0, path_start);
  if (authority.find('@') != std::string_view::npos) return fail("must not hold user information");
  if (!ParseAuthority(authority, url)) return fail("the host or the port is not valid");
  return url;
}

std::string JoinPath(std::string_view base, std::string_view path) {
  if (path.empty()) return std::string(base);
  while (base.ends_with('/')) base.remove_suffix(1);
  std::string joined;
  joined.reserve(base.size() + 1 + path.size());
  joined.append(base);
  if (!path.starts_with('/')) joined += '/';
  return joined.append(path);
}

std::string EncodeQueryPart(std::string_view text) { return Encode(text, true); }
std::string EncodePathSegment(std::string_view text) { return Encode(text, false); }
void AppendPathSegment(std::string& out, std::string_view text) { AppendEncoded(out, text, false); }

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_blank) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else {
      out += text[i] == '+' && plus_is_blank ? ' ' : text[i];
    }
  }
  return out;
}

base::Result<QueryPairs> ParseQuery(std::string_view query) {
  QueryPairs pairs;
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view part = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (part.empty()) continue;
    if (part.find(';') != std::string_view::npos) return base::Fail("invalid semicolon separator in query");
    const std::size_t equals = std::min(part.find('='), part.size());
    auto key = PercentDecode(part.substr(0, equals), true);
    auto value = PercentDecode(part.substr(std::min(equals + 1, part.size())), true);
    if (!key || !value) return base::Fail(fmt::format("invalid URL escape in query part \"{}\"", part));
    pairs.emplace_back(std::move(*key), std::move(*value));
  }
  return pairs;
}

std::string EncodeQuery(const QueryPairs& pairs) {
  std::string out;
  for (const auto& [key, value] : pairs) {
    if (!out.empty()) out += '&';
    out += EncodeQueryPart(key) + "=" + EncodeQueryPart(value);
  }
  return out;
}

const std::string* FindQuery(const QueryPairs& pairs, std::string_view key) {
  const auto found = std::ranges::find(pairs, key, &QueryPairs::value_type::first);
  return found == pairs.end() ? nullptr : &found->second;
}

}  // namespace berth::net
