#include "base/log.h"

#include <cstdlib>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "base/check.h"
#include "base/log_batch.h"

namespace berth::base {
namespace {

using namespace std::chrono_literals;

class CapturedLog final : public LogSink {
 public:
  void Write(Severity, std::string_view line) override { text += line; }
  std::string text;
};

// Logs into a string at a fixed time, which is 2026-08-20 18:59:46.123456 UTC.
class LogTest : public testing::Test {
 protected:
  LogTest() : clock_(TimePoint(), WallPoint(1'787'252'386'123'456us)) {
    setenv("TZ", "UTC", 1);
    tzset();
    before_ = ConfigureLogging(Options());
  }
  ~LogTest() override { ConfigureLogging(before_); }

  LogOptions Options() { return {.clock = &clock_, .sink = &captured_, .process_id = 12345}; }
  void UseJson() {
    LogOptions options = Options();
    options.format = LogFormat::kJson;
    ConfigureLogging(options);
  }
  // What was logged since the last call, line numbers replaced: tests should survive edits above them.
  std::string Taken() {
    std::string text = std::exchange(captured_.text, "");
    const std::string marker = "log_test.cpp:";
    for (std::size_t at = text.find(marker); at != std::string::npos; at = text.find(marker, at + 1)) {
      const std::size_t digits = at + marker.size();
      text.replace(digits, text.find_first_not_of("0123456789", digits) - digits, "N");
    }
    return text;
  }

  VirtualClock clock_;
  CapturedLog captured_;
  LogOptions before_;
};

TEST_F(LogTest, TextLineHasTheLayoutOfKlog) {
  BERTH_LOG(0, "Bound pod", {"pod", LogObject{"default", "web"}}, {"node", "node-1"}, {"attempts", 3});
  EXPECT_EQ(Taken(),
            "I0820 18:59:46.123456   12345 log_test.cpp:N] \"Bound pod\" pod=\"default/web\" node=\"node-1\" "
            "attempts=3\n");
}

TEST_F(LogTest, TextValuesKeepTheirTypes) {
  const std::vector<std::string> list = {"a", "<b>"};
  BERTH_LOG(0, "Values", {"bool", true}, {"negative", -5}, {"unsigned", 18446744073709551615U},
            {"float", 2.5}, {"tiny", 1e-7}, {"duration", 1500ms}, {"cluster", LogObject{"", "node-1"}},
            {"list", list}, {"json", LogJson{R"({"a":1})"}}, {"error", Error{"broken"}},
            {"string", std::string("x")});
  EXPECT_THAT(Taken(),
              testing::EndsWith(
                  "\"Values\" bool=true negative=-5 unsigned=18446744073709551615 float=2.5 tiny=1e-7 "
                  "duration=\"1.5s\" cluster=\"node-1\" list=[\"a\",\"\\u003cb\\u003e\"] json={\"a\":1} "
                  "error=\"broken\" string=\"x\"\n"));
}

TEST_F(LogTest, ErrorComesFirstThenTheLoggerName) {
  BERTH_LOG_ERROR(Error{"no route to host"}, "Watch failed", {"resource", "pods"},
                  {"logger", "client.watch"});
  EXPECT_EQ(Taken(),
            "E0820 18:59:46.123456   12345 log_test.cpp:N] \"Watch failed\" err=\"no route to host\" "
            "logger=\"client.watch\" resource=\"pods\"\n");
}

TEST_F(LogTest, ErrorMayBeATextOrNothing) {
  BERTH_LOG_ERROR("why", "With text");
  BERTH_LOG_ERROR(nullptr, "Without");
  BERTH_LOG_WARNING("Careful", {"n", 1});
  EXPECT_EQ(Taken(),
            "E0820 18:59:46.123456   12345 log_test.cpp:N] \"With text\" err=\"why\"\n"
            "E0820 18:59:46.123456   12345 log_test.cpp:N] \"Without\"\n"
            "W0820 18:59:46.123456   12345 log_test.cpp:N] \"Careful\" n=1\n");
}

TEST_F(LogTest, LinesOfALongTextAreIndented) {
  BERTH_LOG(0, "Dump", {"a", "one\ntwo"}, {"b", "three\n\n"});
  EXPECT_THAT(Taken(), testing::EndsWith("\"Dump\" a=<\n\tone\n\ttwo\n > b=<\n\tthree\n\t\n >\n"));
}

TEST_F(LogTest, LaterOfTwoEqualKeysWins) {
  BERTH_LOG(0, "Twice", {"a", 1}, {"b", 2}, {"a", 3});
  EXPECT_THAT(Taken(), testing::EndsWith("\"Twice\" b=2 a=3\n"));
}

TEST_F(LogTest, MessageIsQuoted) {
  BERTH_LOG(0, "a \"b\"\nc");
  EXPECT_THAT(Taken(), testing::EndsWith("] \"a \\\"b\\\"\\nc\"\n"));
}

TEST_F(LogTest, JsonLineHasTheLayoutOfKlogsJson) {
  UseJson();
  BERTH_LOG(0, "Bound \"pod\"", {"pod", LogObject{"default", "web"}}, {"node", LogObject{"", "node-1"}},
            {"took", 1500ms}, {"n", 3}, {"html", "<&>"});
  EXPECT_EQ(Taken(),
            R"({"ts":1787252386123.456,"caller":"base/log_test.cpp:N","msg":"Bound \"pod\"","v":0,)"
            R"("pod":{"name":"web","namespace":"default"},"node":{"name":"node-1"},"took":"1.5s","n":3,)"
            R"("html":"<&>"})"
            "\n");
}

TEST_F(LogTest, JsonErrorHasNoVerbosityAndEndsWithTheError) {
  UseJson();
  BERTH_LOG_ERROR("broken", "Failed", {"n", 1}, {"logger", "a.b"});
  EXPECT_EQ(Taken(),
            R"({"ts":1787252386123.456,"logger":"a.b","caller":"base/log_test.cpp:N","msg":"Failed","n":1,)"
            R"("err":"broken"})"
            "\n");
}

int Counted(int& evaluations) { return ++evaluations; }
void LogAtFour(int& evaluations) { BERTH_LOG(4, "Four", {"n", Counted(evaluations)}); }

TEST_F(LogTest, DisabledCallEvaluatesNothing) {
  int evaluations = 0;
  LogAtFour(evaluations);
  LogAtFour(evaluations);
  EXPECT_EQ(evaluations, 0);
  SetLogVerbosity(4);
  LogAtFour(evaluations);
  EXPECT_EQ(evaluations, 1);
  SetLogVerbosity(3);
  LogAtFour(evaluations);
  EXPECT_EQ(evaluations, 1);
  EXPECT_THAT(Taken(), testing::EndsWith("\"Four\" n=1\n"));
}

TEST_F(LogTest, VmoduleRaisesTheVerbosityOfMatchingFiles) {
  int evaluations = 0;
  const auto log_with = [&](std::string_view rules) {
    LogOptions options = Options();
    options.vmodule = ParseVmodule(rules).value();
    ConfigureLogging(options);
    LogAtFour(evaluations);
    return std::exchange(evaluations, 0);
  };
  EXPECT_EQ(log_with("log_test=4"), 1);
  EXPECT_EQ(log_with("log_*=5"), 1);
  EXPECT_EQ(log_with("log_test=3"), 0);
  EXPECT_EQ(log_with("other=9"), 0);
  EXPECT_EQ(log_with("log=9"), 0);
  EXPECT_EQ(log_with("log_test=3,log_*=9"), 0);  // the first match counts
  EXPECT_EQ(log_with(""), 0);
}

TEST(ParseVmodule, SkipsEmptyAndZeroRules) {
  const auto rules = ParseVmodule("a=1,,b=0,c*=2,");
  ASSERT_TRUE(rules.has_value());
  ASSERT_EQ(rules->size(), 2U);
  EXPECT_EQ((*rules)[1].pattern, "c*");
  EXPECT_EQ((*rules)[1].verbosity, 2);
}

TEST(ParseVmodule, RefusesWhatIsNoRule) {
  constexpr std::string_view kSyntax = "syntax error: expect comma-separated list of filename=N";
  for (const std::string_view text : {"a", "a=", "=1", "a=x", "a=1=2", "a=1x", "a=99999999999"}) {
    const auto rules = ParseVmodule(text);
    ASSERT_FALSE(rules.has_value()) << text;
    EXPECT_EQ(rules.error().message, kSyntax);
  }
  EXPECT_EQ(ParseVmodule("a=-1").error().message, "negative value for vmodule level");
}

TEST_F(LogTest, LinesOfSeveralThreadsDoNotMix) {
  constexpr int kThreads = 4;
  constexpr int kLines = 200;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < kLines; ++i) BERTH_LOG(0, "Line", {"text", "0123456789"});
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string line = "I0820 18:59:46.123456   12345 log_test.cpp:N] \"Line\" text=\"0123456789\"\n";
  std::string want;
  for (int i = 0; i < kThreads * kLines; ++i) want += line;
  EXPECT_EQ(Taken(), want);
}

// Counts how often it is called, as a file would count writes.
class CountedLog final : public LogSink {
 public:
  void Write(Severity, std::string_view lines) override { writes.emplace_back(lines); }
  std::vector<std::string> writes;
};

class LogBatchTest : public testing::Test {
 protected:
  LogBatchTest() { before_ = ConfigureLogging({.clock = &clock_, .sink = &log_, .process_id = 1}); }
  ~LogBatchTest() override { ConfigureLogging(before_); }

  VirtualClock clock_;
  CountedLog log_;
  LogOptions before_;
};

TEST_F(LogBatchTest, LinesAreWrittenTogether) {
  LogBatch batch;
  BERTH_LOG(0, "first");
  BERTH_LOG(0, "second");
  EXPECT_THAT(log_.writes, testing::IsEmpty());
  batch.Flush();
  ASSERT_EQ(log_.writes.size(), 1U);
  EXPECT_THAT(log_.writes[0], testing::ContainsRegex("\"first\"\n.*\"second\"\n$"));
  batch.Flush();
  EXPECT_EQ(log_.writes.size(), 1U);
}

TEST_F(LogBatchTest, ErrorsAndWarningsDoNotWaitAndKeepTheOrder) {
  const LogBatch batch;
  BERTH_LOG(0, "told");
  BERTH_LOG_ERROR(nullptr, "failed");
  ASSERT_EQ(log_.writes.size(), 2U);
  EXPECT_THAT(log_.writes[0], testing::HasSubstr("told"));
  EXPECT_THAT(log_.writes[1], testing::HasSubstr("failed"));
  BERTH_LOG_WARNING("careful");
  EXPECT_EQ(log_.writes.size(), 3U);
}

TEST_F(LogBatchTest, OtherThreadsDoNotWaitAndKeepTheOrder) {
  const LogBatch batch;
  BERTH_LOG(0, "mine");
  std::thread([] { BERTH_LOG(0, "theirs"); }).join();
  ASSERT_EQ(log_.writes.size(), 2U);
  EXPECT_THAT(log_.writes[0], testing::HasSubstr("mine"));
  EXPECT_THAT(log_.writes[1], testing::HasSubstr("theirs"));
}

TEST_F(LogBatchTest, ItIsBoundedInBytesAndTime) {
  LogBatch batch;
  BERTH_LOG(0, "long", {"text", std::string(LogBatch::kBytesMax, 'x')});
  EXPECT_EQ(log_.writes.size(), 1U);
  BERTH_LOG(0, "young");
  batch.FlushOld();
  EXPECT_EQ(log_.writes.size(), 1U);
  clock_.Advance(LogBatch::kAgeMax);
  batch.FlushOld();
  EXPECT_EQ(log_.writes.size(), 2U);
  BERTH_LOG(0, "kept");
  clock_.Advance(LogBatch::kAgeMax);
  BERTH_LOG(0, "the next finds it old");
  EXPECT_EQ(log_.writes.size(), 3U);
}

TEST_F(LogBatchTest, NothingIsLostAtItsEnd) {
  {  // Its own, and a process that gives up.
    const LogBatch batch;
    BERTH_LOG(0, "first");
    FlushLogAtOnce();
    EXPECT_EQ(log_.writes.size(), 1U);
    BERTH_LOG(0, "second");
  }
  EXPECT_EQ(log_.writes.size(), 2U);
  BERTH_LOG(0, "after it");
  EXPECT_EQ(log_.writes.size(), 3U);
}

TEST(LogBatchDeathTest, AFailedCheckWritesWhatIsKept) {
  EXPECT_DEATH(
      {
        const LogBatch batch;
        BERTH_LOG(0, "the last words");
        CheckFailed("condition", "file.cpp", 1);
      },
      "the last words");
}

}  // namespace
}  // namespace berth::base
