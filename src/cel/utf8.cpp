#include "cel/utf8.h"

#include <cstdint>

#include "fmt/format.h"

namespace berth::cel {
namespace {

struct Lead {
  std::size_t length = 0;
  char32_t bits = 0;
  char32_t min = 0;  // a smaller code point was written too long
};

Lead LeadOf(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if (byte >= 0xC2 && byte <= 0xDF) return {2, static_cast<char32_t>(byte & 0x1F), 0x80};
  if (byte >= 0xE0 && byte <= 0xEF) return {3, static_cast<char32_t>(byte & 0x0F), 0x800};
  if (byte >= 0xF0 && byte <= 0xF4) return {4, static_cast<char32_t>(byte & 0x07), 0x10000};
  return {};
}

// Whether Go prints the character as it is. The tables of Unicode are not at hand: what is not printable
// outside of Latin-1 are mainly spaces, controls and private use.
bool IsPrintable(char32_t c) {
  if (c < 0x20 || c == 0x7F) return false;
  if (c < 0x7F) return true;
  if (c < 0xA1 || c == 0xAD) return false;
  if (c >= 0x2000 && c <= 0x200F) return false;
  if (c >= 0x2028 && c <= 0x202F) return false;
  if (c >= 0x205F && c <= 0x206F) return false;
  if (c == 0x1680 || c == 0x3000 || c == 0xFEFF) return false;
  if (c >= 0xE000 && c <= 0xF8FF) return false;
  return c < 0xE0000;
}

}  // namespace

bool IsScalarValue(char32_t code_point) {
  return code_point <= 0x10FFFF && (code_point < 0xD800 || code_point > 0xDFFF);
}

CodePoint DecodeFirst(std::string_view text) {
  const CodePoint bad{kReplacement, 1, false};
  const Lead lead = LeadOf(static_cast<unsigned char>(text.front()));
  if (lead.length == 0 || lead.length > text.size()) return bad;
  char32_t value = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0) != 0x80) return bad;
    value = (value << 6) | (byte & 0x3F);
  }
  if (value < lead.min || !IsScalarValue(value)) return bad;
  return {value, lead.length, true};
}

bool IsValidUtf8(std::string_view text) {
  while (!text.empty()) {
    const CodePoint first = DecodeFirst(text);
    if (!first.valid) return false;
    text.remove_prefix(first.length);
  }
  return true;
}

std::u32string Decode(std::string_view text) {
  std::u32string decoded;
  decoded.reserve(text.size());
  while (!text.empty()) {
    const CodePoint first = DecodeFirst(text);
    decoded.push_back(first.value);
    text.remove_prefix(first.length);
  }
  return decoded;
}

void AppendUtf8(std::string& out, char32_t c) {
  const auto put = [&out](char32_t bits) {
    out.push_back(static_cast<char>(static_cast<unsigned char>(bits)));
  };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | (c >> 6));
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | (c >> 12));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | (c >> 18));
    put(0x80 | ((c >> 12) & 0x3F));
    put(0x80 | ((c >> 6) & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

std::string Encode(std::u32string_view text) {
  std::string encoded;
  encoded.reserve(text.size());
  for (const char32_t c : text) AppendUtf8(encoded, c);
  return encoded;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

char EscapeLetter(char32_t code_point) {
  constexpr std::u32string_view kEscaped = U"\a\b\f\n\r\t\v\\\"";
  constexpr std::string_view kLetters = "abfnrtv\\\"";
  const std::size_t at = kEscaped.find(code_point);
  return at == std::u32string_view::npos ? '\0' : kLetters[at];
}

std::string GoQuote(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const CodePoint first = DecodeFirst(text);
    if (!first.valid) {
      quoted += fmt::format("\\x{:02x}", static_cast<unsigned char>(text.front()));
    } else if (const char letter = EscapeLetter(first.value); letter != '\0') {
      quoted += '\\';
      quoted += letter;
    } else if (IsPrintable(first.value)) {
      quoted += text.substr(0, first.length);
    } else if (first.value < 0x80) {
      quoted += fmt::format("\\x{:02x}", static_cast<std::uint32_t>(first.value));
    } else if (first.value < 0x10000) {
      quoted += fmt::format("\\u{:04x}", static_cast<std::uint32_t>(first.value));
    } else {
      quoted += fmt::format("\\U{:08x}", static_cast<std::uint32_t>(first.value));
    }
    text.remove_prefix(first.length);
  }
  return quoted + "\"";
}

}  // namespace berth::cel
