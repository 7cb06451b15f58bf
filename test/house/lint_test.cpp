// tools/lint on a small project, with and without a mistake planted: a linter that passes everything
// is worse than none.

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

#include "house/command.h"
#include "house/scratch.h"

namespace berth::house {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// Few includes, because clang-tidy reads them on every run.
constexpr const char* kHeader =
    "#pragma once\n\nnamespace berth::base {\n\nstruct Key {\n  Key(Key&& other) noexcept;\n  int teeth = "
    "0;\n};\n\n"
    "int Open(Key key);\n\n}  // namespace berth::base\n";
constexpr const char* kMisnamedInHeader =
    "#pragma once\n\nnamespace berth::base {\n\nstruct Key {\n  Key(Key&& other) noexcept;\n  int teeth = "
    "0;\n};\n\n"
    "class bad_name {};\nint Open(Key key);\n\n}  // namespace berth::base\n";
constexpr const char* kClean =
    "#include \"base/door.h\"\n\n#include <utility>\n\nnamespace berth::base {\n\nint Open(Key key) {\n"
    "  const Key taken = std::move(key);\n  return taken.teeth;\n}\n\n}  // namespace berth::base\n";
constexpr const char* kUsedAfterMove =
    "#include \"base/door.h\"\n\n#include <utility>\n\nnamespace berth::base {\n\nint Open(Key key) {\n"
    "  const Key taken = std::move(key);\n  return taken.teeth + key.teeth;\n}\n\n}  // namespace "
    "berth::base\n";
constexpr const char* kGate =
    "namespace berth::base {\nnamespace {\n\nconstexpr int kWidth = 3;\n\n}  // namespace\n\n"
    "int GateWidth() { return kWidth; }\n\n}  // namespace berth::base\n";
constexpr const char* kClashesWithGate =
    "namespace berth::base {\nnamespace {\n\nconstexpr int kWidth = 4;\n\n}  // namespace\n\n"
    "int DoorWidth() { return kWidth; }\n\n}  // namespace berth::base\n";

class Lint : public testing::Test {
 protected:
  // Configuring with clang takes seconds, so all tests share one project; each starts with nothing
  // remembered.
  static void SetUpTestSuite() {
    fs::remove_all(Folder());
    fs::create_directories(Folder() / "tools");
    const fs::path root = BERTH_SOURCE_DIR;
    fs::copy(root / "tools/lint", Folder() / "tools/lint");
    fs::copy(root / ".clang-tidy", Folder());
    fs::copy(root / ".clang-format", Folder());
    fs::copy(root / "cmake", Folder() / "cmake");
    Write("CMakeLists.txt",
          "cmake_minimum_required(VERSION 3.25)\nproject(small LANGUAGES CXX)\nset(CMAKE_CXX_STANDARD 23)\n"
          "set(CMAKE_EXPORT_COMPILE_COMMANDS ON)\nadd_library(base src/base/door.cpp src/base/gate.cpp)\n"
          "target_include_directories(base PUBLIC src)\n"
          "file(WRITE ${CMAKE_BINARY_DIR}/rooms/base.includes ${CMAKE_SOURCE_DIR}/src)\n");
  }
  static void TearDownTestSuite() { fs::remove_all(Folder()); }

  void SetUp() override {
    // One at a time: asked for several, `command` is content with any.
    if (RunCommand(
            {"bash", "-c", "command -v clang-tidy-19 && command -v clang-format-19 && command -v clang++-19"})
            .exit_code != 0) {
      GTEST_SKIP() << "needs clang 19: tools/setup --lint";
    }
    fs::remove_all(Folder() / "build/lint/passed");
    Write("src/base/door.h", kHeader);
    Write("src/base/door.cpp", kClean);
    Write("src/base/gate.cpp", kGate);
  }

  static fs::path Folder() { return Scratch("lint"); }
  static void Write(const std::string& name, const std::string& text) {
    fs::create_directories((Folder() / name).parent_path());
    std::ofstream(Folder() / name) << text;
  }
  static CommandResult RunLint() { return RunCommand({Folder() / "tools/lint"}); }
};

TEST_F(Lint, CleanFilesPassAndAreRemembered) {
  const CommandResult first = RunLint();
  EXPECT_EQ(first.exit_code, 0) << first.output;
  EXPECT_THAT(first.output, HasSubstr("3 with clang-tidy (3 new), 0 failed"));
  const CommandResult second = RunLint();
  EXPECT_EQ(second.exit_code, 0) << second.output;
  EXPECT_THAT(second.output, HasSubstr("3 with clang-tidy (0 new), 0 failed"));
}

TEST_F(Lint, PlantedBugIsNamedOnEveryRunUntilItIsMended) {
  Write("src/base/door.cpp", kUsedAfterMove);
  for (int run = 0; run < 2; ++run) {
    const CommandResult result = RunLint();
    EXPECT_EQ(result.exit_code, 1);
    EXPECT_THAT(result.output, HasSubstr("bugprone-use-after-move"));
    EXPECT_THAT(result.output, HasSubstr("lint: clang-tidy objects to src/base/door.cpp"));
    EXPECT_THAT(result.output, Not(HasSubstr("gate.cpp")));
  }
  Write("src/base/door.cpp", kClean);
  EXPECT_EQ(RunLint().exit_code, 0);
}

TEST_F(Lint, FilesThatOnlyClashWhenJoinedPass) {
  Write("src/base/door.cpp", kClashesWithGate);
  const CommandResult result = RunLint();
  EXPECT_EQ(result.exit_code, 0) << result.output;
}

TEST_F(Lint, ChangedHeaderIsCheckedAgain) {
  ASSERT_EQ(RunLint().exit_code, 0);
  Write("src/base/door.h", kMisnamedInHeader);
  const CommandResult result = RunLint();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("bad_name"));
}

TEST_F(Lint, BadFormatIsNamed) {
  std::string unformatted(kClean);
  unformatted += "int   x;\n";
  Write("src/base/door.cpp", unformatted);
  const CommandResult result = RunLint();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("src/base/door.cpp:13"));
  EXPECT_THAT(result.output, HasSubstr("not formatted"));
}

TEST_F(Lint, FileThatDoesNotCompileFails) {
  Write("src/base/door.cpp", "#include \"base/door.h\"\n\nint x = Nothing();\n");
  const CommandResult result = RunLint();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("use of undeclared identifier 'Nothing'"));
}

}  // namespace
}  // namespace berth::house
