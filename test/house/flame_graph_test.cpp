// tools/flame-graph from stacks that are folded already: what is drawn, what is merged, and how large it may
// get.

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "house/command.h"
#include "house/project_tree.h"
#include "house/scratch.h"

namespace berth::house {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class FlameGraph : public testing::Test {
 protected:
  FlameGraph() { fs::create_directories(folder_); }
  ~FlameGraph() override { fs::remove_all(folder_); }

  CommandResult Draw(const std::string& stacks, std::vector<std::string> flags = {}) {
    std::ofstream(folder_ / "folded") << stacks;
    std::vector<std::string> command = {fs::path(BERTH_SOURCE_DIR) / "tools/flame-graph", folder_ / "out.svg",
                                        "--folded", folder_ / "folded"};
    command.insert(command.end(), flags.begin(), flags.end());
    return RunCommand(command);
  }
  std::string Picture() const { return ReadWhole(folder_ / "out.svg"); }

  const fs::path folder_ = Scratch("flame_graph");
};

TEST_F(FlameGraph, DrawsSharesAndMergesWhatIsNarrow) {
  const CommandResult drawn = Draw(
      "berth;main;Step 700\nberth;main;Read<a&b> 295\nberth;main;rare 2\nberth;main;seldom 3\nother;x 5\n",
      {"--only", "berth", "--title", "one < two"});
  ASSERT_EQ(drawn.exit_code, 0) << drawn.output;
  EXPECT_THAT(Picture(), HasSubstr("1000 samples"));
  EXPECT_THAT(Picture(), HasSubstr("<title>Step 70.00 %</title>"));
  EXPECT_THAT(Picture(), HasSubstr("Read&lt;a&amp;b&gt; 29.50 %"));
  EXPECT_THAT(Picture(), HasSubstr("one &lt; two"));
  EXPECT_THAT(Picture(), HasSubstr("<title>seldom 0.30 %</title>"));
  EXPECT_THAT(Picture(), Not(HasSubstr("rare")));
  EXPECT_THAT(Picture(), Not(HasSubstr("other")));
}

TEST_F(FlameGraph, StaysSmallHoweverManyFramesThereAre) {
  std::string stacks;
  for (int i = 0; i < 300; ++i) {
    stacks += "berth";
    for (int level = 0; level < 40; ++level) {
      stacks += ";a_function_with_a_long_name_" + std::to_string(i) + "_" + std::to_string(level);
    }
    stacks += " 10\n";
  }
  ASSERT_EQ(Draw(stacks, {"--kilobytes", "50"}).exit_code, 0);
  EXPECT_LE(fs::file_size(folder_ / "out.svg"), 50'000U);
  EXPECT_THAT(Picture(), HasSubstr("(others)"));
}

TEST_F(FlameGraph, SaysWhatIsMissing) {
  const CommandResult drawn = Draw("berth;main 1\n", {"--only", "nobody"});
  EXPECT_NE(drawn.exit_code, 0);
  EXPECT_THAT(drawn.output, HasSubstr("there are no samples of nobody"));
}

}  // namespace
}  // namespace berth::house
