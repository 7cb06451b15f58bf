#include "cli/split_log.h"

#include <array>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// A stream that a test reads.
class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe2(ends_.data(), O_NONBLOCK | O_CLOEXEC), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }
  int file() const { return ends_[1]; }
  std::string Take() const {
    std::array<char, 65536> text{};
    const ssize_t size = ::read(ends_[0], text.data(), text.size());
    return size <= 0 ? std::string() : std::string(text.data(), static_cast<std::size_t>(size));
  }

 private:
  std::array<int, 2> ends_{};
};

class SplitLogTest : public testing::Test {
 protected:
  SplitLog::Options To(std::size_t buffer_bytes, bool warnings_are_errors = true) const {
    return {.buffer_bytes = buffer_bytes,
            .warnings_are_errors = warnings_are_errors,
            .info_file = info.file(),
            .error_file = errors.file()};
  }

  Pipe info;
  Pipe errors;
};

TEST_F(SplitLogTest, ErrorsAndWhatIsToldGoTheirOwnWays) {
  {
    SplitLog log(To(0));
    log.Install();
    BERTH_LOG(0, "told");
    BERTH_LOG_WARNING("warned");
    BERTH_LOG_ERROR(nullptr, "failed");
    EXPECT_THAT(info.Take(), HasSubstr("\"told\""));
    const std::string text = errors.Take();
    EXPECT_THAT(text, HasSubstr("\"warned\""));
    EXPECT_THAT(text, HasSubstr("\"failed\""));
  }
  testing::internal::CaptureStderr();
  BERTH_LOG(0, "afterwards");
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("afterwards"));
  EXPECT_EQ(info.Take(), "");
}

TEST_F(SplitLogTest, WithoutWarningsTheyAreTold) {
  SplitLog log(To(0, false));
  log.Write(base::Severity::kWarning, "w\n");
  EXPECT_EQ(info.Take(), "w\n");
}

TEST_F(SplitLogTest, WhatIsToldIsKeptUntilThereIsEnoughAndErrorsAreNot) {
  SplitLog log(To(10));
  log.Write(base::Severity::kInfo, "12345\n");
  EXPECT_EQ(info.Take(), "");
  log.Write(base::Severity::kError, "e\n");
  EXPECT_EQ(errors.Take(), "e\n");
  log.Write(base::Severity::kInfo, "6789\n");
  EXPECT_EQ(info.Take(), "12345\n");
  log.Flush();
  EXPECT_EQ(info.Take(), "6789\n");
  log.Write(base::Severity::kInfo, "a line that is longer\n");
  EXPECT_EQ(info.Take(), "a line that is longer\n");
}

TEST_F(SplitLogTest, NothingIsLostAtTheEnd) {
  {
    SplitLog log(To(1000));
    log.Write(base::Severity::kInfo, "last\n");
    EXPECT_EQ(info.Take(), "");
  }
  EXPECT_EQ(info.Take(), "last\n");
}

}  // namespace
}  // namespace berth::cli
