#pragma once

#include <cstring>
#include <string>

namespace berth::base {

// What the system says of an error, as Go prints it: the C library begins these with a capital letter.
inline std::string ErrnoText(int error) {
  std::string text = std::strerror(error);
  text[0] = static_cast<char>(text[0] | 0x20);
  return text;
}

}  // namespace berth::base
