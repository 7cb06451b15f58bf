#include "cel/url.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "fmt/format.h"

#include "cel/net.h"
#include "cel/utf8.h"

namespace berth::cel {
namespace {

enum class UrlPart { kPath, kHost, kZone, kUser, kQuery, kFragment };

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Whether the byte may stand in the part as it is.
bool IsPlain(char c, UrlPart part) {
  if (IsAlphanumeric(c) || std::string_view("-_.~").contains(c)) return true;
  switch (part) {
    case UrlPart::kHost:
    case UrlPart::kZone:
      return std::string_view("!$&'()*+,;=:[]<>\"").contains(c);
    case UrlPart::kPath:
      return std::string_view("$&+,/:;=@").contains(c);
    case UrlPart::kUser:
      return std::string_view("$&+,;=").contains(c);
    case UrlPart::kFragment:
      return std::string_view("$&+,/:;=?@!()*").contains(c);
    case UrlPart::kQuery:
      return false;
  }
  return false;
}

std::string Escape(std::string_view text, UrlPart part) {
  std::string escaped;
  for (const char c : text) {
    if (IsPlain(c, part)) {
      escaped += c;
    } else {
      escaped += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return escaped;
}

base::Result<std::string> Unescape(std::string_view text, UrlPart part) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '%') {
      const std::string_view escape = text.substr(i, 3);
      if (escape.size() < 3 || HexDigit(escape[1]) < 0 || HexDigit(escape[2]) < 0) {
        return base::Fail("invalid URL escape " + GoQuote(escape));
      }
      const auto byte = static_cast<char>(HexDigit(escape[1]) * 16 + HexDigit(escape[2]));
      // In a host only bytes beyond ASCII may be escaped, and the percent sign before a zone.
      const bool refused =
          (part == UrlPart::kHost && HexDigit(escape[1]) < 8 && escape != "%25") ||
          (part == UrlPart::kZone && escape != "%25" && byte != ' ' && !IsPlain(byte, UrlPart::kHost));
      if (refused) return base::Fail("invalid URL escape " + GoQuote(escape));
      plain += byte;
      i += 2;
    } else if (c == '+' && part == UrlPart::kQuery) {
      plain += ' ';
    } else {
      const bool host = part == UrlPart::kHost || part == UrlPart::kZone;
      if (host && static_cast<unsigned char>(c) < 0x80 && !IsPlain(c, part)) {
        return base::Fail(fmt::format("invalid character {} in host name", GoQuote(std::string_view(&c, 1))));
      }
      plain += c;
    }
  }
  return plain;
}

bool IsOptionalPort(std::string_view text) {
  if (text.empty()) return true;
  return text.front() == ':' &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

base::Result<std::string> ParseBracketed(std::string_view host) {
  const std::size_t close = host.rfind(']');
  if (close == std::string_view::npos) return base::Fail("missing ']' in host");
  const std::string_view port = host.substr(close + 1);
  if (!IsOptionalPort(port)) return base::Fail(fmt::format("invalid port {} after host", GoQuote(port)));
  const std::string_view name = host.substr(1, close - 1);
  const std::size_t zone = std::min(name.find("%25"), name.size());
  auto address = Unescape(name.substr(0, zone), UrlPart::kHost);
  if (!address) return address;
  const auto suffix = Unescape(name.substr(zone), UrlPart::kZone);
  if (!suffix) return suffix;
  *address += *suffix;
  const auto parsed = ParseAddress(*address);
  if (!parsed) return base::Fail("invalid host: " + parsed.error().message);
  if (!parsed->address.v6) return base::Fail("invalid IP-literal");
  return "[" + *address + "]" + std::string(port);
}

base::Result<std::string> ParseHost(std::string_view scheme, std::string_view host) {
  const std::size_t open = host.rfind('[');
  if (open == 0) return ParseBracketed(host);
  if (open != std::string_view::npos) return base::Fail("invalid IP-literal");
  // Several hosts, each with a port, are fine for databases, not for the web.
  const bool web = scheme == "http" || scheme == "https";
  const std::size_t colon = web ? host.find(':') : host.rfind(':');
  if (colon != std::string_view::npos && !IsOptionalPort(host.substr(colon))) {
    return base::Fail(fmt::format("invalid port {} after host", GoQuote(host.substr(colon))));
  }
  return Unescape(host, UrlPart::kHost);
}

bool IsUserinfo(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return IsAlphanumeric(c) || std::string_view("-._:~!$&'()*+,;=%@").contains(c);
  });
}

// "user:password" unescaped and escaped again, as the text of a URL shows it.
base::Result<std::string> ParseUserinfo(std::string_view text) {
  if (!IsUserinfo(text)) return base::Fail("net/url: invalid userinfo");
  const std::size_t colon = text.find(':');
  const auto user = Unescape(text.substr(0, colon), UrlPart::kUser);
  if (!user) return user;
  std::string userinfo = Escape(*user, UrlPart::kUser);
  if (colon == std::string_view::npos) return userinfo;
  const auto password = Unescape(text.substr(colon + 1), UrlPart::kUser);
  if (!password) return password;
  return userinfo + ":" + Escape(*password, UrlPart::kUser);
}

bool IsPathText(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return IsPlain(c, UrlPart::kPath) || std::string_view("!'()*[]%").contains(c);
  });
}

// The scheme off the front of the text; nothing is taken if there is none.
base::Result<std::string> TakeScheme(std::string_view& rest) {
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const char c = rest[i];
    if (c == ':') {
      if (i == 0) return base::Fail("missing protocol scheme");
      std::string scheme(rest.substr(0, i));
      std::transform(scheme.begin(), scheme.end(), scheme.begin(), [](char letter) {
        return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
      });
      rest.remove_prefix(i + 1);
      return scheme;
    }
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!letter && (i == 0 || (!IsAlphanumeric(c) && !std::string_view("+-.").contains(c)))) break;
  }
  return std::string();
}

class UrlParser {
 public:
  // request: the fragment is not split off and a relative path is refused.
  UrlParser(std::string_view text, bool request) : rest_(text), request_(request) {}

  base::Result<Url> Parse() {
    if (std::any_of(rest_.begin(), rest_.end(), [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; })) {
      return base::Fail("net/url: invalid control character in URL");
    }
    if (rest_.empty() && request_) return base::Fail("empty url");
    if (rest_ == "*") {
      url_.escaped_path = "*";
      url_.text = "*";
      return url_;
    }
    auto scheme = TakeScheme(rest_);
    if (!scheme) return std::unexpected(scheme.error());
    url_.scheme = std::move(*scheme);
    if (!url_.scheme.empty()) url_.text = url_.scheme + ":";
    std::optional<std::string_view> query;
    if (const std::size_t mark = rest_.find('?'); mark != std::string_view::npos) {
      query = rest_.substr(mark + 1);
      rest_ = rest_.substr(0, mark);
      url_.raw_query = *query;
    }
    const auto body = ParseBody();
    if (!body) return std::unexpected(body.error());
    if (query) url_.text += "?" + std::string(*query);
    return url_;
  }

 private:
  base::Result<bool> ParseBody() {
    if (!rest_.starts_with('/')) {
      if (!url_.scheme.empty()) {
        url_.text += rest_;
        return true;
      }
      if (request_) return base::Fail("invalid URI for request");
      if (rest_.substr(0, rest_.find('/')).contains(':')) {
        return base::Fail("first path segment in URL cannot contain colon");
      }
    }
    const bool may_have_host = !url_.scheme.empty() || (!request_ && !rest_.starts_with("///"));
    if (may_have_host && rest_.starts_with("//")) {
      const auto authority = ParseAuthority();
      if (!authority) return authority;
    }
    const auto path = Unescape(rest_, UrlPart::kPath);
    if (!path) return std::unexpected(path.error());
    url_.escaped_path = IsPathText(rest_) ? std::string(rest_) : Escape(*path, UrlPart::kPath);
    url_.text += url_.escaped_path;
    return true;
  }

  base::Result<bool> ParseAuthority() {
    std::string_view authority = rest_.substr(2);
    const std::size_t slash = std::min(authority.find('/'), authority.size());
    rest_ = authority.substr(slash);
    authority = authority.substr(0, slash);
    const std::size_t at = authority.rfind('@');
    const bool has_user = at != std::string_view::npos;
    auto host = ParseHost(url_.scheme, has_user ? authority.substr(at + 1) : authority);
    if (!host) return std::unexpected(host.error());
    url_.host = std::move(*host);
    if (has_user || !url_.host.empty() || !rest_.empty()) url_.text += "//";
    if (has_user) {
      const auto user = ParseUserinfo(authority.substr(0, at));
      if (!user) return std::unexpected(user.error());
      url_.text += *user + "@";
    }
    url_.text += Escape(url_.host, UrlPart::kHost);
    return true;
  }

  std::string_view rest_;
  const bool request_;
  Url url_;
};

}  // namespace

std::optional<std::string> RequestUriProblem(std::string_view text) {
  const auto request = UrlParser(text, true).Parse();
  if (request) return std::nullopt;
  return fmt::format("parse {}: {}", GoQuote(text), request.error().message);
}

base::Result<Url> ParseUrl(std::string_view text) {
  if (auto problem = RequestUriProblem(text)) return base::Fail(std::move(*problem));
  const std::size_t hash = text.find('#');
  const std::string_view before = text.substr(0, hash);
  auto url = UrlParser(before, false).Parse();
  if (!url) return base::Fail(fmt::format("parse {}: {}", GoQuote(before), url.error().message));
  if (hash != std::string_view::npos && hash + 1 < text.size()) {
    const auto fragment = Unescape(text.substr(hash + 1), UrlPart::kFragment);
    if (!fragment) return base::Fail(fmt::format("parse {}: {}", GoQuote(text), fragment.error().message));
    url->text += "#" + Escape(*fragment, UrlPart::kFragment);
  }
  return url;
}

std::string Url::Hostname() const {
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.rfind(':'));
}

std::string Url::Port() const {
  const std::size_t after = host.starts_with('[') ? host.find(']') : 0;
  const std::size_t colon = host.find(':', after);
  return colon == std::string::npos ? "" : host.substr(host.rfind(':') + 1);
}

std::map<std::string, std::vector<std::string>> Url::Query() const {
  std::map<std::string, std::vector<std::string>> query;
  std::string_view rest = raw_query;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    // Go drops what it cannot read, and does not take ';' for a separator.
    if (pair.empty() || pair.contains(';')) continue;
    const std::size_t equals = pair.find('=');
    const auto key = Unescape(pair.substr(0, equals), UrlPart::kQuery);
    const auto value = Unescape(
        equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), UrlPart::kQuery);
    if (key && value) query[*key].push_back(*value);
  }
  return query;
}

}  // namespace berth::cel
