#include "base/files.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace berth::base {
namespace {

TEST(Files, ReadsEveryByte) {
  const std::string path = testing::TempDir() + "berth_files_test";
  const std::string bytes("a\0b\r\n\xff", 6);
  std::ofstream(path, std::ios::binary) << bytes;
  EXPECT_EQ(ReadFile(path), bytes);
  std::filesystem::remove(path);
}

TEST(Files, SaysWhyAFileCannotBeRead) {
  EXPECT_EQ(ReadFile("/does/not/exist").error().message, "open /does/not/exist: no such file or directory");
  EXPECT_EQ(ReadFile("/").error().message, "read /: is a directory");
}

}  // namespace
}  // namespace berth::base
