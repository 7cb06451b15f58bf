#include "cli/config_command.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

namespace berth::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ConfigCommandTest : public testing::Test {
 protected:
  static std::string Write(std::string_view name, std::string_view body) {
    const fs::path path = fs::path(testing::TempDir()) / name;
    std::ofstream(path) << "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                        << body;
    return path.string();
  }

  std::ostringstream out;
  std::ostringstream errors;
};

TEST_F(ConfigCommandTest, CheckNamesFileAndLine) {
  const std::string file = Write("config-bad.yaml", "parallelism: 0\nfoo: 1\n");
  EXPECT_EQ(CheckConfig(file, {}, out, errors), 1);
  EXPECT_EQ(out.str(),
            file + ":3: parallelism: Invalid value: 0: should be an integer value greater than zero\n" +
                file + ":4: unknown field \"foo\"\n");
}

TEST_F(ConfigCommandTest, CheckOfAGoodFile) {
  const std::string file = Write("config-good.yaml", "parallelism: 1\n");
  EXPECT_EQ(CheckConfig(file, {}, out, errors), 0);
  EXPECT_EQ(out.str(), file + ": ok\n");
}

TEST_F(ConfigCommandTest, ExpandShowsDefaultsBesideWhatIsChanged) {
  const std::string file = Write("config-changed.yaml", "parallelism: 1\n");
  EXPECT_EQ(ExpandConfig(file, {}, out, errors), 0);
  EXPECT_THAT(out.str(), HasSubstr("parallelism: 1  # line 3, default 16\n"));
  EXPECT_THAT(out.str(), HasSubstr("podMaxBackoffSeconds: 10  # default\n"));
}

TEST_F(ConfigCommandTest, DefaultsFollowGates) {
  const std::string file = Write("config-good.yaml", "");
  EXPECT_EQ(ExpandConfig(file, {.feature_gates = {"GenericWorkload=true"}}, out, errors), 0);
  EXPECT_THAT(out.str(), HasSubstr("  permit: GangScheduling\n"));
  EXPECT_EQ(ExpandConfig(file, {.feature_gates = {"Foo=true"}}, out, errors), 2);
  EXPECT_THAT(errors.str(), HasSubstr("unrecognized feature gate: Foo"));
}

TEST_F(ConfigCommandTest, DiffComparesMeanings) {
  const std::string plain = Write("config-a.yaml", "");
  const std::string same = Write("config-b.yaml", "parallelism: 16\n");
  const std::string other = Write("config-c.yaml", "parallelism: 17\n");
  EXPECT_EQ(DiffConfigs(plain, same, {}, out, errors), 0);
  EXPECT_EQ(out.str(), "");
  EXPECT_EQ(DiffConfigs(plain, other, {}, out, errors), 1);
  EXPECT_EQ(out.str(), "- parallelism: 16\n+ parallelism: 17\n");
  EXPECT_EQ(DiffConfigs(plain, "/does/not/exist", {}, out, errors), 2);
}

}  // namespace
}  // namespace berth::cli
