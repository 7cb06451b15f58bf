#pragma once

#include <boost/multiprecision/cpp_int.hpp>  // house: heavy-include: only .cpp files include this header
#include <cstdint>
#include <string>
#include <variant>

#include "api/quantity.h"

// For quantity*.cpp alone: what a Quantity is when it does not fit in place.
namespace berth::api {

// digits x 10^scale. The scale may be anything that an exponent says: no operation makes digits of it beyond
// kDigitsMax.
struct Quantity::Big {
  boost::multiprecision::cpp_int digits;
  std::int64_t scale = 0;

  // The exponent of the first power of ten above the absolute value; not for zero.
  std::int64_t Magnitude() const;
  int Compare(const Big& other) const;
  void Add(const Big& other);
  // Away from zero to a multiple of 10^new_scale; false if anything was lost.
  bool RoundUp(std::int64_t new_scale);
  // Moves factors of ten from the digits to the scale.
  void StripZeros();
};

struct Quantity::Extra {
  std::variant<std::string, Big> text_or_big;
};

boost::multiprecision::cpp_int PowerOfTen(std::int64_t exponent);

}  // namespace berth::api
