#pragma once

#include <filesystem>
#include <gtest/gtest.h>
#include <string>
#include <unistd.h>

namespace berth::house {

// A folder for one test's files. Two builds may be tested at the same time: each process has folders of its
// own.
inline std::filesystem::path Scratch(const std::string& name) {
  return std::filesystem::path(testing::TempDir()) / ("berth_" + name + "_" + std::to_string(getpid()));
}

}  // namespace berth::house
