#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/defaults.h"
#include "config/flag_set.h"
#include "config/scheduler_flags.h"
#include "config_bed.h"

namespace berth::config {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class FlagsTest : public testing::Test {
 protected:
  std::string Parse(const std::vector<std::string>& arguments) {
    auto parsed = set.Parse(arguments);
    if (!parsed) return parsed.error().message;
    rest = *parsed;
    return "";
  }

  SchedulerFlags flags;
  FlagSet set = MakeFlagSet(flags);
  std::vector<std::string> rest;
};

// What kubeadm writes into the manifest of the static pod.
TEST_F(FlagsTest, OfKubeadm) {
  EXPECT_EQ(Parse({"--authentication-kubeconfig=/etc/kubernetes/scheduler.conf",
                   "--authorization-kubeconfig=/etc/kubernetes/scheduler.conf", "--bind-address=127.0.0.1",
                   "--kubeconfig=/etc/kubernetes/scheduler.conf", "--leader-elect=true"}),
            "");
  EXPECT_THAT(rest, IsEmpty());
  EXPECT_THAT(CheckFlags(flags), IsEmpty());
  Configuration configuration = DefaultConfiguration(UpstreamFeatures());
  ApplyFlags(flags, set, configuration);
  EXPECT_EQ(configuration.client_connection.kubeconfig, "/etc/kubernetes/scheduler.conf");
  EXPECT_EQ(flags.bind_address, "127.0.0.1");
}

TEST_F(FlagsTest, FormsOfFlags) {
  EXPECT_EQ(Parse({"--leader_elect", "-v", "4", "--config", "file", "--disabled-metrics=a,b",
                   "--disabled-metrics=c", "--authorization-always-allow-paths=/metrics", "--", "--x"}),
            "");
  EXPECT_TRUE(flags.leader_elect);
  EXPECT_EQ(flags.verbosity, 4);
  EXPECT_EQ(flags.config, "file");
  EXPECT_THAT(flags.disabled_metrics, ElementsAre("a", "b", "c"));
  EXPECT_THAT(flags.authorization_always_allow_paths, ElementsAre("/metrics"));
  EXPECT_THAT(rest, ElementsAre("--x"));
  EXPECT_EQ(Parse({"-v=2"}), "");
  EXPECT_EQ(flags.verbosity, 2);
}

TEST_F(FlagsTest, Mistakes) {
  EXPECT_EQ(Parse({"--policy-config-file=x"}), "unknown flag: --policy-config-file");
  EXPECT_EQ(Parse({"-x"}), "unknown shorthand flag: 'x' in -x");
  EXPECT_EQ(Parse({"--config"}), "flag needs an argument: --config");
  EXPECT_EQ(
      Parse({"--secure-port=many"}),
      "invalid argument \"many\" for \"--secure-port\" flag: strconv.ParseInt: parsing \"many\": invalid "
      "syntax");
  EXPECT_EQ(Parse({"-v=x"}),
            "invalid argument \"x\" for \"-v, --v\" flag: strconv.ParseUint: parsing \"x\": invalid syntax");
  EXPECT_EQ(
      Parse({"--leader-elect=maybe"}),
      "invalid argument \"maybe\" for \"--leader-elect\" flag: strconv.ParseBool: parsing \"maybe\": invalid "
      "syntax");
  EXPECT_EQ(
      Parse({"--leader-elect-lease-duration=5"}),
      "invalid argument \"5\" for \"--leader-elect-lease-duration\" flag: time: missing unit in duration "
      "\"5\"");
}

TEST_F(FlagsTest, ValuesThatCannotBe) {
  EXPECT_EQ(Parse({"--secure-port=70000", "--disabled-metrics=a-b", "--show-hidden-metrics-for-version=1.30",
                   "--requestheader-uid-headers=a"}),
            "");
  EXPECT_THAT(
      CheckFlags(flags),
      ElementsAre(
          "--secure-port 70000 must be between 1 and 65535, inclusive. It cannot be turned off with 0",
          "--requestheader-uid-headers is set without specifying the standard X-Remote-Uid header - API "
          "aggregation will not work",
          "metrics.showHiddenMetricsForVersion: Invalid value: \"1.30\": must be omitted or have the value "
          "'1.36'; only the previous minor version is allowed",
          "metrics.disabledMetrics: Invalid value: [\"a-b\"]: must be fully qualified metric names matching "
          "\"^[a-zA-Z_:][a-zA-Z0-9_:]*$\", got \"a-b\""));
  EXPECT_EQ(Parse({"--secure-port=-1"}), "");
  EXPECT_THAT(CheckFlags(flags),
              testing::Contains("--secure-port -1 must be between 0 and 65535, inclusive. 0 for turning off "
                                "secure port"));
}

// Each as kube-scheduler v1.37.1 says it; test/e2e compares the two programs on more of them.
TEST_F(FlagsTest, ValuesOfTheWrongForm) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"--bind-address=nobody", "\"--bind-address\" flag: failed to parse IP: \"nobody\""},
      {"--tls-curve-preferences=x",
       "\"--tls-curve-preferences\" flag: strconv.ParseInt: parsing \"x\": invalid syntax"},
      {"--tls-sni-cert-key=x",
       "\"--tls-sni-cert-key\" flag: expected comma separated certificate and key file paths"},
      {"--vmodule=x", "\"--vmodule\" flag: \"x\" does not have the pattern=N format"},
      {"--vmodule=a=x",
       "\"--vmodule\" flag: parsing verbosity in \"a=x\": strconv.ParseUint: parsing \"x\": invalid syntax"},
      {"--allow-metric-labels=x", "\"--allow-metric-labels\" flag: x must be formatted as key=value"},
      {"--version=x", "\"--version\" flag: strconv.ParseBool: parsing \"x\": invalid syntax"},
      {"--help=x", "\"-h, --help\" flag: strconv.ParseBool: parsing \"x\": invalid syntax"},
      {"--log-json-info-buffer-size=x",
       "\"--log-json-info-buffer-size\" flag: quantities must match the regular expression "
       "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
  };
  for (const auto& [argument, error] : cases) {
    const std::string value = argument.substr(argument.find('=') + 1);
    EXPECT_EQ(Parse({argument}), "invalid argument \"" + value + "\" for " + error);
  }
  EXPECT_EQ(Parse({"--bind-address=::1", "--bind-address=", "--vmodule=a=1,b*=2", "--version=raw"}), "");
}

TEST_F(FlagsTest, Logging) {  // case 61
  EXPECT_EQ(Parse({"--logging-format=x"}), "");
  EXPECT_THAT(CheckLogFlags(flags, UpstreamFeatures()),
              ElementsAre("format: Invalid value: \"x\": Unsupported log format"));
  EXPECT_EQ(Parse({"--logging-format=json", "--log-json-split-stream"}), "");
  EXPECT_THAT(CheckLogFlags(flags, UpstreamFeatures()),
              ElementsAre("options.json.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled"));
  EXPECT_EQ(Parse({"--logging-format=text", "--log-json-split-stream=false", "--log-flush-frequency=0"}), "");
  EXPECT_THAT(CheckLogFlags(flags, UpstreamFeatures()),
              ElementsAre("flushFrequency: Invalid value: \"0s\": Must be greater than zero"));
}

// Case 12: with a file, only flags of the election count beside it.
TEST_F(FlagsTest, WithAFile) {
  EXPECT_EQ(
      Parse({"--leader-elect=false", "--leader-elect-lease-duration=2h", "--kubeconfig=foo", "--config=F"}),
      "");
  Configuration configuration = MustLoad(File("clientConnection: {kubeconfig: bar}\n"));
  ApplyFlags(flags, set, configuration);
  EXPECT_FALSE(*configuration.leader_election.leader_elect);
  EXPECT_EQ(configuration.leader_election.lease_duration, hours(2));
  EXPECT_EQ(configuration.client_connection.kubeconfig, "bar");
}

TEST_F(FlagsTest, OnlyGivenFlagsChangeAFile) {
  EXPECT_EQ(Parse({"--leader-elect-renew-deadline=5s", "--config=F"}), "");
  Configuration configuration = MustLoad(File("leaderElection: {leaseDuration: 1h}\n"));
  ApplyFlags(flags, set, configuration);
  EXPECT_EQ(configuration.leader_election.lease_duration, hours(1));
  EXPECT_EQ(configuration.leader_election.renew_deadline, seconds(5));
  EXPECT_EQ(configuration.leader_election.retry_period, seconds(2));
}

TEST_F(FlagsTest, HelpNamesEveryFlag) {
  const std::string usage = set.Usage();
  for (const FlagSet::Flag& flag : set.flags()) EXPECT_THAT(usage, HasSubstr("--" + flag.name));
  EXPECT_THAT(usage, HasSubstr("\nSecure serving flags:\n"));
  EXPECT_THAT(usage, HasSubstr("(default 10259)"));
}

}  // namespace
}  // namespace berth::config
