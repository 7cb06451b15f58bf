#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace berth::api {

// A Kubernetes quantity ("500m", "1.5Gi", "1e3") with exactly the arithmetic, rounding and canonical form of
// k8s.io/apimachinery's resource.Quantity.
//
// A number that fits int64 x 10^scale is held in place; anything else (fractions of binary units, more than 18
// digits) in an arbitrary-precision decimal behind a pointer. Text that upstream takes for canonical is kept and
// written back as it was read.
class Quantity {
 public:
  enum class Format : std::uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };

  Quantity();  // zero, DecimalSI, no text
  ~Quantity();
  Quantity(const Quantity& other);
  Quantity(Quantity&& other) noexcept;
  Quantity& operator=(const Quantity& other);
  Quantity& operator=(Quantity&& other) noexcept;

  // Why a text is no quantity; the message is upstream's.
  enum class ParseError : std::uint8_t { kSyntax, kSuffix, kNumeric };
  static std::string_view ParseErrorText(ParseError error);
  static std::expected<Quantity, ParseError> Parse(std::string_view text);
  static Quantity FromInt(std::int64_t value, Format format = Format::kDecimalSi);
  static Quantity FromMilli(std::int64_t milli, Format format = Format::kDecimalSi);
  // number x 10^scale.
  static Quantity FromScaled(std::int64_t number, std::int32_t scale, Format format);

  Format format() const { return format_; }
  bool IsZero() const { return Sign() == 0; }
  int Sign() const;
  // Rounded away from zero; a number beyond int64 saturates (upstream wraps: docs/differences.md).
  std::int64_t Value() const;
  std::int64_t MilliValue() const;
  // Whether the true number, rounded, fits: false means that Value() or MilliValue() saturated.
  bool ValueFits() const;
  bool MilliValueFits() const;
  double AsApproximateFloat() const;

  // Like upstream, the sum takes the format of the other operand when this one is zero.
  void Add(const Quantity& other);
  void Sub(const Quantity& other);
  int Compare(const Quantity& other) const;
  // Finer than 10^scale is rounded up (away from zero); false if anything was lost. RoundUp(-3) is what the API
  // does to resource lists.
  bool RoundUp(std::int32_t scale);

  // The form that goes on the wire: the text as read where upstream keeps it, else Canonical().
  std::string ToString() const;
  std::string Canonical() const;

  // Numeric equality: "1" equals "1000m".
  bool operator==(const Quantity& other) const { return Compare(other) == 0; }

 private:
  struct Big;  // sign, digits, scale of any size

  std::int64_t number_ = 0;  // the value is number_ x 10^scale_ while big_ is null
  std::int8_t scale_ = 0;
  Format format_ = Format::kDecimalSi;
  std::unique_ptr<Big> big_;
  std::unique_ptr<std::string> text_;  // kept when it is not what Canonical() would give
};

}  // namespace berth::api
