// .ci/run with programs of its own in the place of make and the scenarios: what it says when something fails,
// and when the time does not suffice. tools/within, which it leans on, must leave nothing running.

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "house/command.h"
#include "house/project_tree.h"
#include "house/scratch.h"

namespace berth::house {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kBerthTests = R"(test) echo "7 passed, 0 failed" ;;)";

class Ci : public testing::Test {
 protected:
  Ci() {
    fs::remove_all(folder_);
    for (const char* name : {"project/.ci", "project/tools", "bin"}) fs::create_directories(folder_ / name);
    const fs::path root = BERTH_SOURCE_DIR;
    fs::copy(root / ".ci/run", folder_ / "project/.ci/run");
    Script("project/tools/within", "shift; exec \"$@\"");
    Make(kBerthTests);
    Script("project/tools/e2e", "echo e2e \"$@\"; echo '2 passed, 0 failed'");
    Disk("100");
  }
  ~Ci() override { fs::remove_all(folder_); }

  void Script(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << "#!/bin/bash\n" << text << "\n";
    fs::permissions(folder_ / name, fs::perms::owner_all);
  }
  // What `make` does for some of its targets; for the others it succeeds.
  void Make(const std::string& cases) { Script("bin/make", "echo make $1\ncase $1 in\n" + cases + "\nesac"); }
  // `ci` is what CI is in the environment.
  CommandResult RunCi(const std::string& seconds = "1000", const std::string& ci = "") {
    return RunCommand({"env", "CI=" + ci, "BERTH_CI_SECONDS=" + seconds,
                       "PATH=" + (folder_ / "bin").string() + ":" + Path(), folder_ / "project/.ci/run"});
  }
  // Gigabytes that are left on the disk.
  void Disk(const std::string& gigabytes) { Script("bin/df", "echo Avail; echo '   " + gigabytes + "'"); }
  bool IsThere(const std::string& name) const { return fs::exists(folder_ / "project" / name); }
  static std::string Path() { return std::string(std::getenv("PATH")); }

  const fs::path folder_ = Scratch("ci");
};

std::string LastLine(const CommandResult& result) { return std::string(Lines(result.output).back()); }

TEST_F(Ci, StepsRunInOrderAndTheLastLineCountsTests) {
  const CommandResult result = RunCi();
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(
      result.output,
      testing::ContainsRegex("make test(.|\n)*make asan(.|\n)*make lint(.|\n)*e2e Test(.|\n)*e2e --skip"));
  EXPECT_THAT(result.output, Not(HasSubstr("not run")));
  EXPECT_EQ(LastLine(result), "7 passed, 0 failed");
}

TEST_F(Ci, NothingElseRunsWhereTestsFail) {
  Make(R"(test) echo "5 passed, 2 failed"; exit 2 ;;)");
  const CommandResult result = RunCi();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, Not(HasSubstr("make asan")));
  EXPECT_EQ(LastLine(result), "5 passed, 2 failed");
}

TEST_F(Ci, ABuildThatFailsIsAFailure) {
  Make("test) exit 2 ;;");
  const CommandResult result = RunCi();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(LastLine(result), "0 passed, 1 failed");
}

TEST_F(Ci, AFailureOfALaterStepFailsTheRunAndTheOthersStillRun) {
  Make(std::string(kBerthTests) + R"(asan) echo "4 passed, 3 failed"; exit 2 ;; lint) exit 2 ;;)");
  const CommandResult result = RunCi();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("FAILED: 4 passed, 3 failed"));
  EXPECT_THAT(result.output, HasSubstr("e2e --skip"));
  EXPECT_EQ(LastLine(result), "7 passed, 4 failed");
}

// As tools/within ends a command whose time is over.
constexpr const char* kTimeIsOver = "asan) exit 124 ;;";

TEST_F(Ci, WhatDoesNotFitIntoTheTimeIsNamedAndDoesNotFail) {
  Make(std::string(kBerthTests) + kTimeIsOver);
  const CommandResult result = RunCi();
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("not run for want of time: the rest of asan\n"));
  EXPECT_THAT(result.output, HasSubstr("make lint"));
  EXPECT_EQ(LastLine(result), "7 passed, 0 failed");
}

TEST_F(Ci, NothingButTheTestsIsBegunWithoutTime) {
  const CommandResult result = RunCi("0");
  EXPECT_EQ(result.exit_code, 0) << result.output;
  for (const char* step : {"asan", "lint", "e2e-quick", "e2e-rest"}) {
    EXPECT_THAT(result.output, HasSubstr(std::string("\nnot run for want of time: ") + step + "\n"));
  }
  EXPECT_EQ(LastLine(result), "7 passed, 0 failed");
}

TEST_F(Ci, NothingButTheTestsIsBegunWithoutRoomOnTheDisk) {
  Disk("7");
  const CommandResult result = RunCi();
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output,
              HasSubstr("\nnot run for want of room: asan; the disk has less than 8 GB left\n"));
  EXPECT_THAT(result.output, Not(HasSubstr("make asan")));
  EXPECT_EQ(LastLine(result), "7 passed, 0 failed");
}

TEST_F(Ci, BuildsMakeRoomForTheNextOneOnlyOnAMachineOfItsOwn) {
  Make("test|asan|build) mkdir -p build/$1; echo '7 passed, 0 failed' ;;");
  RunCi("1000", "");
  for (const char* name : {"build/test", "build/asan", "build/build"}) EXPECT_TRUE(IsThere(name)) << name;
  RunCi("1000", "true");
  EXPECT_FALSE(IsThere("build/asan"));
  EXPECT_TRUE(IsThere("build/build"));
  EXPECT_TRUE(IsThere("build/ci"));
}

TEST_F(Ci, AFailureSeenBeforeTheTimeWasOverCounts) {
  Make(std::string(kBerthTests) + "asan) echo ' 3/40 Test #3: net ...***Failed 1 sec'; exit 124 ;;");
  const CommandResult result = RunCi();
  EXPECT_EQ(result.exit_code, 1) << result.output;
  EXPECT_EQ(LastLine(result), "7 passed, 1 failed");
}

TEST_F(Ci, WhatTheMachineCannotRunIsNamedAndDoesNotFail) {
  Script("project/tools/e2e", "echo 'There is no Go' >&2; exit 77");
  const CommandResult result = RunCi();
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("not run: There is no Go"));
  EXPECT_EQ(LastLine(result), "7 passed, 0 failed");
}

CommandResult Within(const std::string& seconds, const std::string& script) {
  return RunCommand({BERTH_SOURCE_DIR "/tools/within", seconds, "bash", "-c", script});
}

TEST(Within, ExitsAsTheCommandDid) {
  EXPECT_EQ(Within("100", "exit 3").exit_code, 3);
  EXPECT_EQ(Within("100", "kill -9 $$").exit_code, 128 + 9);
}

// A daemon that is in no group of the command's and does not care for signals.
constexpr const char* kDaemon =
    "exec 3< <(setsid bash -c 'trap \"\" TERM; echo $$; exec sleep 1000'); read -r daemon <&3; echo $daemon;";

TEST(Within, NothingIsLeftWhenTheTimeIsOver) {
  const CommandResult result = Within("3", std::string(kDaemon) + "sleep 1000");
  EXPECT_EQ(result.exit_code, 124);
  EXPECT_FALSE(fs::exists("/proc/" + Trim(result.output))) << result.output;
}

TEST(Within, NothingIsLeftWhenTheCommandEnds) {
  const CommandResult result = Within("100", kDaemon);
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_FALSE(fs::exists("/proc/" + Trim(result.output))) << result.output;
}

}  // namespace
}  // namespace berth::house
