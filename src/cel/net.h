#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::cel {

// An IPv4 address is in the first four bytes; the others are then zero.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};
  bool v6 = false;

  std::size_t size() const { return v6 ? 16 : 4; }
  bool IsV4Mapped() const;
  bool IsUnspecified() const;
  bool IsLoopback() const;
  bool IsLinkLocalUnicast() const;
  bool IsLinkLocalMulticast() const;
  bool IsGlobalUnicast() const;
  bool operator==(const IpAddress&) const = default;
};

// An address with a prefix length; bits after the prefix may be set.
struct IpPrefix {
  IpAddress address;
  int length = 0;

  IpPrefix Masked() const;
  bool Contains(const IpAddress& other) const;
  bool operator==(const IpPrefix&) const = default;
};

// What Go's netip.ParseAddr takes, zone included, and its words for what it does not.
struct ParsedIp {
  IpAddress address;
  bool has_zone = false;
};
base::Result<ParsedIp> ParseAddress(std::string_view text);

// The stricter rules of ip() and cidr(): no zones, no IPv4 inside IPv6.
base::Result<IpAddress> ParseIp(std::string_view text);
base::Result<IpPrefix> ParseCidr(std::string_view text);

// Canonical forms.
std::string IpText(const IpAddress& address);
std::string CidrText(const IpPrefix& prefix);

}  // namespace berth::cel
