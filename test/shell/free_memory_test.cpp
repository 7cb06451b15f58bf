#include "shell/free_memory.h"

#include <fstream>
#include <gtest/gtest.h>
#include <string>

namespace berth::shell {
namespace {

// Kibibytes of files that this process has mapped and in memory.
long MappedFiles() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssFile:")) return std::stol(line.substr(line.find_first_of("0123456789")));
  }
  return 0;
}

TEST(FreeMemory, TheProgramGoesOnWithFewerOfItsPages) {
  const long before = MappedFiles();
  ASSERT_GT(before, 0);
  ReleaseProgramPages();
  EXPECT_LT(MappedFiles(), before);
  ReturnFreeMemory();
}

}  // namespace
}  // namespace berth::shell
