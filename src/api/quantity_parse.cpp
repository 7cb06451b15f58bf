#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "api/quantity.h"
#include "api/quantity_big.h"

namespace berth::api {

// A text cut into its parts, and what its suffix means.
struct QuantityText {
  bool negative = false;
  std::string_view whole;  // without leading zeros, so perhaps empty
  std::string_view fraction;
  bool has_digit = false;  // in whole or fraction, leading zeros counted
  bool spelt_out = false;  // with a plus sign, leading zeros or a point, which no canonical text has
  Quantity::Format format = Quantity::Format::kDecimalSi;
  std::int32_t exponent = 0;  // of ten, or of two for kBinarySi
};

namespace {

using boost::multiprecision::cpp_int;
using Format = Quantity::Format;
using ParseError = Quantity::ParseError;

constexpr std::int64_t kNano = -9;
constexpr std::string_view kDigits = "0123456789";
// So many decimal digits fit any int64.
constexpr std::size_t kFastDigitsMax = 18;

std::string_view TakeWhile(std::string_view& text, std::string_view characters) {
  const std::string_view taken = text.substr(0, text.find_first_not_of(characters));
  text.remove_prefix(taken.size());
  return taken;
}

// The exponent of a suffix such as "e-3" or "E12". Upstream cuts it to 32 bits; here what does not fit is an
// error.
std::optional<std::int32_t> ParseExponent(std::string_view suffix, bool& spelt_out) {
  std::string_view digits = suffix.substr(1);
  const bool plus = digits.starts_with('+');
  if (plus) digits.remove_prefix(1);
  std::int32_t exponent = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  const std::string_view unsigned_digits = digits.substr(digits.starts_with('-') ? 1 : 0);
  spelt_out = spelt_out || plus || suffix[0] == 'E' || unsigned_digits.starts_with('0');
  return exponent;
}

bool ParseSuffix(std::string_view suffix, QuantityText& text) {
  constexpr std::string_view kDecimal = "num kMGTPE";  // from 10^-9 in steps of 10^3
  constexpr std::string_view kBinary = "KMGTPE";       // from 2^10 in steps of 2^10
  if (suffix.empty()) return true;
  if (suffix.size() == 1) {
    const std::size_t at = kDecimal.find(suffix[0]);
    text.exponent = -9 + 3 * static_cast<std::int32_t>(at);
    return at != std::string_view::npos;
  }
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const std::size_t at = kBinary.find(suffix[0]);
    text.format = Format::kBinarySi;
    text.exponent = 10 + 10 * static_cast<std::int32_t>(at);
    return at != std::string_view::npos;
  }
  if (suffix[0] != 'e' && suffix[0] != 'E') return false;
  const std::optional<std::int32_t> exponent = ParseExponent(suffix, text.spelt_out);
  text.format = Format::kDecimalExponent;
  text.exponent = exponent.value_or(0);
  return exponent.has_value();
}

std::expected<QuantityText, ParseError> Scan(std::string_view rest) {
  QuantityText text;
  if (rest.empty()) return std::unexpected(ParseError::kSyntax);
  if (rest[0] == '-' || rest[0] == '+') {
    text.negative = rest[0] == '-';
    text.spelt_out = rest[0] == '+';
    rest.remove_prefix(1);
  }
  const bool leading_zero = !TakeWhile(rest, "0").empty();
  text.whole = TakeWhile(rest, kDigits);
  if (rest.starts_with('.')) {
    text.spelt_out = true;
    rest.remove_prefix(1);
    text.fraction = TakeWhile(rest, kDigits);
  }
  text.has_digit = leading_zero || !text.whole.empty() || !text.fraction.empty();
  text.spelt_out = text.spelt_out || leading_zero;

  const std::string_view suffix_and_rest = rest;
  TakeWhile(rest, "eEinumkKMGTP");
  if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
  TakeWhile(rest, kDigits);
  if (!rest.empty()) return std::unexpected(ParseError::kSyntax);
  if (!ParseSuffix(suffix_and_rest, text)) return std::unexpected(ParseError::kSuffix);
  return text;
}

// Whether upstream holds the number in an int64, which decides about more than speed: only then are a number
// without digits accepted and the text kept.
bool IsFast(const QuantityText& text) {
  const std::size_t digits = std::max<std::size_t>(text.whole.size(), 1) + text.fraction.size();
  if (text.format != Format::kBinarySi) {
    return digits <= kFastDigitsMax &&
           text.exponent - static_cast<std::int64_t>(text.fraction.size()) >= kNano;
  }
  // Each step of 2^10 costs three digits of the fourteen.
  return text.fraction.empty() && digits + static_cast<std::size_t>(text.exponent / 10 * 3) <= 14;
}

std::int64_t FastDigits(const QuantityText& text) {
  std::int64_t number = 0;
  for (const char digit : text.whole) number = number * 10 + (digit - '0');
  for (const char digit : text.fraction) number = number * 10 + (digit - '0');
  return number;
}

// Whether upstream takes a text for canonical, by rules that are laxer than its own canonical form.
bool KeepsText(const QuantityText& text, std::int64_t number, std::int64_t scale) {
  if (text.format == Format::kBinarySi) return number % 8 != 0;
  return scale % 3 == 0 && number % 1000 != 0 && !text.whole.empty();
}

// The significant digits, at most kDigitsMax of them and none finer than `finest`, rounded away from zero.
std::pair<cpp_int, std::int64_t> Digits(const QuantityText& text, std::int64_t scale, std::int64_t finest) {
  std::string digits = std::string(text.whole) + std::string(text.fraction);
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return {0, 0};
  const auto size = static_cast<std::int64_t>(digits.size());
  const std::int64_t keep = std::min({size, Quantity::kDigitsMax, size + scale - finest});
  if (keep <= 0) return {1, finest};
  const std::size_t cut = static_cast<std::size_t>(keep);
  const bool exact = digits.find_first_not_of('0', cut) == std::string::npos;
  cpp_int number(digits.substr(0, cut));
  if (!exact) ++number;
  return {std::move(number), scale + size - keep};
}

}  // namespace

std::string_view Quantity::ParseErrorText(ParseError error) {
  switch (error) {
    case ParseError::kSyntax:
      return "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
    case ParseError::kSuffix:
      return "unable to parse quantity's suffix";
    case ParseError::kNumeric:
      break;
  }
  return "unable to parse numeric part of quantity";
}

std::expected<Quantity, Quantity::ParseError> Quantity::Parse(std::string_view text) {
  const std::expected<QuantityText, ParseError> scanned = Scan(text);
  if (!scanned) return std::unexpected(scanned.error());
  if (!IsFast(*scanned)) return ParseBig(*scanned);

  const std::int64_t digits = FastDigits(*scanned);
  const bool binary = scanned->format == Format::kBinarySi;
  const std::int64_t number = binary ? digits << scanned->exponent : digits;
  const std::int64_t scale =
      binary ? 0 : scanned->exponent - static_cast<std::int64_t>(scanned->fraction.size());
  Quantity quantity;
  quantity.format_ = scanned->format;
  if (number == 0) return quantity;
  quantity.SetSmall(scanned->negative ? -number : number, static_cast<std::int32_t>(scale));
  // Text that Canonical() gives anyway is not stored.
  if (scanned->spelt_out && KeepsText(*scanned, digits, scale)) {
    quantity.extra_ = std::make_unique<Extra>(Extra{std::string(text)});
  }
  return quantity;
}

std::expected<Quantity, Quantity::ParseError> Quantity::ParseBig(const QuantityText& text) {
  if (!text.has_digit) return std::unexpected(ParseError::kNumeric);
  const auto fraction = static_cast<std::int64_t>(text.fraction.size());
  Quantity quantity;
  quantity.format_ = text.format;
  Big big;
  if (text.format == Format::kBinarySi) {
    // Nothing is cut at nano yet: times 2^n it may count.
    std::tie(big.digits, big.scale) = Digits(text, -fraction, std::numeric_limits<std::int32_t>::min());
    big.digits <<= static_cast<unsigned>(text.exponent);
    big.RoundUp(kNano);
    const Big max{std::numeric_limits<std::int64_t>::max(), 0};
    if (big.Compare(max) > 0) big = max;
    if (!big.digits.is_zero() && big.Compare(Big{1, 0}) < 0) quantity.format_ = Format::kDecimalSi;
  } else {
    std::tie(big.digits, big.scale) = Digits(text, text.exponent - fraction, kNano);
  }
  if (text.negative) big.digits = -big.digits;
  quantity.SetBig(std::move(big));
  return quantity;
}

}  // namespace berth::api
