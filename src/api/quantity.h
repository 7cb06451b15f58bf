#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>

namespace berth::api {

struct QuantityText;  // quantity_parse.cpp

// A Kubernetes quantity ("500m", "1.5Gi", "1e3") with the arithmetic, rounding and canonical form of
// k8s.io/apimachinery's resource.Quantity, less its overflows.
//
// A number that fits int64 x 10^scale is held in place; any other in an arbitrary-precision decimal behind a
// pointer. Arithmetic is exact up to kDigitsMax significant digits; what lies beyond is rounded away from
// zero, so that "1e2000000000" costs no more than its text, in sums too. Text that upstream takes for
// canonical is kept and written back as it was read.
class Quantity {
 public:
  enum class Format : std::uint8_t { kDecimalSi, kBinarySi, kDecimalExponent };
  static constexpr std::int64_t kDigitsMax = 4096;

  Quantity() noexcept;  // zero, DecimalSI, no text
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
  // number x 10^scale; finer than nano is rounded away from zero, as in Parse.
  static Quantity FromScaled(std::int64_t number, std::int32_t scale, Format format);

  Format format() const { return format_; }
  bool IsZero() const { return Sign() == 0; }
  int Sign() const;
  // Rounded away from zero; a number beyond int64 saturates (upstream wraps).
  std::int64_t Value() const { return Scaled(0).number; }
  std::int64_t MilliValue() const { return Scaled(-3).number; }
  // Whether the true number, rounded, fits: false means that Value() or MilliValue() saturated.
  bool ValueFits() const { return Scaled(0).fits; }
  bool MilliValueFits() const { return Scaled(-3).fits; }
  double AsApproximateFloat() const;

  // The result keeps the format of this operand, or takes that of the other when this one is zero.
  void Add(const Quantity& other) { AddSigned(other, 1); }
  void Sub(const Quantity& other) { AddSigned(other, -1); }
  void Multiply(std::int64_t factor);
  int Compare(const Quantity& other) const;
  // Finer than 10^scale is rounded away from zero; false if anything was lost. RoundUp(-3) is what the API
  // does to resource lists.
  bool RoundUp(std::int32_t scale);

  // The form that goes on the wire: the text as read where upstream keeps it, else Canonical().
  std::string ToString() const;
  std::string Canonical() const;

  // Numeric equality: "1" equals "1000m". Hash() agrees with it, and is the same in every process.
  bool operator==(const Quantity& other) const { return Compare(other) == 0; }
  std::uint64_t Hash() const;

 private:
  struct Big;    // digits and scale of any size
  struct Extra;  // a Big, or the text to keep
  struct Integer {
    std::int64_t number;
    bool fits;
  };

  const Big* big() const;
  Big ToBig() const;
  void SetSmall(std::int64_t number, std::int32_t scale);
  void SetBig(Big big);  // in place if it fits
  // The number in units of 10^scale.
  Integer Scaled(std::int32_t scale) const;
  void AddSigned(const Quantity& other, int sign);
  static std::expected<Quantity, ParseError> ParseBig(const QuantityText& text);

  std::int64_t number_ = 0;  // the value is number_ x 10^scale_ unless big() says otherwise
  std::int32_t scale_ = 0;
  Format format_ = Format::kDecimalSi;
  std::unique_ptr<Extra> extra_;
};

}  // namespace berth::api
