// What deploy/ ships is used by people who did not write it: it must parse, and it must ask for things that
// exist.

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "config/check.h"
#include "config/scheduler_flags.h"
#include "core/scheduler.h"
#include "server/component_metrics.h"
#include "wire/yaml.h"

namespace berth::server {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;
using testing::IsEmpty;

const fs::path kDeploy = fs::path(BERTH_SOURCE_DIR) / "deploy";

std::string Read(const std::string& name) {
  std::ifstream file(kDeploy / name);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<json::value> Documents(const std::string& name) {
  const std::string text = Read(name);
  const auto parts = wire::SplitYaml(text);
  EXPECT_TRUE(parts.has_value()) << name;
  std::vector<json::value> documents;
  for (const wire::YamlDocument& part : *parts) {
    const auto document = wire::YamlToJson(part.text, {.unique_keys = true, .first_line = part.first_line});
    EXPECT_TRUE(document.has_value()) << name << ": " << document.error().message;
    if (document) documents.push_back(json::parse(*document));
  }
  return documents;
}

std::set<std::string> MetricsNamed(const std::string& text) {
  static const std::regex kName("(scheduler|leader_election|process|kubernetes|rest_client|berth)_[a-z_]+");
  std::set<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), kName), end; it != end; ++it) {
    std::string name = it->str();
    if (name.ends_with("_bucket")) name.resize(name.size() - std::string("_bucket").size());
    names.insert(name);
  }
  return names;
}

TEST(Deploy, BoardsAndAlertsQueryOnlyWhatExists) {
  base::VirtualClock clock;
  base::MetricRegistry metrics;
  const auto scheduler = core::Scheduler::Make({}, clock, metrics);
  ASSERT_TRUE(scheduler.has_value()) << scheduler.error().message;
  AddComponentMetrics(metrics, {}, {});
  AddElectionMetrics(metrics, {[] { return true; }, [] { return std::uint64_t{0}; }});
  AddReloadMetrics(metrics);
  for (const std::string& file : std::vector<std::string>{"alerts.yaml", "grafana-board.json"}) {
    const std::set<std::string> names = MetricsNamed(Read(file));
    EXPECT_GT(names.size(), 3u) << file;
    for (const std::string& name : names)
      EXPECT_NE(metrics.Find(name), nullptr) << file << " asks for " << name;
  }
}

TEST(Deploy, ManifestsParse) {
  EXPECT_EQ(Documents("static-pod.yaml").size(), 1u);
  EXPECT_EQ(Documents("alerts.yaml").size(), 1u);
  EXPECT_EQ(Documents("second-scheduler.yaml").size(), 8u);
  boost::system::error_code error;
  static_cast<void>(json::parse(Read("grafana-board.json"), error));
  EXPECT_FALSE(error);
}

TEST(Deploy, FlagsOfTheStaticPodAreAccepted) {
  const json::value pod = Documents("static-pod.yaml").at(0);
  const json::array& command = pod.at_pointer("/spec/containers/0/command").as_array();
  std::vector<std::string> arguments;
  for (std::size_t i = 1; i < command.size(); ++i) arguments.emplace_back(command[i].as_string());
  config::SchedulerFlags flags;
  const auto rest = config::MakeFlagSet(flags).Parse(arguments);
  ASSERT_TRUE(rest.has_value()) << rest.error().message;
  EXPECT_THAT(*rest, IsEmpty());
  EXPECT_THAT(config::CheckFlags(flags), IsEmpty());
}

TEST(Deploy, ConfigurationOfTheSecondSchedulerIsRight) {
  for (const json::value& document : Documents("second-scheduler.yaml")) {
    if (document.at("kind") != "ConfigMap") continue;
    const std::string text(document.at_pointer("/data/config.yaml").as_string());
    EXPECT_THAT(config::CheckFile(text, config::PluginCatalog::InTree(), {}), IsEmpty());
  }
}

}  // namespace
}  // namespace berth::server
