#include "wire/json_text.h"

#include <array>
#include <cstdint>
#include <simdjson.h>

namespace berth::wire {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr std::string_view kHexDigits = "0123456789abcdef";

// Bytes that stand for themselves in Go's output.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = true;
  for (const char c : {'"', '\\', '<', '>', '&'}) plain[static_cast<unsigned char>(c)] = false;
  return plain;
}();

void AppendAsciiEscape(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
    case '\\':
      out += '\\';
      out += static_cast<char>(c);
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHexDigits[c >> 4];
      out += kHexDigits[c & 15];
  }
}

// One character beyond ASCII at the front of `text`; returns its length.
std::size_t AppendWide(std::string& out, std::string_view text) {
  const std::size_t length = Utf8Length(text);
  if (length == 0) {
    out += "\\ufffd";
    return 1;
  }
  const std::string_view character = text.substr(0, length);
  if (character == "\xe2\x80\xa8") {
    out += "\\u2028";
  } else if (character == "\xe2\x80\xa9") {
    out += "\\u2029";
  } else {
    out += character;
  }
  return length;
}

void AppendUtf8(std::string& out, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xc0 | code >> 6);
  } else {
    if (code < 0x10000) {
      byte(0xe0 | code >> 12);
    } else {
      byte(0xf0 | code >> 18);
      byte(0x80 | (code >> 12 & 0x3f));
    }
    byte(0x80 | (code >> 6 & 0x3f));
  }
  byte(0x80 | (code & 0x3f));
}

// Four hexadecimal digits, or nothing. Stops at the first character that is none, so never passes a closing
// quote.
std::optional<std::uint32_t> HexCode(const char* digits) {
  std::uint32_t code = 0;
  for (int i = 0; i < 4; ++i) {
    const char c = digits[i];
    std::uint32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<std::uint32_t>(c - '0');
    } else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f') {
      digit = static_cast<std::uint32_t>((c | 0x20) - 'a' + 10);
    } else {
      return std::nullopt;
    }
    code = code << 4 | digit;
  }
  return code;
}

// `at` is behind "\u"; returns what follows the escape, or null.
const char* ReadUnicodeEscape(const char* at, std::string& out) {
  const std::optional<std::uint32_t> code = HexCode(at);
  if (!code) return nullptr;
  at += 4;
  if (*code < 0xd800 || *code > 0xdfff) {
    AppendUtf8(out, *code);
    return at;
  }
  if (*code < 0xdc00 && at[0] == '\\' && at[1] == 'u') {
    const std::optional<std::uint32_t> low = HexCode(at + 2);
    if (low && *low >= 0xdc00 && *low <= 0xdfff) {
      AppendUtf8(out, 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00));
      return at + 6;
    }
  }
  out += kReplacement;
  return at;
}

// `at` is behind the backslash; returns what follows the escape, or null.
const char* ReadEscape(const char* at, std::string& out) {
  static constexpr std::string_view kNames = "\"\\/bfnrt";
  static constexpr std::string_view kValues = "\"\\/\b\f\n\r\t";
  if (*at == 'u') return ReadUnicodeEscape(at + 1, out);
  const std::size_t index = kNames.find(*at);
  if (index == std::string_view::npos) return nullptr;
  out += kValues[index];
  return at + 1;
}

}  // namespace

std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  if (text.empty()) return 0;
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3 : 4;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and numbers beyond Unicode differ in the second byte.
  const unsigned char second = byte(1);
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
  if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
  return length;
}

std::string RepairUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size() + kReplacement.size());
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    out += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  std::size_t copied = 0;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (kPlain[c]) {
      ++i;
      continue;
    }
    out += text.substr(copied, i - copied);
    if (c < 0x80) {
      AppendAsciiEscape(out, c);
      ++i;
    } else {
      i += AppendWide(out, text.substr(i));
    }
    copied = i;
  }
  out += text.substr(copied);
  out += '"';
}

bool ReadJsonString(const char* behind_quote, std::string& out) {
  out.clear();
  const char* at = behind_quote;
  while (true) {
    const char* plain = at;
    while (*at != '"' && *at != '\\') ++at;
    out.append(plain, at);
    if (*at == '"') return true;
    at = ReadEscape(at + 1, out);
    if (at == nullptr) return false;
  }
}

std::optional<std::string> CompactJson(std::string_view text) {
  simdjson::dom::parser parser;
  if (parser.parse(text.data(), text.size()).error() != simdjson::SUCCESS) return std::nullopt;
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (!in_string && (c == ' ' || c == '\n' || c == '\r' || c == '\t')) {
      ++i;
    } else if (in_string && c == '\\') {
      out += text.substr(i, 2);
      i += 2;
    } else if (in_string && c >= 0x80) {
      i += AppendWide(out, text.substr(i));
    } else if (in_string && (c == '<' || c == '>' || c == '&')) {
      AppendAsciiEscape(out, c);
      ++i;
    } else {
      if (c == '"') in_string = !in_string;
      out += static_cast<char>(c);
      ++i;
    }
  }
  return out;
}

}  // namespace berth::wire
