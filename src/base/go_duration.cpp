#include "base/go_duration.h"

#include <cstdint>
#include <iterator>
#include <optional>

#include "fmt/format.h"

namespace berth::base {
namespace {

constexpr std::uint64_t kMicrosecond = 1'000;
constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMinute = 60 * kSecond;
constexpr std::uint64_t kHour = 60 * kMinute;
// One more than the largest duration: the magnitude of the smallest.
constexpr std::uint64_t kMagnitudeMax = std::uint64_t{1} << 63;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Package time quotes in a way of its own: everything that is not plain ASCII byte by byte.
std::string QuoteTime(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte >= 0x80) {
      fmt::format_to(std::back_inserter(quoted), "\\x{:02x}", byte);
    } else {
      if (c == '"' || c == '\\') quoted += '\\';
      quoted += c;
    }
  }
  return quoted + "\"";
}

std::optional<std::uint64_t> UnitOf(std::string_view name) {
  if (name == "ns") return 1;
  // The micro sign, and the Greek letter that looks like it.
  if (name == "us" || name == "\u00b5s" || name == "\u03bcs") return kMicrosecond;
  if (name == "ms") return kMillisecond;
  if (name == "s") return kSecond;
  if (name == "m") return kMinute;
  if (name == "h") return kHour;
  return std::nullopt;
}

// Takes the digits in front; nothing if they go beyond kMagnitudeMax.
std::optional<std::uint64_t> TakeInteger(std::string_view& rest) {
  std::uint64_t value = 0;
  while (!rest.empty() && IsDigit(rest.front())) {
    if (value > kMagnitudeMax / 10) return std::nullopt;
    value = value * 10 + static_cast<std::uint64_t>(rest.front() - '0');
    if (value > kMagnitudeMax) return std::nullopt;
    rest.remove_prefix(1);
  }
  return value;
}

struct Fraction {
  std::uint64_t numerator = 0;
  double denominator = 1;
};

// Takes the digits in front; those that no longer fit are read and ignored.
Fraction TakeFraction(std::string_view& rest) {
  Fraction fraction;
  bool full = false;
  while (!rest.empty() && IsDigit(rest.front())) {
    const auto digit = static_cast<std::uint64_t>(rest.front() - '0');
    rest.remove_prefix(1);
    full = full || fraction.numerator > (kMagnitudeMax - 1) / 10 ||
           fraction.numerator * 10 + digit > kMagnitudeMax;
    if (full) continue;
    fraction.numerator = fraction.numerator * 10 + digit;
    fraction.denominator *= 10;
  }
  return fraction;
}

// One number with its unit, "1.5h", in nanoseconds.
Result<std::uint64_t> TakeTerm(std::string_view& rest, std::string_view whole) {
  const auto invalid = [whole] { return Fail("time: invalid duration " + QuoteTime(whole)); };
  const std::size_t length = rest.size();
  const std::optional<std::uint64_t> integer = TakeInteger(rest);
  if (!integer.has_value()) return invalid();
  bool has_digits = rest.size() != length;
  Fraction fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    const std::size_t fraction_length = rest.size();
    fraction = TakeFraction(rest);
    has_digits = has_digits || rest.size() != fraction_length;
  }
  if (!has_digits) return invalid();

  const std::string_view name = rest.substr(0, rest.find_first_of(".0123456789"));
  if (name.empty()) return Fail("time: missing unit in duration " + QuoteTime(whole));
  rest.remove_prefix(name.size());
  const std::optional<std::uint64_t> unit = UnitOf(name);
  if (!unit.has_value()) {
    return Fail("time: unknown unit " + QuoteTime(name) + " in duration " + QuoteTime(whole));
  }
  if (*integer > kMagnitudeMax / *unit) return invalid();
  std::uint64_t term = *integer * *unit;
  if (fraction.numerator > 0) {
    // In doubles and in this order, as Go does it: another way would differ in the last nanosecond.
    term += static_cast<std::uint64_t>(static_cast<double>(fraction.numerator) *
                                       (static_cast<double>(*unit) / fraction.denominator));
    if (term > kMagnitudeMax) return invalid();
  }
  return term;
}

// magnitude / 10^digits with up to `digits` decimals and no trailing zeros.
void AppendDecimal(std::string& out, std::uint64_t magnitude, int digits) {
  std::uint64_t scale = 1;
  for (int i = 0; i < digits; ++i) scale *= 10;
  fmt::format_to(std::back_inserter(out), "{}", magnitude / scale);
  std::string decimals = fmt::format("{:0{}}", magnitude % scale, digits);
  decimals.erase(decimals.find_last_not_of('0') + 1);
  if (!decimals.empty()) out += "." + decimals;
}

}  // namespace

Result<Duration> ParseGoDuration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "0") return Duration::zero();
  if (rest.empty()) return Fail("time: invalid duration " + QuoteTime(text));
  std::uint64_t magnitude = 0;
  while (!rest.empty()) {
    if (rest.front() != '.' && !IsDigit(rest.front())) {
      return Fail("time: invalid duration " + QuoteTime(text));
    }
    const Result<std::uint64_t> term = TakeTerm(rest, text);
    if (!term.has_value()) return std::unexpected(term.error());
    magnitude += *term;
    if (magnitude > kMagnitudeMax) return Fail("time: invalid duration " + QuoteTime(text));
  }
  if (negative) return Duration(static_cast<std::int64_t>(0 - magnitude));
  if (magnitude == kMagnitudeMax) return Fail("time: invalid duration " + QuoteTime(text));
  return Duration(static_cast<std::int64_t>(magnitude));
}

std::string FormatGoDuration(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  const bool negative = duration < Duration::zero();
  const auto count = static_cast<std::uint64_t>(duration.count());
  const std::uint64_t magnitude = negative ? 0 - count : count;
  std::string out = negative ? "-" : "";
  if (magnitude < kMicrosecond) return out + fmt::format("{}ns", magnitude);
  if (magnitude < kMillisecond) {
    AppendDecimal(out, magnitude, 3);
    return out + "\u00b5s";
  }
  if (magnitude < kSecond) {
    AppendDecimal(out, magnitude, 6);
    return out + "ms";
  }
  if (magnitude >= kHour) out += fmt::format("{}h", magnitude / kHour);
  if (magnitude >= kMinute) out += fmt::format("{}m", magnitude / kMinute % 60);
  AppendDecimal(out, magnitude % kMinute, 9);
  return out + "s";
}

}  // namespace berth::base
