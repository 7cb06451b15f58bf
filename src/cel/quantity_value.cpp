#include "cel/quantity_value.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <system_error>

namespace berth::cel {
namespace {

constexpr std::size_t kDigitsMax = 18;
constexpr std::int32_t kScaleMin = -9;

struct Suffix {
  std::string_view text;
  std::int32_t exponent;
};

constexpr std::array kDecimal = {Suffix{"n", -9}, Suffix{"u", -6}, Suffix{"m", -3}, Suffix{"", 0},
                                 Suffix{"k", 3},  Suffix{"M", 6},  Suffix{"G", 9},  Suffix{"T", 12},
                                 Suffix{"P", 15}, Suffix{"E", 18}};
constexpr std::array kBinary = {Suffix{"Ki", 10}, Suffix{"Mi", 20}, Suffix{"Gi", 30},
                                Suffix{"Ti", 40}, Suffix{"Pi", 50}, Suffix{"Ei", 60}};

template <std::size_t Size>
std::optional<std::int32_t> ExponentOf(const std::array<Suffix, Size>& suffixes, std::string_view text) {
  for (const Suffix& suffix : suffixes) {
    if (suffix.text == text) return suffix.exponent;
  }
  return std::nullopt;
}

std::optional<std::int32_t> DecimalExponentOf(std::string_view suffix) {
  if (const auto exponent = ExponentOf(kDecimal, suffix)) return exponent;
  std::int32_t exponent = 0;
  std::string_view digits = suffix.substr(1);
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), exponent);
  if (error != std::errc()) return std::nullopt;
  return exponent;
}

bool ScaleUp(std::int64_t& number, std::int32_t by) {
  for (; by > 0 && number != 0; --by) {
    if (__builtin_mul_overflow(number, 10, &number)) return false;
  }
  return true;
}

std::optional<FastForm> AddFast(FastForm left, FastForm right) {
  if (right.number == 0) return left;
  if (left.number == 0) return right;
  const std::int32_t scale = std::min(left.scale, right.scale);
  if (!ScaleUp(left.number, left.scale - scale) || !ScaleUp(right.number, right.scale - scale))
    return std::nullopt;
  FastForm sum{0, scale};
  if (__builtin_add_overflow(left.number, right.number, &sum.number)) return std::nullopt;
  return sum;
}

}  // namespace

std::optional<FastForm> FastFormOf(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::size_t whole_end = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string whole(text.substr(0, whole_end));
  text.remove_prefix(whole_end);
  std::string fraction;
  if (text.starts_with('.')) {
    const std::size_t end = std::min(text.find_first_not_of("0123456789", 1), text.size());
    fraction = text.substr(1, end - 1);
    text.remove_prefix(end);
  }
  const bool had_zeros = whole.starts_with('0');
  whole.erase(0, whole.find_first_not_of('0'));
  if (whole.empty() && had_zeros) whole = "0";

  std::int64_t factor = 1;
  FastForm form;
  if (const auto exponent = ExponentOf(kBinary, text)) {
    const auto digits = static_cast<std::int32_t>(whole.size());
    if (!fraction.empty() || 15 - digits - *exponent * 3 / 10 - 1 < 0) return std::nullopt;
    factor = std::int64_t{1} << *exponent;
  } else {
    const auto decimal = DecimalExponentOf(text);
    if (!decimal || whole.size() + fraction.size() > kDigitsMax) return std::nullopt;
    form.scale = *decimal - static_cast<std::int32_t>(fraction.size());
    if (form.scale < kScaleMin) return std::nullopt;
  }
  const std::string digits = whole + fraction;
  if (!digits.empty()) std::from_chars(digits.data(), digits.data() + digits.size(), form.number);
  if (__builtin_mul_overflow(form.number, factor, &form.number)) return std::nullopt;
  if (negative) form.number = -form.number;
  return form;
}

QuantityValue AddQuantities(const QuantityValue& left, const QuantityValue& right) {
  QuantityValue sum{left.quantity, std::nullopt, true};
  sum.quantity.Add(right.quantity);
  if (left.fast && right.fast) sum.fast = AddFast(*left.fast, *right.fast);
  return sum;
}

QuantityValue SubtractQuantities(const QuantityValue& left, const QuantityValue& right) {
  QuantityValue difference{left.quantity, std::nullopt, true};
  difference.quantity.Sub(right.quantity);
  if (left.fast && right.fast) {
    difference.fast = AddFast(*left.fast, {-right.fast->number, right.fast->scale});
  }
  return difference;
}

std::optional<std::int64_t> AsInteger(const QuantityValue& value) {
  if (!value.fast || value.fast->scale < 0) return std::nullopt;
  std::int64_t number = value.fast->number;
  if (!ScaleUp(number, value.fast->scale)) return std::nullopt;
  return number;
}

}  // namespace berth::cel
