#include "shell/free_memory.h"

#include <fstream>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace berth::shell {
namespace {

// Resident pages that are those of files.
std::int64_t FilePages() {
  std::int64_t size = 0;
  std::int64_t resident = 0;
  std::int64_t shared = 0;
  std::ifstream("/proc/self/statm") >> size >> resident >> shared;
  return shared;
}

TEST(FreeMemory, CodeThatIsNotUsedLeavesAndTheRestComesBack) {
  const std::int64_t before = FilePages();
  ReturnStartupPages();
  const std::int64_t after = FilePages();
  EXPECT_LT(after, before);
  // Twice, with code in between that was let go of.
  ReturnStartupPages();
  EXPECT_EQ(std::stoi(std::to_string(after)), after);
}

TEST(FreeMemory, IsReturnedWhateverTheAllocator) { ReturnFreeMemory(); }

}  // namespace
}  // namespace berth::shell
