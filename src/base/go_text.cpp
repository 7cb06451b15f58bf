#include "base/go_text.h"

#include <charconv>
#include <cmath>
#include <cstddef>
#include <iterator>

#include "fmt/format.h"

#include "base/printable.h"
#include "base/utf8.h"

namespace berth::base {
namespace {

// The letter of a two-character escape, 0 if there is none.
char GoEscape(char32_t rune) {
  switch (rune) {
    case '\a':
      return 'a';
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '\v':
      return 'v';
    case '\\':
      return '\\';
    case '"':
      return '"';
    default:
      return 0;
  }
}

void AppendGoRune(std::string& out, std::string_view bytes, const DecodedRune& decoded) {
  const auto rune = static_cast<unsigned>(decoded.rune);
  if (!decoded.valid) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(bytes[0]));
  } else if (const char letter = GoEscape(decoded.rune); letter != 0) {
    out += '\\';
    out += letter;
  } else if (IsPrintable(decoded.rune)) {
    out += bytes;
  } else if (rune < 0x20 || rune == 0x7f) {
    fmt::format_to(std::back_inserter(out), "\\x{:02x}", rune);
  } else if (rune < 0x10000) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", rune);
  } else {
    fmt::format_to(std::back_inserter(out), "\\U{:08x}", rune);
  }
}

void AppendJsonRune(std::string& out, std::string_view bytes, const DecodedRune& decoded, bool escape_html) {
  const auto rune = static_cast<unsigned>(decoded.rune);
  const bool html = rune == '<' || rune == '>' || rune == '&' || rune == 0x2028 || rune == 0x2029;
  if (!decoded.valid) {
    out += "\\ufffd";
  } else if (rune == '"' || rune == '\\' || rune == '\n' || rune == '\r' || rune == '\t') {
    out += '\\';
    out += GoEscape(decoded.rune);
  } else if (escape_html && (rune == '\b' || rune == '\f')) {
    out += '\\';
    out += GoEscape(decoded.rune);
  } else if (rune < 0x20 || (escape_html && html)) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", rune);
  } else {
    out += bytes;
  }
}

// Stands for itself in every kind of quotes.
constexpr bool IsPlain(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

// Nearly all of what is quoted is plain, and goes over in one piece.
template <class Append>
void AppendRunes(std::string& out, std::string_view text, Append&& append) {
  while (!text.empty()) {
    std::size_t plain = 0;
    while (plain < text.size() && IsPlain(text[plain])) ++plain;
    out.append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    const DecodedRune decoded = DecodeRune(text);
    append(text.substr(0, decoded.width), decoded);
    text.remove_prefix(decoded.width);
  }
}

}  // namespace

void AppendQuotedGo(std::string& out, std::string_view text) {
  out += '"';
  AppendRunes(out, text,
              [&](std::string_view bytes, const DecodedRune& rune) { AppendGoRune(out, bytes, rune); });
  out += '"';
}

std::string QuoteGo(std::string_view text) {
  std::string quoted;
  quoted.reserve(text.size() + 2);
  AppendQuotedGo(quoted, text);
  return quoted;
}

void AppendQuotedJson(std::string& out, std::string_view text, bool escape_html) {
  out += '"';
  AppendRunes(out, text, [&](std::string_view bytes, const DecodedRune& rune) {
    AppendJsonRune(out, bytes, rune, escape_html);
  });
  out += '"';
}

std::string FormatGoFloat(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  constexpr int kLargestExponent = 5;  // Go's for 'g' when it looks for the shortest digits; 20 is for %v
  char buffer[32];
  std::to_chars_result end = std::to_chars(buffer, std::end(buffer), value, std::chars_format::scientific);
  const std::string_view scientific(buffer, static_cast<std::size_t>(end.ptr - buffer));
  int exponent = 0;
  const std::size_t mark = scientific.find('e') + 1;
  std::from_chars(buffer + mark + (scientific[mark] == '+' ? 1 : 0), end.ptr, exponent);
  if (exponent < -4 || exponent > kLargestExponent) return std::string(scientific);
  end = std::to_chars(buffer, std::end(buffer), value, std::chars_format::fixed);
  return std::string(buffer, end.ptr);
}

}  // namespace berth::base
