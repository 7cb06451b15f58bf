#include "server/front_proxy.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

namespace berth::server {
namespace {

std::string LowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Bytes that cannot be in the name of a header are written as %xx. A key that is not written so as a whole
// counts as it stands: what a proxy says of a user is never lost.
std::string UnescapedKey(const std::string& key) {
  std::string plain;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] != '%') {
      plain += key[i];
      continue;
    }
    const int high = i + 1 < key.size() ? HexValue(key[i + 1]) : -1;
    const int low = i + 2 < key.size() ? HexValue(key[i + 2]) : -1;
    if (high < 0 || low < 0) return key;
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return plain;
}

// The values of all fields of these names, in the order of the names; empty ones do not count.
std::vector<std::string> ValuesOf(const net::Headers& headers, const std::vector<std::string>& names) {
  std::vector<std::string> values;
  for (const std::string& name : names) {
    for (const net::Headers::Field& field : headers.fields()) {
      if (net::EqualsIgnoringCase(field.name, name) && !field.value.empty()) values.push_back(field.value);
    }
  }
  return values;
}

// Of several fields of one name only the first is looked at, be it empty.
std::string FirstValue(const net::Headers& headers, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const std::string* const value = headers.Find(name);
    if (value != nullptr && !value->empty()) return *value;
  }
  return "";
}

}  // namespace

bool FrontProxyRules::Allows(const std::string& common_name) const {
  return allowed_names.empty() || std::ranges::find(allowed_names, common_name) != allowed_names.end();
}

std::optional<Identity> ProxiedIdentity(const FrontProxyRules& rules, const net::Headers& headers) {
  Identity identity;
  identity.name = FirstValue(headers, rules.username_headers);
  if (identity.name.empty()) return std::nullopt;
  identity.uid = FirstValue(headers, rules.uid_headers);
  identity.groups = ValuesOf(headers, rules.group_headers);
  for (const std::string& prefix : rules.extra_header_prefixes) {
    for (const net::Headers::Field& field : headers.fields()) {
      const std::string_view name = field.name;
      if (!net::EqualsIgnoringCase(name.substr(0, prefix.size()), prefix)) continue;
      identity.extra[UnescapedKey(LowerCase(name.substr(prefix.size())))].push_back(field.value);
    }
  }
  return identity;
}

}  // namespace berth::server
