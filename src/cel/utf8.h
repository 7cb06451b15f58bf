#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace berth::cel {

inline constexpr char32_t kReplacement = 0xFFFD;

// One code point off the front of a text that is not empty. A byte that is no UTF-8 gives kReplacement,
// length 1.
struct CodePoint {
  char32_t value = 0;
  std::size_t length = 1;
  bool valid = true;
};
CodePoint DecodeFirst(std::string_view text);

bool IsValidUtf8(std::string_view text);
std::u32string Decode(std::string_view text);
void AppendUtf8(std::string& out, char32_t code_point);
std::string Encode(std::u32string_view text);

// Surrogates and numbers beyond 10FFFF are none.
bool IsScalarValue(char32_t code_point);

// -1 for what is no hexadecimal digit.
int HexDigit(char c);

// The letter that stands for the character after a backslash: 'n' for a line end. 0 for characters that need
// none.
char EscapeLetter(char32_t code_point);
// As Go's strconv.Quote.
std::string GoQuote(std::string_view text);

}  // namespace berth::cel
