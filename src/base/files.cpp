#include "base/files.h"

#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

namespace berth::base {
namespace {

// The C library begins these with a capital letter, Go does not.
std::string ErrorText(int error) {
  std::string text = std::strerror(error);
  text[0] = static_cast<char>(text[0] | 0x20);
  return text;
}

}  // namespace

Result<std::string> ReadFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(fmt::format("open {}: {}", path, ErrorText(errno)));
  try {
    // A folder opens, and its first read throws.
    file.exceptions(std::ios::badbit);
    return std::string(std::istreambuf_iterator<char>(file), {});
  } catch (const std::ios_base::failure&) {
    return Fail(fmt::format("read {}: {}", path, ErrorText(errno)));
  }
}

}  // namespace berth::base
