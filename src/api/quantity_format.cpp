#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "api/quantity.h"
#include "api/quantity_big.h"

namespace berth::api {
namespace {

using boost::multiprecision::cpp_int;

constexpr std::array<std::string_view, 10> kDecimalSuffixes = {"n", "u", "m", "",  "k",
                                                               "M", "G", "T", "P", "E"};
constexpr std::array<std::string_view, 7> kBinarySuffixes = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
constexpr std::int64_t kSuffixExponentMax = 18;
// The largest multiple of three that Parse reads back.
constexpr std::int64_t kExponentMax = std::numeric_limits<std::int32_t>::max() / 3 * 3;

std::int64_t FloorToThree(std::int64_t exponent) { return exponent - ((exponent % 3) + 3) % 3; }

// Digits that end in no zero, and their scale, in words: what does not fit the exponent becomes zeros.
// (Upstream leaves out a suffix beyond E, and so writes 10^30 as "1".)
std::string Decimal(std::string_view digits, std::int64_t scale, bool with_exponent) {
  std::int64_t exponent = std::min(FloorToThree(scale), with_exponent ? kExponentMax : kSuffixExponentMax);
  if (!with_exponent && scale - exponent > Quantity::kDigitsMax) return Decimal(digits, scale, true);
  std::string text(digits);
  text.append(static_cast<std::size_t>(scale - exponent), '0');
  if (!with_exponent) {
    text += kDecimalSuffixes[static_cast<std::size_t>(exponent / 3 + 3)];
  } else if (exponent != 0) {
    fmt::format_to(std::back_inserter(text), "e{}", exponent);
  }
  return text;
}

// How often a suffix step divides the number; the last suffix takes the rest.
template <class Number>
std::string Binary(Number number) {
  std::size_t step = 0;
  for (; step + 1 < kBinarySuffixes.size() && number % 1024 == 0; ++step) number /= 1024;
  if constexpr (std::is_same_v<Number, std::int64_t>) {
    return fmt::format("{}{}", number, kBinarySuffixes[step]);
  } else {
    return number.str() + std::string(kBinarySuffixes[step]);
  }
}

}  // namespace

std::string Quantity::Canonical() const {
  if (IsZero()) return "0";
  const Big* held = big();
  const bool exponent = format_ == Format::kDecimalExponent;
  if (held == nullptr) {
    std::int64_t number = number_;
    std::int64_t scale = scale_;
    if (format_ == Format::kBinarySi && scale == 0 && (number <= -1024 || number >= 1024))
      return Binary(number);
    for (; number % 10 == 0; number /= 10) ++scale;
    if (format_ != Format::kBinarySi || scale < 0)
      return Decimal(fmt::format_int(number).c_str(), scale, exponent);
  }
  Big stripped = ToBig();
  stripped.StripZeros();
  // A binary suffix would round a fraction, and below 1024 there is none to use.
  if (format_ == Format::kBinarySi && stripped.scale >= 0 && stripped.scale <= kDigitsMax) {
    cpp_int whole = stripped.digits * PowerOfTen(stripped.scale);
    if (abs(whole) >= 1024) return Binary(std::move(whole));
  }
  return Decimal(stripped.digits.str(), stripped.scale, exponent);
}

std::string Quantity::ToString() const {
  if (extra_ != nullptr) {
    if (const auto* text = std::get_if<std::string>(&extra_->text_or_big)) return *text;
  }
  return Canonical();
}

}  // namespace berth::api
