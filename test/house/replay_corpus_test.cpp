// Every corpus is replayed by the same driver: if it passed without replaying, no corpus would be tested.

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "house/command.h"
#include "house/scratch.h"

namespace berth::house {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ReplayCorpus : public testing::Test {
 protected:
  ReplayCorpus() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~ReplayCorpus() override { fs::remove_all(folder_); }

  void Write(const std::string& name, const std::string& bytes) {
    fs::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }

  const fs::path folder_ = Scratch("replay_corpus");
};

TEST_F(ReplayCorpus, CountsTheFilesOfAFolderAndBelow) {
  Write("one", "1");
  Write("nothing", "");
  Write("deeper/two", std::string("\0\xff", 2));
  const CommandResult result = RunCommand({BERTH_HOUSE_REPLAY, folder_});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("3 inputs replayed"));
}

TEST_F(ReplayCorpus, TakesSingleFiles) {
  Write("one", "1");
  Write("two", "2");
  const CommandResult result = RunCommand({BERTH_HOUSE_REPLAY, folder_ / "one"});
  EXPECT_EQ(result.exit_code, 0) << result.output;
  EXPECT_THAT(result.output, HasSubstr("1 inputs replayed"));
}

TEST_F(ReplayCorpus, CrashNamesItsInputAndFails) {
  Write("a_fine_one", "fine");
  Write("the_finding", "!");
  const CommandResult result = RunCommand({BERTH_HOUSE_REPLAY, folder_});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_THAT(result.output, HasSubstr("the_finding"));
  EXPECT_THAT(result.output, testing::Not(HasSubstr("replayed")));
}

TEST_F(ReplayCorpus, EmptyFolderFails) {
  const CommandResult result = RunCommand({BERTH_HOUSE_REPLAY, folder_});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("the folder holds no inputs"));
}

TEST_F(ReplayCorpus, MissingFolderFailsThoughAnotherIsThere) {
  Write("one", "1");
  const CommandResult result = RunCommand({BERTH_HOUSE_REPLAY, folder_, folder_ / "no_such"});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.output, HasSubstr("no_such: no such file or folder"));
}

TEST_F(ReplayCorpus, NoArgumentsFail) { EXPECT_EQ(RunCommand({BERTH_HOUSE_REPLAY}).exit_code, 2); }

}  // namespace
}  // namespace berth::house
