#include "cli/conformance/case_file.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <zlib.h>

namespace berth::cli {
namespace {

struct CloseGzip {
  void operator()(gzFile file) const { gzclose(file); }
};

}  // namespace

base::Result<void> ForEachLine(const std::string& path,
                               const std::function<void(std::size_t, std::string_view)>& visit) {
  errno = 0;
  // zlib reads files that are not compressed as they are.
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (!file) return base::Fail(path + ": " + (errno != 0 ? std::strerror(errno) : "cannot be read"));

  std::array<char, 1 << 16> buffer;
  std::string line;
  std::size_t number = 0;
  const auto finish_line = [&] {
    ++number;
    if (!line.empty()) visit(number, line);
    line.clear();
  };
  for (;;) {
    const int count = gzread(file.get(), buffer.data(), buffer.size());
    if (count < 0) {
      int code = 0;
      return base::Fail(path + ": " + gzerror(file.get(), &code));
    }
    if (count == 0) break;
    std::string_view rest(buffer.data(), static_cast<std::size_t>(count));
    for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      line.append(rest.substr(0, end));
      finish_line();
      rest.remove_prefix(end + 1);
    }
    line.append(rest);
  }
  if (!line.empty()) finish_line();
  return {};
}

}  // namespace berth::cli
