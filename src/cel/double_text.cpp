#include "cel/double_text.h"

#include <charconv>
#include <cmath>
#include <cstddef>

#include "fmt/format.h"

namespace berth::cel {
namespace {

// What std::to_chars writes; the buffer holds the longest double in plain form.
template <class... Format>
std::string ToChars(double number, Format... format) {
  char buffer[1500];
  const auto result = std::to_chars(buffer, buffer + sizeof(buffer), number, format...);
  return std::string(buffer, result.ptr);
}

std::string NotFinite(double number) {
  if (std::isnan(number)) return "NaN";
  return number > 0 ? "+Inf" : "-Inf";
}

}  // namespace

std::string DoubleText(double number) {
  if (!std::isfinite(number)) return NotFinite(number);
  std::string text = ToChars(number, std::chars_format::scientific);
  const std::size_t mark = text.find('e');
  const int exponent = std::stoi(text.substr(mark + 1));
  if (number == 0 || (exponent >= -4 && exponent < 6)) return PlainDoubleText(number);
  return fmt::format("{}e{}{:02}", text.substr(0, mark), exponent < 0 ? '-' : '+', std::abs(exponent));
}

std::string PlainDoubleText(double number) {
  if (!std::isfinite(number)) return NotFinite(number);
  return ToChars(number, std::chars_format::fixed);
}

std::string FixedDoubleText(double number, int precision) {
  if (!std::isfinite(number)) return NotFinite(number);
  return fmt::format("{:.{}f}", number, precision);
}

}  // namespace berth::cel
