// tools/setup runs first in every make target: it must be quick when there is nothing to do, and must say
// exactly what is missing when it may not install it. Debian's own programs are replaced by scripts that
// write down how they were called.

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

class Setup : public testing::Test {
 protected:
  Setup() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    // The few programs that the script itself needs; nothing else of the machine is visible to it.
    for (const std::string name : {"bash", "mktemp", "rm", "tail"}) {
      const CommandResult found = RunCommand({"bash", "-c", "command -v " + name});
      if (found.exit_code == 0) fs::create_symlink(Trim(Lines(found.output).front()), folder_ / name);
    }
    Fake("python3", "exit 0");
    Fake("id", "echo 1000");
    Fake("apt-get", "echo \"$@\" >>" + Log());
    Installed("");
  }
  ~Setup() override { fs::remove_all(folder_); }

  void Fake(const std::string& name, const std::string& script) {
    const fs::path path = folder_ / name;
    fs::remove(path);  // writing through a link would change the machine's own program
    std::ofstream(path) << "#!/bin/bash\n" << script << "\n";
    fs::permissions(path, fs::perms::owner_all);
  }
  // Every package counts as installed but these, separated by blanks.
  void Installed(const std::string& all_but) {
    Fake("dpkg-query", "[[ \" " + all_but + " \" == *\" ${!#} \"* ]] && exit 1; printf installed");
  }
  std::string Log() const { return folder_ / "apt-get.log"; }
  std::string AptCalls() const { return ReadWhole(Log()); }

  CommandResult RunSetup(std::vector<std::string> arguments = {}) {
    std::vector<std::string> command = {"env", "-i", "PATH=" + folder_.string(), "bash",
                                        BERTH_SOURCE_DIR "/tools/setup"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return RunCommand(command);
  }

  const fs::path folder_ = Scratch("setup");
};

TEST_F(Setup, DoesNothingSilentlyWhenAllIsThere) {
  const CommandResult result = RunSetup();
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_EQ(result.output, "");
  EXPECT_EQ(AptCalls(), "");
}

TEST_F(Setup, NamesExactlyWhatIsMissingWhenItMayNotInstall) {
  Installed("mold libre2-dev");
  const CommandResult result = RunSetup();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("needs root"));
  EXPECT_THAT(result.output, HasSubstr("apt-get install mold libre2-dev\n"));
  EXPECT_EQ(AptCalls(), "");
}

TEST_F(Setup, RootInstallsOnlyWhatIsMissing) {
  Installed("mold libre2-dev");
  Fake("id", "echo 0");
  const CommandResult result = RunSetup();
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_EQ(AptCalls(), "update -qq\ninstall -y -qq --no-install-recommends mold libre2-dev\n");
}

TEST_F(Setup, UsesSudoWhereItAsksForNoPassword) {
  Installed("mold");
  Fake("sudo", "[[ $1 == -n ]] && exit 0; echo sudo >>" + Log() + "; exec \"$@\"");
  const CommandResult result = RunSetup();
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(AptCalls(), HasSubstr("sudo\ninstall -y -qq --no-install-recommends mold\n"));
}

TEST_F(Setup, FailedInstallationShowsWhyAndWhatIsNeeded) {
  Installed("mold");
  Fake("id", "echo 0");
  Fake("apt-get", "echo 'no network'; exit 100");
  const CommandResult result = RunSetup();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("no network"));
  EXPECT_THAT(result.output, HasSubstr("apt-get install mold"));
}

TEST_F(Setup, ClangIsAskedForOnlyWhenLinting) {
  Installed("clang-19 clang-tidy-19");
  EXPECT_EQ(RunSetup().exit_code, 0);
  const CommandResult result = RunSetup({"--lint"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("apt-get install clang-19 clang-tidy-19\n"));
}

TEST_F(Setup, PythonFromElsewhereIsAccepted) {
  Installed("python3-minimal");
  EXPECT_EQ(RunSetup().exit_code, 0);
  fs::remove(folder_ / "python3");
  EXPECT_THAT(RunSetup().output, HasSubstr("apt-get install python3-minimal\n"));
}

TEST_F(Setup, OtherSystemsGetTheListOfPackages) {
  fs::remove(folder_ / "dpkg-query");
  const CommandResult result = RunSetup();
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("berth builds on Debian 12 or later"));
  EXPECT_THAT(result.output, HasSubstr("libgtest-dev"));
}

}  // namespace
}  // namespace berth::house
