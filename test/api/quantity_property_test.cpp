#include <algorithm>
#include <boost/multiprecision/cpp_int.hpp>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <ostream>
#include <rapidcheck/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "api/quantity.h"

namespace berth::api {
namespace {

using boost::multiprecision::cpp_int;
using boost::multiprecision::cpp_rational;

const cpp_rational kNano(1, 1'000'000'000);

cpp_rational PowerOf(int base, int exponent) {
  const cpp_int power = boost::multiprecision::pow(cpp_int(base), static_cast<unsigned>(std::abs(exponent)));
  return exponent < 0 ? cpp_rational(1, power) : cpp_rational(power);
}

// The next multiple of `unit`, away from zero.
cpp_int AwayFromZero(const cpp_rational& value, const cpp_rational& unit) {
  const cpp_rational scaled = abs(value) / unit;
  cpp_int whole = numerator(scaled) / denominator(scaled);
  if (cpp_rational(whole) < scaled) ++whole;
  return value < 0 ? cpp_int(-whole) : whole;
}

// A text and the number that it stands for, by the book: a fraction times a power, rounded at nano, binary
// ones capped.
struct Written {
  std::string text;
  cpp_rational value;
};

std::ostream& operator<<(std::ostream& out, const Written& written) { return out << written.text; }

rc::Gen<std::string> AnyDigits(int size_max) {
  return rc::gen::exec([size_max] {
    return *rc::gen::container<std::string>(static_cast<std::size_t>(*rc::gen::inRange(0, size_max)),
                                            rc::gen::elementOf(std::string("0012356789")));
  });
}

rc::Gen<Written> AnyWritten() {
  return rc::gen::exec([] {
    const std::string sign = *rc::gen::elementOf(std::vector<std::string>{"", "", "+", "-"});
    const std::string fraction = *AnyDigits(16);
    std::string digits = *AnyDigits(25);
    if (digits.empty() && fraction.empty()) digits = "7";
    Written written{.text = sign + digits + (fraction.empty() ? "" : "." + fraction), .value = 0};
    for (const char digit : digits + fraction) written.value = written.value * 10 + (digit - '0');
    written.value *= PowerOf(10, -static_cast<int>(fraction.size()));
    const int suffix = *rc::gen::inRange(0, 17);
    if (suffix < 10) {
      const std::string names[] = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
      written.text += names[suffix];
      written.value *= PowerOf(1000, suffix - 3);
    } else if (suffix < 16) {
      const std::string names[] = {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
      written.text += names[suffix - 10];
      written.value *= PowerOf(1024, suffix - 9);
    } else {
      const int exponent = *rc::gen::inRange(-40, 40);
      written.text += "e" + std::to_string(exponent);
      written.value *= PowerOf(10, exponent);
    }
    written.value = cpp_rational(AwayFromZero(written.value, kNano)) * kNano;
    const cpp_rational cap(std::numeric_limits<std::int64_t>::max());
    if (suffix >= 10 && suffix < 16 && written.value > cap) written.value = cap;
    if (sign == "-") written.value = -written.value;
    return written;
  });
}

Quantity Parse(const Written& written) {
  auto parsed = Quantity::Parse(written.text);
  RC_ASSERT(parsed.has_value());
  return *std::move(parsed);
}

int Order(const cpp_rational& a, const cpp_rational& b) { return (a > b) - (a < b); }

void CheckInteger(std::int64_t got, bool fits, const cpp_int& want) {
  const cpp_int max = std::numeric_limits<std::int64_t>::max();
  const cpp_int min = std::numeric_limits<std::int64_t>::min();
  RC_ASSERT(fits == (want >= min && want <= max));
  RC_ASSERT(cpp_int(got) == std::min(std::max(want, min), max));
}

RC_GTEST_PROP(QuantityModel, IntegersAreTheNumberRoundedAwayFromZero, ()) {
  const Written written = *AnyWritten();
  const Quantity quantity = Parse(written);
  CheckInteger(quantity.Value(), quantity.ValueFits(), AwayFromZero(written.value, 1));
  CheckInteger(quantity.MilliValue(), quantity.MilliValueFits(),
               AwayFromZero(written.value, cpp_rational(1, 1000)));
  RC_ASSERT(quantity.Sign() == Order(written.value, 0));
}

RC_GTEST_PROP(QuantityModel, OrderIsThatOfTheNumbers, ()) {
  const Written a = *AnyWritten();
  const Written b = *AnyWritten();
  RC_ASSERT(Parse(a).Compare(Parse(b)) == Order(a.value, b.value));
}

RC_GTEST_PROP(QuantityModel, SumsAndDifferencesAreExact, ()) {
  const Written a = *AnyWritten();
  const Written b = *AnyWritten();
  const Written c = *AnyWritten();
  Quantity sum = Parse(a);
  sum.Add(Parse(b));
  RC_ASSERT(sum.Compare(Parse(c)) == Order(a.value + b.value, c.value));
  CheckInteger(sum.Value(), sum.ValueFits(), AwayFromZero(a.value + b.value, 1));
  sum.Sub(Parse(c));
  RC_ASSERT(sum.Sign() == Order(a.value + b.value, c.value));
  CheckInteger(sum.MilliValue(), sum.MilliValueFits(),
               AwayFromZero(a.value + b.value - c.value, cpp_rational(1, 1000)));
}

RC_GTEST_PROP(QuantityModel, RoundUpGivesTheNextMultiple, ()) {
  const Written written = *AnyWritten();
  const int scale = *rc::gen::inRange(-10, 25);
  Quantity quantity = Parse(written);
  const cpp_rational want =
      cpp_rational(AwayFromZero(written.value, PowerOf(10, scale))) * PowerOf(10, scale);
  RC_ASSERT(quantity.RoundUp(scale) == (want == written.value));
  CheckInteger(quantity.Value(), quantity.ValueFits(), AwayFromZero(want, 1));
}

RC_GTEST_PROP(QuantityLaws, SubUndoesAdd, ()) {
  const Quantity a = Parse(*AnyWritten());
  const Quantity b = Parse(*AnyWritten());
  Quantity there_and_back = a;
  there_and_back.Add(b);
  there_and_back.Sub(b);
  RC_ASSERT(there_and_back == a);
  RC_ASSERT(there_and_back.Hash() == a.Hash());
}

RC_GTEST_PROP(QuantityLaws, AddCommutes, ()) {
  const Quantity a = Parse(*AnyWritten());
  const Quantity b = Parse(*AnyWritten());
  Quantity left = a;
  left.Add(b);
  Quantity right = b;
  right.Add(a);
  RC_ASSERT(left == right);
  RC_ASSERT(left.Hash() == right.Hash());
}

RC_GTEST_PROP(QuantityLaws, MultiplyIsRepeatedAddition, ()) {
  const Quantity quantity = Parse(*AnyWritten());
  const int factor = *rc::gen::inRange(0, 9);
  Quantity product = quantity;
  product.Multiply(factor);
  Quantity sum;
  for (int i = 0; i < factor; ++i) sum.Add(quantity);
  RC_ASSERT(product == sum);
}

RC_GTEST_PROP(QuantityLaws, TextReadsBackAsTheSameNumber, ()) {
  const Quantity quantity = Parse(*AnyWritten());
  for (const std::string& text : {quantity.ToString(), quantity.Canonical()}) {
    const auto again = Quantity::Parse(text);
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == quantity);
    RC_ASSERT(again->Canonical() == quantity.Canonical());
    RC_ASSERT(again->Hash() == quantity.Hash());
  }
}

// The same number in another spelling: trailing zeros, another exponent.
RC_GTEST_PROP(QuantityLaws, EqualNumbersHashAlike, ()) {
  const auto number = *rc::gen::inRange<std::int64_t>(-1'000'000, 1'000'000);
  const int zeros = *rc::gen::inRange(0, 30);
  const int exponent = *rc::gen::inRange(0, 300);
  const auto plain = Quantity::Parse(std::to_string(number) + "e" + std::to_string(exponent + zeros));
  const auto padded =
      Quantity::Parse(std::to_string(number) + std::string(static_cast<std::size_t>(zeros), '0') + "e" +
                      std::to_string(exponent));
  RC_ASSERT(*plain == *padded);
  RC_ASSERT(plain->Hash() == padded->Hash());
}

}  // namespace
}  // namespace berth::api
