#include "server/cpu_profile.h"

#include <array>
#include <cstdint>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace berth::server {
namespace {

using testing::HasSubstr;

std::uint64_t WordAt(const std::string& text, std::size_t index) {
  std::uint64_t word = 0;
  std::memcpy(&word, text.data() + index * sizeof(word), sizeof(word));
  return word;
}

// Until the profile has seen something: by processor time, so that a busy machine changes nothing.
void Work(const CpuProfile& profile, std::size_t samples) {
  volatile std::uint64_t sum = 0;
  while (profile.sample_count() < samples) {
    for (std::uint64_t i = 0; i < 100'000; ++i) sum = sum + i;
  }
}

// The layout is that of pprof's CPU profiles: words, then the memory map.
TEST(CpuProfile, SeesWhoWorksInAFormatThatPprofReads) {
  auto profile = CpuProfile::Start(1000);
  ASSERT_TRUE(profile) << profile.error().message;
  Work(**profile, 20);
  const std::string text = (*profile)->Finish();
  const std::size_t seen = (*profile)->sample_count();
  EXPECT_EQ(WordAt(text, 0), 0u);
  EXPECT_EQ(WordAt(text, 1), 3u);
  EXPECT_EQ(WordAt(text, 2), 0u);
  EXPECT_EQ(WordAt(text, 3), 1000u);
  std::size_t at = 5;
  std::size_t counted = 0;
  while (WordAt(text, at) != 0) {
    counted += WordAt(text, at);
    ASSERT_GE(WordAt(text, at + 1), 1u);
    ASSERT_LE(WordAt(text, at + 1), 48u);
    at += 2 + WordAt(text, at + 1);
  }
  EXPECT_EQ(counted, seen);
  EXPECT_EQ(WordAt(text, at + 1), 1u);
  EXPECT_EQ(WordAt(text, at + 2), 0u);
  EXPECT_THAT(text.substr((at + 3) * 8), HasSubstr("r-xp"));
}

TEST(CpuProfile, IsOneAtATime) {
  auto first = CpuProfile::Start();
  ASSERT_TRUE(first);
  const auto second = CpuProfile::Start();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().message, "Could not enable CPU profiling: cpu profiling already in use");
  first->reset();
  EXPECT_TRUE(CpuProfile::Start());
}

TEST(CpuProfile, AnswersAboutSymbols) {
  EXPECT_EQ(SymbolAnswer(""), "num_symbols: 1\n");
  EXPECT_EQ(SymbolAnswer("0xzz+0x1"), "num_symbols: 1\n");
  EXPECT_THAT(CommandLine(), HasSubstr("berth_server_test"));
}

}  // namespace
}  // namespace berth::server
