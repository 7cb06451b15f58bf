#include "api/quantity_big.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::api {

using boost::multiprecision::cpp_int;

cpp_int PowerOfTen(std::int64_t exponent) {
  BERTH_DCHECK(exponent >= 0);
  return boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(exponent));
}

std::int64_t Quantity::Big::Magnitude() const {
  BERTH_DCHECK(!digits.is_zero());
  const cpp_int absolute = abs(digits);
  // log10(2), rounded down: the guess is at most one or two short.
  auto count = static_cast<std::int64_t>(static_cast<double>(msb(absolute)) * 0.30102999566);
  while (absolute >= PowerOfTen(count)) ++count;
  return count + scale;
}

int Quantity::Big::Compare(const Big& other) const {
  const int sign = digits.sign();
  if (sign != other.digits.sign()) return sign < other.digits.sign() ? -1 : 1;
  if (sign == 0) return 0;
  const std::int64_t magnitude = Magnitude();
  const std::int64_t other_magnitude = other.Magnitude();
  if (magnitude != other_magnitude) return (magnitude < other_magnitude ? -1 : 1) * sign;
  // Equal magnitudes: the scales are no further apart than the longer of the two has digits.
  const cpp_int left = scale > other.scale ? cpp_int(digits * PowerOfTen(scale - other.scale)) : digits;
  const cpp_int right =
      other.scale > scale ? cpp_int(other.digits * PowerOfTen(other.scale - scale)) : other.digits;
  const int order = left.compare(right);
  return (order > 0) - (order < 0);
}

void Quantity::Big::Add(const Big& other) {
  if (other.digits.is_zero()) return;
  if (digits.is_zero()) {
    *this = other;
    return;
  }
  Big addend = other;
  const std::int64_t finest = std::max(Magnitude(), addend.Magnitude()) - kDigitsMax;
  if (scale < finest) RoundUp(finest);
  if (addend.scale < finest) addend.RoundUp(finest);
  if (scale > addend.scale) {
    digits *= PowerOfTen(scale - addend.scale);
    scale = addend.scale;
  } else if (addend.scale > scale) {
    addend.digits *= PowerOfTen(addend.scale - scale);
  }
  digits += addend.digits;
}

bool Quantity::Big::RoundUp(std::int64_t new_scale) {
  if (scale >= new_scale || digits.is_zero()) return true;
  const int sign = digits.sign();
  if (Magnitude() <= new_scale) {  // all of it is finer, perhaps by far
    digits = sign;
    scale = new_scale;
    return false;
  }
  cpp_int quotient;
  cpp_int remainder;
  divide_qr(digits, PowerOfTen(new_scale - scale), quotient, remainder);
  const bool exact = remainder.is_zero();
  if (!exact) quotient += sign;
  digits = std::move(quotient);
  scale = new_scale;
  return exact;
}

void Quantity::Big::StripZeros() {
  if (digits.is_zero()) {
    scale = 0;
    return;
  }
  cpp_int quotient;
  cpp_int remainder;
  for (const std::int64_t step : {std::int64_t{256}, std::int64_t{16}, std::int64_t{1}}) {
    const cpp_int power = PowerOfTen(step);
    while (true) {
      divide_qr(digits, power, quotient, remainder);
      if (!remainder.is_zero()) break;
      digits.swap(quotient);
      scale += step;
    }
  }
}

}  // namespace berth::api
