#include "api/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <system_error>
#include <utility>

#include "api/hash_mix.h"
#include "api/quantity_big.h"

namespace berth::api {
namespace {

using boost::multiprecision::cpp_int;
using Wide = __int128;

constexpr std::int64_t kIntMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kIntMin = std::numeric_limits<std::int64_t>::min();
// An int64 times a power of ten up to this one fits a Wide.
constexpr int kWideShiftMax = 19;

constexpr std::array<Wide, kWideShiftMax + 1> kPowers = [] {
  std::array<Wide, kWideShiftMax + 1> powers{1};
  for (std::size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

Wide WidePower(std::int64_t exponent) { return kPowers[static_cast<std::size_t>(exponent)]; }

bool FitsInt(Wide number) { return number >= kIntMin && number <= kIntMax; }

// number / 10^shift, away from zero.
std::int64_t DivideAway(std::int64_t number, std::int64_t shift, bool& exact) {
  if (shift >= kWideShiftMax) {
    exact = number == 0;
    return (number > 0) - (number < 0);
  }
  const Wide divisor = WidePower(shift);
  const Wide quotient = number / divisor;
  exact = quotient * divisor == number;
  return static_cast<std::int64_t>(exact ? quotient : quotient + (number > 0 ? 1 : -1));
}

// The product of Go's table of powers, so that the last digit is that of math.Pow10.
double FloatPowerOfTen(std::int64_t exponent) {
  const auto literal = [](std::int64_t power) {
    std::array<char, 24> text{'1', 'e'};
    const char* end = std::to_chars(text.data() + 2, text.data() + text.size(), power).ptr;
    double value = 0;
    std::from_chars(text.data(), end, value);
    return value;
  };
  if (exponent > 308) return std::numeric_limits<double>::infinity();
  if (exponent < -323) return 0;
  if (exponent < 0) return literal(exponent / 32 * 32) / literal(-exponent % 32);
  return literal(exponent / 32 * 32) * literal(exponent % 32);
}

}  // namespace

Quantity::Quantity() noexcept = default;
Quantity::~Quantity() = default;
Quantity::Quantity(Quantity&& other) noexcept = default;
Quantity& Quantity::operator=(Quantity&& other) noexcept = default;

Quantity::Quantity(const Quantity& other)
    : number_(other.number_),
      scale_(other.scale_),
      format_(other.format_),
      extra_(other.extra_ ? std::make_unique<Extra>(*other.extra_) : nullptr) {}

Quantity& Quantity::operator=(const Quantity& other) {
  if (this != &other) *this = Quantity(other);
  return *this;
}

Quantity Quantity::FromInt(std::int64_t value, Format format) { return FromScaled(value, 0, format); }

Quantity Quantity::FromMilli(std::int64_t milli, Format format) { return FromScaled(milli, -3, format); }

Quantity Quantity::FromScaled(std::int64_t number, std::int32_t scale, Format format) {
  Quantity quantity;
  quantity.format_ = format;
  quantity.SetSmall(number, scale);
  quantity.RoundUp(-9);
  return quantity;
}

const Quantity::Big* Quantity::big() const {
  return extra_ == nullptr ? nullptr : std::get_if<Big>(&extra_->text_or_big);
}

Quantity::Big Quantity::ToBig() const {
  if (const Big* held = big()) return *held;
  return Big{number_, scale_};
}

void Quantity::SetSmall(std::int64_t number, std::int32_t scale) {
  number_ = number;
  scale_ = scale;
  extra_.reset();
}

void Quantity::SetBig(Big big) {
  const auto fits = [&] {
    return big.digits >= kIntMin && big.digits <= kIntMax &&
           big.scale >= std::numeric_limits<std::int32_t>::min() &&
           big.scale <= std::numeric_limits<std::int32_t>::max();
  };
  if (!fits()) big.StripZeros();
  if (fits()) {
    SetSmall(static_cast<std::int64_t>(big.digits), static_cast<std::int32_t>(big.scale));
  } else {
    extra_ = std::make_unique<Extra>(Extra{std::move(big)});
  }
}

int Quantity::Sign() const {
  if (const Big* held = big()) return held->digits.sign();
  return (number_ > 0) - (number_ < 0);
}

Quantity::Integer Quantity::Scaled(std::int32_t scale) const {
  const Integer saturated{Sign() < 0 ? kIntMin : kIntMax, false};
  if (const Big* held = big()) {
    if (held->Magnitude() > scale + kWideShiftMax) return saturated;
    Big rounded = *held;
    rounded.RoundUp(scale);
    const cpp_int whole = rounded.digits * PowerOfTen(rounded.scale - scale);
    if (whole < kIntMin || whole > kIntMax) return saturated;
    return {static_cast<std::int64_t>(whole), true};
  }
  const std::int64_t shift = std::int64_t{scale_} - scale;
  if (shift <= 0) {
    bool exact = true;
    return {DivideAway(number_, -shift, exact), true};
  }
  if (number_ == 0) return {0, true};
  if (shift > kWideShiftMax) return saturated;
  const Wide product = number_ * WidePower(shift);
  return FitsInt(product) ? Integer{static_cast<std::int64_t>(product), true} : saturated;
}

double Quantity::AsApproximateFloat() const {
  if (IsZero()) return 0;
  const Big* held = big();
  if (held == nullptr) return static_cast<double>(number_) * FloatPowerOfTen(scale_);
  double base = 0;
  const std::string digits = held->digits.str();
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), base);
  if (error == std::errc::result_out_of_range || held->scale > 308) {
    return std::copysign(std::numeric_limits<double>::infinity(), Sign());
  }
  return base * FloatPowerOfTen(held->scale);
}

void Quantity::AddSigned(const Quantity& other, int sign) {
  if (IsZero()) format_ = other.format_;
  if (big() == nullptr && other.big() == nullptr) {
    // Zero has no scale worth keeping.
    const std::int64_t left_scale = number_ == 0 ? other.scale_ : scale_;
    const std::int64_t right_scale = other.number_ == 0 ? left_scale : other.scale_;
    const std::int64_t scale = std::min(left_scale, right_scale);
    // One digit below the limit leaves room for the sum.
    if (std::max(left_scale, right_scale) - scale < kWideShiftMax) {
      const Wide sum =
          number_ * WidePower(left_scale - scale) + sign * (other.number_ * WidePower(right_scale - scale));
      if (FitsInt(sum)) {
        SetSmall(static_cast<std::int64_t>(sum), static_cast<std::int32_t>(scale));
        return;
      }
    }
  }
  Big sum = ToBig();
  Big addend = other.ToBig();
  addend.digits *= sign;
  sum.Add(addend);
  SetBig(std::move(sum));
}

void Quantity::Multiply(std::int64_t factor) {
  Big product = ToBig();
  product.digits *= factor;
  SetBig(std::move(product));
}

int Quantity::Compare(const Quantity& other) const {
  if (big() != nullptr || other.big() != nullptr) return ToBig().Compare(other.ToBig());
  const std::int64_t shift = std::int64_t{scale_} - other.scale_;
  const auto order = [](Wide left, Wide right) { return (left > right) - (left < right); };
  if (shift == 0 || number_ == 0 || other.number_ == 0) return order(number_, other.number_);
  // Beyond the shift that fits, the coarser number is the larger one.
  if (shift > 0) return shift > kWideShiftMax ? Sign() : order(number_ * WidePower(shift), other.number_);
  return shift < -kWideShiftMax ? -other.Sign() : order(number_, other.number_ * WidePower(-shift));
}

bool Quantity::RoundUp(std::int32_t scale) {
  if (big() != nullptr) {
    Big rounded = ToBig();
    const bool exact = rounded.RoundUp(scale);
    SetBig(std::move(rounded));
    return exact;
  }
  if (scale_ >= scale) return true;
  bool exact = true;
  const std::int64_t rounded = DivideAway(number_, std::int64_t{scale} - scale_, exact);
  SetSmall(rounded, scale);
  return exact;
}

std::uint64_t Quantity::Hash() const {
  std::int64_t scale = scale_;
  std::int64_t number = number_;
  if (const Big* held = big()) {
    scale = held->scale;
    if (held->digits < kIntMin || held->digits > kIntMax) {
      // SetBig has stripped it, so equal numbers have equal digits and scale.
      std::uint64_t hash = 0;
      for (const char digit : held->digits.str()) hash = HashMix(hash, static_cast<unsigned char>(digit));
      return HashMix(hash, static_cast<std::uint64_t>(scale));
    }
    number = static_cast<std::int64_t>(held->digits);
  }
  if (number == 0) return HashMix(0, 0);
  for (; number % 10 == 0; number /= 10) ++scale;
  return HashMix(HashMix(0, static_cast<std::uint64_t>(number)), static_cast<std::uint64_t>(scale));
}

}  // namespace berth::api
