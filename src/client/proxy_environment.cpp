#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/kubeconfig.h"

#include "net/http_message.h"

namespace berth::client {
namespace {

// An address of either family, IPv4 as the tail of IPv6.
std::optional<std::array<std::uint8_t, 16>> ParseAddress(const std::string& text) {
  std::array<std::uint8_t, 16> bytes{};
  if (inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1) return bytes;
  bytes[10] = bytes[11] = 0xff;
  if (inet_pton(AF_INET, text.c_str(), bytes.data() + 12) == 1) return bytes;
  return std::nullopt;
}

bool IsInRange(const std::string& host, const std::string& range) {
  const std::size_t slash = range.find('/');
  const auto address = ParseAddress(host);
  const auto base = ParseAddress(range.substr(0, slash));
  unsigned bits = 0;
  const char* end = range.data() + range.size();
  const auto [rest, error] = std::from_chars(range.data() + slash + 1, end, bits);
  if (!address || !base || error != std::errc() || rest != end) return false;
  if (range.find(':') == std::string::npos) bits += 96;
  if (bits > 128) return false;
  for (unsigned i = 0; i < bits; ++i) {
    const auto mask = static_cast<std::uint8_t>(0x80U >> (i % 8));
    if ((((*address)[i / 8] ^ (*base)[i / 8]) & mask) != 0) return false;
  }
  return true;
}

bool IsLoopback(const std::string& host) {
  return host == "localhost" || IsInRange(host, "127.0.0.0/8") || IsInRange(host, "::1/128");
}

// One item of NO_PROXY: "*", a range of addresses, a host or domain, each of the latter with a port if it
// likes.
bool Exempts(std::string item, const net::Url& server) {
  if (item == "*") return true;
  if (item.contains('/')) return IsInRange(server.host, item);
  if (const std::size_t colon = item.rfind(':'); colon != std::string::npos && item.find(':') == colon) {
    if (item.substr(colon + 1) != std::to_string(server.port)) return false;
    item.resize(colon);
  }
  if (item.starts_with("*.")) item.erase(0, 1);
  if (item.empty()) return false;
  if (item.front() == '.') return server.host.ends_with(item);
  return server.host == item || server.host.ends_with("." + item);
}

std::string Either(const Surroundings& surroundings, const std::string& upper, const std::string& lower) {
  const auto value = surroundings.environment(upper);
  if (value && !value->empty()) return *value;
  return surroundings.environment(lower).value_or("");
}

}  // namespace

base::Result<std::optional<net::Url>> ProxyFromEnvironment(const net::Url& server,
                                                           const Surroundings& surroundings) {
  const std::string text = server.is_https() ? Either(surroundings, "HTTPS_PROXY", "https_proxy")
                                             : Either(surroundings, "HTTP_PROXY", "http_proxy");
  if (text.empty() || IsLoopback(server.host)) return std::nullopt;
  const std::string exempt = Either(surroundings, "NO_PROXY", "no_proxy");
  std::string_view rest = exempt;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    if (Exempts(std::string(net::TrimBlanks(rest.substr(0, end))), server)) return std::nullopt;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  auto proxy = net::ParseUrl(text.contains("://") ? text : "http://" + text);
  if (!proxy) return base::Fail("proxy of the environment: " + proxy.error().message);
  if (proxy->is_https()) return base::Fail("proxy of the environment: https proxies are not supported yet");
  return std::move(*proxy);
}

}  // namespace berth::client
