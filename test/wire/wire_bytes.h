#pragma once

#include <string>
#include <string_view>

namespace berth::wire::test {

// "6b387300" -> the bytes; blanks are ignored.
inline std::string FromHex(std::string_view hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string digits;
  for (const char c : hex) {
    if (c != ' ' && c != '\n') digits.push_back(c);
  }
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    bytes.push_back(static_cast<char>(digit(digits[i]) << 4 | digit(digits[i + 1])));
  }
  return bytes;
}

// Pod d/p (uid u) bound to node n: as Go writes it, and with only the fields that are set.
inline const std::string kGoBinding = FromHex(
    "6b3873000a0d0a027631120742696e64696e67122a0a130a017012001a016422002a017532003800420012130a044e6f64651200"
    "1a016e22002a0032003a001a002200");
inline const std::string kMinimalBinding =
    FromHex("6b3873000a0d0a027631120742696e64696e6712160a090a01701a01642a017512090a044e6f64651a016e");

// A bookmark of pods at resource version 42.
inline const std::string kBookmarkFrame =
    FromHex("000000250a08424f4f4b4d41524b12190a176b3873000a090a0276311203506f6412060a0432023432");

}  // namespace berth::wire::test
