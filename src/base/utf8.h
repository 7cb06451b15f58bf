#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace berth::base {

struct DecodedRune {
  char32_t rune = 0;
  std::size_t width = 1;
  // False for a byte that begins no valid sequence: rune is then U+FFFD and width 1.
  bool valid = true;
};

// The first character of a non-empty text. Strict: no overlong forms, no surrogates, nothing beyond U+10FFFF.
DecodedRune DecodeRune(std::string_view text);

void AppendRune(std::string& out, char32_t rune);

}  // namespace berth::base
