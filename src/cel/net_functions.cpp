// Kubernetes' ip and cidr libraries.

#include <string>

#include "cel/net.h"
#include "cel/registry.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;

Value ToIp(Arguments arguments) {
  const auto address = ParseIp(arguments[0].text());
  return address ? Value::Ip(*address) : Value::Error(address.error().message);
}

Value IsIp(Arguments arguments) { return Value::Bool(ParseIp(arguments[0].text()).has_value()); }

Value IsCanonical(Arguments arguments) {
  const auto address = ParseIp(arguments[0].text());
  if (!address) return Value::Error(address.error().message);
  return Value::Bool(IpText(*address) == arguments[0].text());
}

Value Family(Arguments arguments) { return Value::Int(arguments[0].ip().v6 ? 6 : 4); }

template <bool (IpAddress::*property)() const>
Value Is(Arguments arguments) {
  return Value::Bool((arguments[0].ip().*property)());
}

// Upstream puts its own prefix before the message twice, except for addresses that it refuses itself.
std::string CidrErrorText(const std::string& message) {
  return "network address parse error during conversion from string: " + message;
}

Value ToCidr(Arguments arguments) {
  const auto prefix = ParseCidr(arguments[0].text());
  return prefix ? Value::Cidr(*prefix) : Value::Error(CidrErrorText(prefix.error().message));
}

Value IsCidr(Arguments arguments) { return Value::Bool(ParseCidr(arguments[0].text()).has_value()); }

Value ContainsIp(Arguments arguments) {
  if (arguments[1].kind() == Kind::kIp) return Value::Bool(arguments[0].cidr().Contains(arguments[1].ip()));
  const auto address = ParseIp(arguments[1].text());
  if (!address) return Value::NoSuchOverload();
  return Value::Bool(arguments[0].cidr().Contains(*address));
}

Value ContainsCidr(Arguments arguments) {
  const IpPrefix& outer = arguments[0].cidr();
  IpPrefix inner;
  if (arguments[1].kind() == Kind::kCidr) {
    inner = arguments[1].cidr();
  } else {
    const auto parsed = ParseCidr(arguments[1].text());
    if (!parsed) return Value::Error(CidrErrorText(parsed.error().message));
    inner = *parsed;
  }
  return Value::Bool(outer.length <= inner.length && outer.Contains(inner.address));
}

Value AddressOf(Arguments arguments) { return Value::Ip(arguments[0].cidr().address); }
Value Masked(Arguments arguments) { return Value::Cidr(arguments[0].cidr().Masked()); }
Value PrefixLength(Arguments arguments) { return Value::Int(arguments[0].cidr().length); }

}  // namespace

void RegisterNet(Registry& r) {
  r.Global("ip", "string_to_ip", "(string) -> net.IP", ToIp);
  r.Method("ip", "cidr_ip", "(net.CIDR) -> net.IP", AddressOf);
  r.Global("isIP", "is_ip", "(string) -> bool", IsIp);
  r.Global("ip.isCanonical", "ip_is_canonical", "(string) -> bool", IsCanonical);
  r.Method("family", "ip_family", "(net.IP) -> int", Family);
  r.Method("isUnspecified", "ip_is_unspecified", "(net.IP) -> bool", Is<&IpAddress::IsUnspecified>);
  r.Method("isLoopback", "ip_is_loopback", "(net.IP) -> bool", Is<&IpAddress::IsLoopback>);
  r.Method("isLinkLocalMulticast", "ip_is_link_local_multicast", "(net.IP) -> bool",
           Is<&IpAddress::IsLinkLocalMulticast>);
  r.Method("isLinkLocalUnicast", "ip_is_link_local_unicast", "(net.IP) -> bool",
           Is<&IpAddress::IsLinkLocalUnicast>);
  r.Method("isGlobalUnicast", "ip_is_global_unicast", "(net.IP) -> bool", Is<&IpAddress::IsGlobalUnicast>);
  r.Global("cidr", "string_to_cidr", "(string) -> net.CIDR", ToCidr);
  r.Global("isCIDR", "is_cidr", "(string) -> bool", IsCidr);
  r.Method("containsIP", "cidr_contains_ip_string", "(net.CIDR, string) -> bool", ContainsIp);
  r.Method("containsIP", "cidr_contains_ip_ip", "(net.CIDR, net.IP) -> bool", ContainsIp);
  r.Method("containsCIDR", "cidr_contains_cidr_string", "(net.CIDR, string) -> bool", ContainsCidr);
  r.Method("containsCIDR", "cidr_contains_cidr", "(net.CIDR, net.CIDR) -> bool", ContainsCidr);
  r.Method("masked", "cidr_masked", "(net.CIDR) -> net.CIDR", Masked);
  r.Method("prefixLength", "cidr_prefix_length", "(net.CIDR) -> int", PrefixLength);
}

}  // namespace berth::cel
