#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

#include "cli/conformance/command.h"

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> RecordedFiles() {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(fs::path(BERTH_TEST_DIR) / "conformance")) {
    if (entry.path().string().ends_with(".jsonl.gz")) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

// berth decides as kube-scheduler does: every recorded answer is berth's answer.
class RecordedCases : public testing::TestWithParam<std::string> {};

TEST_P(RecordedCases, AllPass) {
  std::ostringstream out;
  const std::string files[] = {GetParam()};
  const ConformanceCount count = RunConformance(files, {.failures_shown_max = 20}, out);
  EXPECT_EQ(count.failed, 0u) << out.str();
  EXPECT_GT(count.passed, 0u);
}

INSTANTIATE_TEST_SUITE_P(Conformance, RecordedCases, testing::ValuesIn(RecordedFiles()),
                         [](const auto& test) {
                           std::string name = fs::path(test.param).stem().stem().string();
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

class ConformanceCommand : public testing::Test {
 protected:
  std::string Write(std::string_view text) {
    const fs::path path = fs::path(testing::TempDir()) / "conformance-command.jsonl";
    std::ofstream(path) << text;
    return path.string();
  }
  ConformanceCount Run(const std::string& file) {
    const std::string files[] = {file};
    return RunConformance(files, options, out);
  }

  ConformanceOptions options;
  std::ostringstream out;
};

// The last other pod that meets the terms of a waiting one goes.
std::string LastOneGoes(std::string_view own_labels, std::string_view result) {
  return fmt::format(
      R"({{"type":"hint","plugin":"InterPodAffinity","setup":"default","featureGates":{{}},)"
      R"("event":{{"resource":"AssignedPod","actionType":["Add","Delete","UpdatePodLabel"],"label":"AssignedPod"}},)"
      R"("action":"Delete","pod":{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"p","namespace":"d","uid":"p",)"
      R"("labels":{}}},"spec":{{"containers":[{{"name":"c"}}],"affinity":{{"podAffinity":)"
      R"({{"requiredDuringSchedulingIgnoredDuringExecution":[{{"labelSelector":{{"matchLabels":{{"app":"web"}}}},)"
      R"("topologyKey":"zone"}}]}}}}}}}},"oldObj":{{"kind":"Pod","apiVersion":"v1","metadata":{{"name":"q",)"
      R"("namespace":"d","uid":"q","labels":{{"app":"web"}}}},"spec":{{"containers":[{{"name":"c"}}],"nodeName":"n"}}}},)"
      R"("newObj":null,"objects":[],"result":"{}"}})"
      "\n",
      own_labels, result);
}

// What docs/differences.md says of pods that meet their own affinity terms is berth's rule, and held to it.
TEST_F(ConformanceCommand, AnswersThatDifferOnPurposeAreHeldToTheirOwnRule) {
  EXPECT_EQ(Run(Write(LastOneGoes(R"({"app":"web"})", "QueueSkip"))).failed, 0u) << out.str();
  EXPECT_EQ(Run(Write(LastOneGoes(R"({"app":"db"})", "QueueSkip"))).failed, 0u) << out.str();
  EXPECT_EQ(Run(Write(LastOneGoes(R"({"app":"db"})", "Queue"))).failed, 1u);
}

// The runner is what says that berth is right, so it has to be able to say that it is wrong.
TEST_F(ConformanceCommand, WrongExpectationIsADifference) {
  const auto file = Write(R"({"op":"cmp","a":"1","b":"2","cmp":1,"equal":false})"
                          "\n"
                          R"({"op":"cmp","a":"1","b":"2","cmp":-1,"equal":false})"
                          "\n");
  const auto count = Run(file);
  EXPECT_EQ(count.failed, 1u);
  EXPECT_EQ(count.passed, 1u);
  EXPECT_NE(out.str().find(file + ":1: "), std::string::npos) << out.str();
  EXPECT_TRUE(out.str().ends_with("1 passed, 1 failed\n")) << out.str();
}

TEST_F(ConformanceCommand, GarbageUnknownKindsAndEmptyFilesFail) {
  EXPECT_EQ(Run(Write("{\"op\":")).failed, 1u);
  EXPECT_EQ(Run(Write("{\"what\":1}\n[]\n")).failed, 2u);
  EXPECT_EQ(Run(Write("\n\n")).failed, 1u);
  EXPECT_EQ(Run("/nonexistent/file.jsonl").failed, 1u);
  EXPECT_NE(out.str().find("/nonexistent/file.jsonl: No such file or directory"), std::string::npos)
      << out.str();
}

TEST_F(ConformanceCommand, ShowsAtMostTheNumberAskedForAndCountsAll) {
  options.failures_shown_max = 2;
  EXPECT_EQ(Run(Write("{}\n{}\n{}\n{}\n{}\n")).failed, 5u);
  EXPECT_NE(out.str().find("3 further failures not shown"), std::string::npos) << out.str();
}

}  // namespace
}  // namespace berth::cli
