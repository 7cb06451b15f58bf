#include "wire/yaml_scalar.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>

namespace berth::wire {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::optional<YamlScalar> Named(std::string_view text) {
  static constexpr std::string_view kTrue[] = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                               "True", "TRUE", "on",  "On",  "ON"};
  static constexpr std::string_view kFalse[] = {"n",     "N",     "no",  "No",  "NO", "false",
                                                "False", "FALSE", "off", "Off", "OFF"};
  static constexpr std::string_view kNull[] = {"", "~", "null", "Null", "NULL"};
  static constexpr std::string_view kNan[] = {".nan", ".NaN", ".NAN"};
  static constexpr std::string_view kInf[] = {".inf", ".Inf", ".INF"};
  const auto is_one_of = [&](const auto& names, std::string_view name) {
    return std::ranges::find(names, name) != std::end(names);
  };
  if (is_one_of(kTrue, text)) return true;
  if (is_one_of(kFalse, text)) return false;
  if (is_one_of(kNull, text)) return std::monostate{};
  if (is_one_of(kNan, text)) return std::numeric_limits<double>::quiet_NaN();
  if (is_one_of(kInf, text)) return kInfinity;
  if (text.starts_with('+') && is_one_of(kInf, text.substr(1))) return kInfinity;
  if (text.starts_with('-') && is_one_of(kInf, text.substr(1))) return -kInfinity;
  return std::nullopt;
}

// Digits in the base that their prefix says: 0x, 0o, 0b, or a plain leading zero for octal.
std::optional<YamlScalar> Integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char letter = static_cast<char>(text[1] | 0x20);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    text.remove_prefix(letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1);
  }
  std::uint64_t magnitude = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
  if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  constexpr auto kLargest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (negative) {
    if (magnitude > kLargest + 1) return std::nullopt;
    return static_cast<std::int64_t>(0 - magnitude);
  }
  if (magnitude > kLargest) return magnitude;
  return static_cast<std::int64_t>(magnitude);
}

// Sign, digits with at most one point, exponent: nothing of what from_chars would accept on top (inf, nan).
std::optional<YamlScalar> Float(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || !(IsDigit(text[0]) || text[0] == '.')) return std::nullopt;
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) return std::nullopt;
  return negative ? -value : value;
}

}  // namespace

YamlScalar ResolveYamlScalar(std::string_view text) {
  if (std::optional<YamlScalar> named = Named(text)) return *named;
  if (text[0] == '.') return Float(text).value_or(text);
  if (!IsDigit(text[0]) && text[0] != '+' && text[0] != '-') return text;
  std::string plain(text);
  std::erase(plain, '_');
  if (const std::optional<YamlScalar> integer = Integer(plain)) return *integer;
  if (const std::optional<YamlScalar> number = Float(plain)) return *number;
  return text;
}

}  // namespace berth::wire
