#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "core/fake_api.h"
#include "core/scripted_plugin.h"

// What operators see of the scheduler's work. Numbers are those of the cases of the operations chapter.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using framework::Status;
using test::FakeApi;
using test::Node;
using test::Pod;
using test::Scripts;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Evaluations(std::string_view point, std::string_view plugin) {
  return "scheduler_plugin_evaluation_total{extension_point=\"" + std::string(point) + "\",plugin=\"" +
         std::string(plugin) + "\",profile=\"default-scheduler\"} ";
}

TEST(OperationsCases, Case17AnExtenderThatMayFailIsAskedLast) {
  SchedulerOptions options;
  options.extenders = {{.url_prefix = "http://optional",
                        .filter_verb = "filter",
                        .node_cache_capable = true,
                        .ignorable = true},
                       {.url_prefix = "http://first", .filter_verb = "filter", .node_cache_capable = true},
                       {.url_prefix = "http://second", .filter_verb = "filter", .node_cache_capable = true}};
  FakeApi api(std::move(options));
  std::vector<std::size_t> asked;
  api.SetExtender([&](const cycle::ExtenderCall& call) {
    asked.push_back(call.extender);
    return cycle::ExtenderAnswer{.node_names = std::vector<std::string>{"n1"}};
  });
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Run(1s);
  EXPECT_EQ(api.node_of("web"), "n1");
  EXPECT_THAT(asked, ElementsAre(1, 2, 0));
}

TEST(OperationsCases, Case50APluginThatTakesNoPartIsNotCounted) {
  Scripts scripts;
  scripts.of["A"].pre_filter = [] { return framework::PreFilterResult{.status = Status::Skip()}; };
  FakeApi api(test::Scripted(scripts, {"PrioritySort", "A", "B", "DefaultBinder"}));
  for (const char* name : {"n1", "n2", "n3"}) api.Create(Node(name));
  api.Create(Pod("web"));
  api.Run(1s);
  ASSERT_NE(api.node_of("web"), "");
  const std::string metrics = api.metrics();
  EXPECT_THAT(metrics, HasSubstr(Evaluations("PreFilter", "B") + "1\n"));
  EXPECT_THAT(metrics, HasSubstr(Evaluations("Filter", "B")));
  EXPECT_THAT(metrics, Not(HasSubstr(Evaluations("PreFilter", "A"))));
  EXPECT_THAT(metrics, Not(HasSubstr(Evaluations("Filter", "A"))));
}

TEST(OperationsCases, Case57AVeryLongMessageIsCutInTheEventOnlyAndPercentSignsStay) {
  const std::string message = "100% of %s %d " + std::string(3000, 'x');
  Scripts scripts;
  scripts.of["A"].filter = [&](std::string_view) { return Status::Error(message); };
  FakeApi api(test::Scripted(scripts, {"PrioritySort", "A", "DefaultBinder"}));
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Settle();
  const std::string whole = "running \"A\" filter plugin: " + message;
  EXPECT_EQ(api.MessageOf("web"), whole);
  EXPECT_THAT(api.NotesFor("FailedScheduling"), ElementsAre(whole.substr(0, 1020) + " ..."));
}

// Keeps what is logged.
class KeptLog final : public base::LogSink {
 public:
  explicit KeptLog(int verbosity) : before_(base::ConfigureLogging({.verbosity = verbosity, .sink = this})) {}
  ~KeptLog() override { base::ConfigureLogging(before_); }
  KeptLog(const KeptLog&) = delete;
  KeptLog& operator=(const KeptLog&) = delete;
  void Write(base::Severity, std::string_view line) override { text += line; }

  std::string text;

 private:
  base::LogOptions before_;
};

TEST(OperationsLog, SaysWhyAPodWaitsIfAskedForMore) {
  for (const int verbosity : {0, 2}) {
    FakeApi api;
    api.Create(Node("n1"));
    api.Create(Pod("web", "2"));
    KeptLog log(verbosity);
    api.Settle();
    const auto line = HasSubstr(
        "\"Unable to schedule pod; no fit; waiting\" pod=\"default/web\" err=\"0/1 nodes are available: 1 "
        "Insufficient cpu.");
    if (verbosity == 0) {
      EXPECT_EQ(log.text, "");
    } else {
      EXPECT_THAT(log.text, line);
    }
  }
}

TEST(OperationsLog, NamesEachAttemptIfAskedForMoreStill) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  KeptLog log(3);
  api.Settle();
  EXPECT_THAT(log.text, HasSubstr("\"Attempting to schedule pod\" pod=\"default/web\""));
  EXPECT_THAT(log.text, HasSubstr("\"Successfully bound pod to node\" pod=\"default/web\" node=\"n1\""));
}

TEST(OperationsLog, SaysWhatWentWrong) {
  Scripts scripts;
  scripts.of["A"].filter = [&](std::string_view) { return Status::Error("the moon is wrong"); };
  FakeApi api(test::Scripted(scripts, {"PrioritySort", "A", "DefaultBinder"}));
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  KeptLog log(0);
  api.Settle();
  EXPECT_THAT(log.text,
              HasSubstr("\"Error scheduling pod; retrying\" err=\"running \\\"A\\\" filter plugin: the moon "
                        "is wrong\" pod=\"default/web\""));
}

TEST(OperationsLog, NamesWhoIsEvictedForWhom) {
  FakeApi api;
  api.Create(Node("n1"));
  api.Create(Pod("low", 1).Node("n1"));
  api.Create(Pod("high", 10));
  KeptLog log(2);
  api.Run(5s);
  EXPECT_THAT(log.text, HasSubstr("\"Preemptor Pod preempted victim Pod\" preemptor=\"default/high\" "
                                  "victim=\"default/low\" node=\"n1\""));
}

}  // namespace
}  // namespace berth::core
