#include "cli/scheduler_settings.h"

#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

#include "config/reload.h"

namespace berth::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class SettingsTest : public testing::Test {
 protected:
  // The exit code; nothing if the scheduler would go on.
  std::optional<int> Read(const std::vector<std::string>& arguments) {
    testing::internal::CaptureStderr();
    const auto code = ReadSettings(arguments, settings, out, errors);
    log = testing::internal::GetCapturedStderr();
    return code;
  }
  static std::string Write(std::string_view body) {
    const fs::path path = fs::path(testing::TempDir()) / "scheduler-settings.yaml";
    std::ofstream(path) << "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
                        << body;
    return path.string();
  }

  SchedulerSettings settings;
  std::ostringstream out;
  std::ostringstream errors;
  std::string log;
};

TEST_F(SettingsTest, HelpAndVersionEndWell) {
  EXPECT_EQ(Read({"--help"}), 0);
  EXPECT_THAT(out.str(), HasSubstr("\nLeader election flags:\n"));
}

TEST_F(SettingsTest, VersionIsKubernetes) {
  EXPECT_EQ(Read({"--version"}), 0);
  EXPECT_THAT(out.str(), StartsWith("Kubernetes v1.37"));
}

TEST_F(SettingsTest, AnUnknownFlagShowsUsageFirst) {
  EXPECT_EQ(Read({"--port=0"}), 1);
  EXPECT_THAT(errors.str(), StartsWith("Usage:\n  kube-scheduler [flags]\n"));
  EXPECT_THAT(errors.str(), testing::EndsWith("\nError: unknown flag: --port\n"));
}

TEST_F(SettingsTest, ArgumentsAreNotTaken) {
  EXPECT_EQ(Read({"x", ""}), 1);
  EXPECT_EQ(errors.str(), "Error: \"kube-scheduler\" does not take any arguments, got [\"x\" \"\"]\n");
}

TEST_F(SettingsTest, WrongGatesAreLogged) {  // case 32
  EXPECT_EQ(Read({"--feature-gates=Foo=true"}), 1);
  EXPECT_THAT(log, HasSubstr("\"command failed\" err=\"unrecognized feature gate: Foo\""));
}

TEST_F(SettingsTest, WrongLogFormatIsPrintedBare) {  // case 61
  EXPECT_EQ(Read({"--logging-format=x"}), 1);
  EXPECT_EQ(errors.str(), "format: Invalid value: \"x\": Unsupported log format\n");
}

TEST_F(SettingsTest, AFileThatIsNotThere) {
  EXPECT_EQ(Read({"--config=/does/not/exist"}), 1);
  EXPECT_THAT(log, HasSubstr("open /does/not/exist: no such file or directory"));
}

TEST_F(SettingsTest, AFileIsCheckedWithTheFlags) {
  EXPECT_EQ(Read({"--config=" + Write(""), "--leader-elect-lease-duration=5s"}), 1);
  EXPECT_THAT(log, HasSubstr("must be greater than `RenewDeadline`"));
}

// Case 13: without a file the values are looked at later, by the elector.
TEST_F(SettingsTest, FlagsAloneAreNotChecked) {
  EXPECT_EQ(Read({"--leader-elect-lease-duration=5s"}), std::nullopt);
}

TEST_F(SettingsTest, ExtendersAreTakenFromTheFile) {
  EXPECT_EQ(Read({"--config=" + Write("extenders: [{urlPrefix: 'http://e', filterVerb: f}]\n")}),
            std::nullopt);
  ASSERT_EQ(settings.loaded.compiled.configuration.extenders.size(), 1);
  EXPECT_EQ(settings.loaded.compiled.configuration.extenders[0].filter_verb, "f");
}

TEST_F(SettingsTest, AllNodesUnlessTheFileSaysOtherwise) {
  EXPECT_EQ(Read({"--config=" + Write("")}), std::nullopt);
  EXPECT_FALSE(settings.loaded.samples_nodes);
  SchedulerSettings other;
  const std::vector<std::string> arguments = {"--config=" + Write("percentageOfNodesToScore: 0\n")};
  EXPECT_EQ(ReadSettings(arguments, other, out, errors), std::nullopt);
  EXPECT_TRUE(other.loaded.samples_nodes);
}

TEST_F(SettingsTest, PrivateKeysAreNotShown) {
  config::Configuration configuration;
  configuration.extenders.emplace_back().tls_config.emplace().key_data.bytes = "secret";
  EXPECT_TRUE(config::WithoutSecrets(configuration).extenders[0].tls_config->key_data.empty());
}

}  // namespace
}  // namespace berth::cli
