// tools/function-order from profiles that are there already, of a program with symbols: this one.

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
using testing::StartsWith;

class FunctionOrder : public testing::Test {
 protected:
  FunctionOrder() { fs::create_directories(folder_); }
  ~FunctionOrder() override { fs::remove_all(folder_); }

  // A profile in callgrind's form, with what the named program did.
  std::string Profile(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << "# callgrind format\nevents: Ir\n\n" << text;
    return folder_ / name;
  }
  std::string OfProgram(const std::string& text) const { return "ob=" + program_.string() + "\n" + text; }

  CommandResult Run(const std::vector<std::string>& flags) const {
    std::vector<std::string> command = {fs::path(BERTH_SOURCE_DIR) / "tools/function-order", "--berth",
                                        program_, "--list", folder_ / "list.gz"};
    command.insert(command.end(), flags.begin(), flags.end());
    return RunCommand(command);
  }
  std::string Listed() const { return RunCommand({"gzip", "-dc", folder_ / "list.gz"}).output; }

  const fs::path folder_ = Scratch("function_order");
  const fs::path program_ = fs::canonical("/proc/self/exe");
};

TEST_F(FunctionOrder, WhatRunsInMostProfilesComesFirstThenWhatTakesMost) {
  const std::string one = Profile("one", OfProgram("fn=_init\n10 5\nfn=_start\n20 1\nfn=main\n30 2\n"));
  const std::string two = Profile("two", OfProgram("fn=main\n30 3\nfn=_start\n20 9\n"));
  const CommandResult made = Run({"--profiles", one, two});
  ASSERT_EQ(made.exit_code, 0) << made.output;
  EXPECT_THAT(made.output, StartsWith("3 functions are listed in "));
  EXPECT_EQ(Listed(), "_start\nmain\n_init\n");
}

TEST_F(FunctionOrder, WhatOthersTookAndWhatIsNoFunctionDoesNotCount) {
  const std::string one = Profile("one", "ob=/lib/other.so\nfn=_init\n10 50\n" +
                                             OfProgram("fn=_start\n20 1\ncfn=main\ncalls=1 30\n20 900\n"
                                                       "fn=main\n30 2\nfn=0x00000000000109c0\n0 7\n"));
  ASSERT_EQ(Run({"--profiles", one}).exit_code, 0);
  EXPECT_EQ(Listed(), "main\n_start\n");
}

TEST_F(FunctionOrder, ChecksWhichNamesAreGone) {
  std::ofstream(folder_ / "list") << "main\na_function_that_was_renamed\n";
  RunCommand({"gzip", folder_ / "list"});
  const CommandResult checked = Run({"--check"});
  EXPECT_EQ(checked.exit_code, 0);
  EXPECT_THAT(checked.output, StartsWith("2 functions are listed, 1 of them are not in "));
}

TEST_F(FunctionOrder, SaysWhatIsMissing) {
  const CommandResult made = Run({"--profiles", Profile("none", "")});
  EXPECT_NE(made.exit_code, 0);
  EXPECT_THAT(made.output, HasSubstr("was seen to run"));
  EXPECT_FALSE(fs::exists(folder_ / "list.gz"));
}

}  // namespace
}  // namespace berth::house
