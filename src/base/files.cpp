#include "base/files.h"

#include <cerrno>
#include <fmt/format.h>
#include <fstream>
#include <iterator>

#include "base/errno_text.h"

namespace berth::base {

Result<std::string> ReadFile(const std::string& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return Fail(fmt::format("open {}: {}", path, ErrnoText(errno)));
  try {
    // A folder opens, and its first read throws.
    file.exceptions(std::ios::badbit);
    return std::string(std::istreambuf_iterator<char>(file), {});
  } catch (const std::ios_base::failure&) {
    return Fail(fmt::format("read {}: {}", path, ErrnoText(errno)));
  }
}

}  // namespace berth::base
