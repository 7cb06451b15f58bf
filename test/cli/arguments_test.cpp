#include "cli/arguments.h"

#include <CLI/CLI.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::cli {
namespace {

using testing::ElementsAre;

TEST(Arguments, AnEmptyValueDoesNotTakeTheNextArgument) {
  CLI::App app;
  std::string filter = "performance";
  std::string name;
  app.add_option("--label-filter", filter);
  app.add_option("--name", name);
  app.parse(ForParser(std::vector<std::string>{"--label-filter=", "--name", "x"}));
  EXPECT_EQ(filter, "");
  EXPECT_EQ(name, "x");
  app.parse(ForParser(std::vector<std::string>{"--name=y", "--label-filter", "a,-b"}));
  EXPECT_EQ(filter, "a,-b");
  EXPECT_EQ(name, "y");
}

TEST(Arguments, OthersAreAsTheyWere) {
  EXPECT_THAT(ForParser(std::vector<std::string>{"run", "--a=b=", "c=", "--=", "-x"}),
              ElementsAre("-x", "--=", "c=", "--a=b=", "run"));
}

}  // namespace
}  // namespace berth::cli
