#include "shell/free_memory.h"

#include <charconv>
#include <cstdint>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <sys/mman.h>

// Of mimalloc, if the program is linked with it: the room does not depend on which allocator that is.
extern "C" void mi_collect(bool force) __attribute__((weak));

namespace berth::shell {
namespace {

struct Mapping {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  bool is_program = false;  // read only, private, of a file
};

// The first line about a mapping: "begin-end perms offset device inode path".
std::optional<Mapping> ReadMapping(std::string_view line) {
  Mapping mapping;
  const char* const end = line.data() + line.size();
  const auto [dash, begin_error] = std::from_chars(line.data(), end, mapping.begin, 16);
  if (begin_error != std::errc() || dash == end || *dash != '-') return std::nullopt;
  const auto [space, end_error] = std::from_chars(dash + 1, end, mapping.end, 16);
  if (end_error != std::errc() || end - space < 5 || *space != ' ') return std::nullopt;
  const std::string_view permissions(space + 1, 4);
  const bool is_read_only = permissions == "r-xp" || permissions == "r--p";
  mapping.is_program = is_read_only && line.find(" /") != std::string_view::npos;
  return mapping;
}

bool IsNone(std::string_view line) { return line.find(" 0 kB") != std::string_view::npos; }

}  // namespace

void ReturnFreeMemory() {
  if (mi_collect != nullptr) mi_collect(true);
}

void ReleaseProgramPages() {
  std::ifstream file("/proc/self/smaps");
  Mapping mapping;
  for (std::string line; std::getline(file, line);) {
    if (const auto next = ReadMapping(line)) {
      mapping = *next;
    } else if (line.starts_with("Anonymous:") && mapping.is_program && IsNone(line)) {
      // Pages that differ from the file (addresses that the loader has put in) are anonymous, and would be
      // lost.
      ::madvise(reinterpret_cast<void*>(mapping.begin), mapping.end - mapping.begin, MADV_DONTNEED);
    }
  }
}

}  // namespace berth::shell
