#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "api/quantity.h"

namespace berth::cel {

// How upstream would hold a quantity in an int64: number x 10^scale, as it was written.
struct FastForm {
  std::int64_t number = 0;
  std::int32_t scale = 0;
};

// A quantity, and what upstream's functions let show of the way they hold one.
struct QuantityValue {
  api::Quantity quantity;
  // None: held as a big decimal. isInteger() and asInteger() look at this only: 1.0 is no integer to them.
  std::optional<FastForm> fast;
  // The result of arithmetic. Upstream holds those behind a pointer, and its == can tell.
  bool computed = false;
};

// The text of a good quantity.
std::optional<FastForm> FastFormOf(std::string_view text);

QuantityValue AddQuantities(const QuantityValue& left, const QuantityValue& right);
QuantityValue SubtractQuantities(const QuantityValue& left, const QuantityValue& right);

// The integer that asInteger() gives, if it gives one.
std::optional<std::int64_t> AsInteger(const QuantityValue& value);

}  // namespace berth::cel
