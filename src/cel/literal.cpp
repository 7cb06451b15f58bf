#include "cel/literal.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <system_error>

#include "cel/utf8.h"

namespace berth::cel {
namespace {

// The whole text as a number, or nothing.
template <class Number>
std::optional<Number> ParseInteger(std::string_view text, int base) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

char32_t Unhex(std::u32string_view digits, int base) {
  char32_t number = 0;
  for (const char32_t c : digits) {
    const char32_t digit = c <= U'9' ? c - U'0' : (c | 0x20) - U'a' + 10;
    number = number * static_cast<char32_t>(base) + digit;
  }
  return number;
}

std::string Unescaped(std::u32string_view text) {
  std::string plain;
  // Line ends read the same whatever system wrote them.
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != U'\r') {
      AppendUtf8(plain, text[i]);
    } else {
      plain += '\n';
      if (i + 1 < text.size() && text[i + 1] == U'\n') ++i;
    }
  }
  return plain;
}

char32_t SimpleEscape(char32_t letter) {
  switch (letter) {
    case U'a':
      return U'\a';
    case U'b':
      return U'\b';
    case U'f':
      return U'\f';
    case U'n':
      return U'\n';
    case U'r':
      return U'\r';
    case U't':
      return U'\t';
    case U'v':
      return U'\v';
    default:
      return letter;
  }
}

// The text between the quotes. Numeric escapes are code points in strings and bytes in bytes.
base::Result<std::string> Unescape(std::u32string_view text, bool bytes) {
  std::string plain;
  while (!text.empty()) {
    const std::size_t run = std::min(text.find(U'\\'), text.size());
    plain += Unescaped(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) break;
    const char32_t c = text[1];
    std::size_t length = 2;
    char32_t code = SimpleEscape(c);
    if (c == U'x' || c == U'X') {
      length = 4;
      code = Unhex(text.substr(2, 2), 16);
    } else if (c == U'u' || c == U'U') {
      if (bytes) return base::Fail("unable to unescape string");
      length = c == U'u' ? 6 : 10;
      code = Unhex(text.substr(2, length - 2), 16);
      if (!IsScalarValue(code)) return base::Fail("invalid unicode code point");
    } else if (c >= U'0' && c <= U'3') {
      length = 4;
      code = Unhex(text.substr(1, 3), 8);
    }
    if (bytes && length == 4) {
      plain += static_cast<char>(static_cast<unsigned char>(code));
    } else {
      AppendUtf8(plain, code);
    }
    text.remove_prefix(length);
  }
  return plain;
}

base::Result<std::string> ParseQuoted(std::u32string_view text, bool bytes) {
  const bool raw = text.front() == U'r' || text.front() == U'R';
  if (raw) text.remove_prefix(1);
  const std::u32string triple(3, text.front());
  const std::size_t quote = text.size() >= 6 && text.starts_with(triple) && text.ends_with(triple) ? 3 : 1;
  text = text.substr(quote, text.size() - 2 * quote);
  if (raw) return Unescaped(text);
  return Unescape(text, bytes);
}

}  // namespace

base::Result<Value> ParseIntLiteral(std::string_view text) {
  const bool negative = text.starts_with('-');
  std::string digits(negative ? text.substr(1) : text);
  const int base = digits.starts_with("0x") ? 16 : 10;
  if (base == 16) digits.erase(0, 2);
  if (negative) digits.insert(0, "-");
  const auto number = ParseInteger<std::int64_t>(digits, base);
  if (!number) return base::Fail("invalid int literal");
  return Value::Int(*number);
}

base::Result<Value> ParseUintLiteral(std::string_view text) {
  text.remove_suffix(1);
  const int base = text.starts_with("0x") ? 16 : 10;
  if (base == 16) text.remove_prefix(2);
  const auto number = ParseInteger<std::uint64_t>(text, base);
  if (!number) return base::Fail("invalid uint literal");
  return Value::Uint(*number);
}

base::Result<Value> ParseDoubleLiteral(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  // A number too small to tell from zero is fine, one too large is not; from_chars calls both out of range.
  if (error == std::errc::result_out_of_range) number = std::strtod(std::string(text).c_str(), nullptr);
  if (error == std::errc::invalid_argument || std::isinf(number) || end != text.data() + text.size()) {
    return base::Fail("invalid double literal");
  }
  return Value::Double(number);
}

base::Result<Value> ParseStringLiteral(std::u32string_view text) {
  auto plain = ParseQuoted(text, false);
  if (!plain) return std::unexpected(plain.error());
  return Value::String(std::move(*plain));
}

base::Result<Value> ParseBytesLiteral(std::u32string_view text) {
  auto plain = ParseQuoted(text.substr(1), true);
  if (!plain) return std::unexpected(plain.error());
  return Value::Bytes(std::move(*plain));
}

}  // namespace berth::cel
