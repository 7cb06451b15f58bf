#include "bench/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/html_report.h"
#include "bench/markdown_report.h"
#include "bench/report.h"
#include "bench/versus.h"

// Two sides against each other, with numbers worked out by hand.
namespace berth::bench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

DataItem ItemOf(const std::string& workload, const char* metric, const char* bucket, double value) {
  return {.data = {{bucket, value}},
          .unit = "",
          .labels = {{"Metric", metric}, {"Name", "BenchmarkPerfScheduling/" + workload}}};
}
DataItem CpuOf(const std::string& workload, double value) {
  return ItemOf(workload, kProcessorTimeMetric, "PerPod", value);
}

TEST(Turns, SidesChangePlaces) {
  EXPECT_THAT(TurnsOf(3),
              ElementsAre(Turn{0, 0}, Turn{0, 1}, Turn{1, 1}, Turn{1, 0}, Turn{2, 0}, Turn{2, 1}));
  EXPECT_TRUE(TurnsOf(0).empty());
}

TEST(Median, IsTheMiddle) {
  EXPECT_EQ(Median({3, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(Median({7}), 7);
}

TEST(Compare, RatiosAreOfPairsAndNotOfAverages) {
  // The machine was slower in the third round for both: that leaves the ratios alone.
  const std::vector<DataItem> ours = {CpuOf("c/w/n", 10), CpuOf("c/w/n", 20), CpuOf("c/w/n", 100)};
  const std::vector<DataItem> theirs = {CpuOf("c/w/n", 300), CpuOf("c/w/n", 400), CpuOf("c/w/n", 2500)};
  const auto compared = CompareItems(ours, theirs);
  ASSERT_EQ(compared.size(), 1);
  EXPECT_EQ(compared[0].name, "c/w/n");
  ASSERT_EQ(compared[0].rows.size(), 1);
  const auto ratio = compared[0].rows[0].RatioOfPairs();
  ASSERT_TRUE(ratio.has_value());
  EXPECT_DOUBLE_EQ(ratio->median, 25);
  EXPECT_DOUBLE_EQ(ratio->least, 20);
  EXPECT_DOUBLE_EQ(ratio->most, 30);
  EXPECT_EQ(ratio->pairs, 3);
}

TEST(Compare, MoreIsBetterForRatesAndWorseForCosts) {
  const auto rates = CompareItems(std::vector{ItemOf("w", kExactThroughputMetric, "Average", 200)},
                                  std::vector{ItemOf("w", kExactThroughputMetric, "Average", 100)});
  EXPECT_DOUBLE_EQ(rates.at(0).rows.at(0).RatioOfPairs()->median, 2);
  const auto memory = CompareItems(std::vector{ItemOf("w", kPeakMemoryMetric, "Max", 200)},
                                   std::vector{ItemOf("w", kPeakMemoryMetric, "Max", 100)});
  EXPECT_DOUBLE_EQ(memory.at(0).rows.at(0).RatioOfPairs()->median, 0.5);
}

// How often each side tried explains what it used. Fewer attempts are no merit: they may be pods that waited.
TEST(Compare, AttemptsAreShownAndNotJudged) {
  const auto compared = CompareItems(std::vector{ItemOf("w", kAttemptsMetric, "PerPod", 12.5)},
                                     std::vector{ItemOf("w", kAttemptsMetric, "PerPod", 2)});
  ASSERT_EQ(compared.size(), 1);
  EXPECT_FALSE(compared[0].rows.at(0).RatioOfPairs().has_value());
  const SideNames names = {"ours", "theirs"};
  EXPECT_THAT(CompareDetails(names, compared), testing::ContainsRegex("attempts per pod +12.50 +2.00 +-"));
  EXPECT_THAT(CompareCsv(names, compared),
              HasSubstr("w,attempts per pod,12.5000,2.0000,,,,0,12.5000,2.0000\n"));
  EXPECT_THAT(ComparisonHtml({.names = names, .conditions = {}, .workloads = compared, .curves = {}}),
              HasSubstr("<td>attempts per pod</td><td>12.50</td><td>2.00</td><td>-</td>"));
}

TEST(Compare, WhatOneSideLacksHasNoRatio) {
  const std::vector<DataItem> ours = {CpuOf("a", 10), ItemOf("a", kAttemptMetric, "Perc99", 1),
                                      CpuOf("b", 1)};
  const std::vector<DataItem> theirs = {CpuOf("a", 0), CpuOf("c", 1)};
  const auto compared = CompareItems(ours, theirs);
  ASSERT_EQ(compared.size(), 1);
  for (const ComparedRow& row : compared[0].rows) EXPECT_FALSE(row.RatioOfPairs().has_value());
  EXPECT_THAT(CompareCsv({"x", "y"}, compared), HasSubstr("a,\"attempt p99, ms\",1.0000,-,,,,0,1.0000,\n"));
}

TEST(Compare, TheTableHasMediansRatiosAndTheirMean) {
  const std::vector<DataItem> ours = {CpuOf("fast", 10), CpuOf("fast", 10), CpuOf("slow", 100)};
  const std::vector<DataItem> theirs = {CpuOf("fast", 200), CpuOf("fast", 400), CpuOf("slow", 270)};
  const std::string table = CompareTable({"ours", "theirs"}, CompareItems(ours, theirs));
  EXPECT_THAT(table, HasSubstr("CPU us/pod: ours"));
  EXPECT_THAT(table, testing::ContainsRegex("fast +10.0 +300.0 +30.0 \\(20.0-40.0\\)"));
  EXPECT_THAT(table, testing::ContainsRegex("slow +100.0 +270.0 +2.7"));
  // The square root of 30 times 2.7.
  EXPECT_THAT(table, testing::ContainsRegex("geometric mean +9.0"));
}

TEST(Compare, AFileReadsBackAsItWasWritten) {
  WorkloadReport report;
  report.items = {CpuOf("w", 12.5),
                  ItemOf("w", kThroughputMetric, "Average", 1e6),
                  {.data = {}, .unit = "", .labels = {{"Name", "x"}}}};
  const auto items = ParseDataItems(DataItemsJson({&report, 1}), "f");
  ASSERT_TRUE(items.has_value()) << items.error().message;
  ASSERT_EQ(items->size(), 3);
  EXPECT_EQ((*items)[0].data.at("PerPod"), 12.5);
  EXPECT_EQ((*items)[1].data.at("Average"), 1e6);
  EXPECT_EQ((*items)[1].labels.at("Metric"), kThroughputMetric);
  EXPECT_TRUE((*items)[2].data.empty());
}

TEST(Compare, ABadFileIsNamedWithThePlace) {
  EXPECT_THAT(ParseDataItems("{", "a.json").error().message, testing::StartsWith("a.json: "));
  EXPECT_EQ(ParseDataItems("[]", "a.json").error().message, "a.json: there are no dataItems in it");
  EXPECT_EQ(ParseDataItems(R"({"dataItems": [{}, 3]})", "a.json").error().message,
            "a.json: dataItems[1]: is no object");
  EXPECT_EQ(ParseDataItems(R"({"dataItems": [{"data": {"Average": "x"}}]})", "a.json").error().message,
            "a.json: dataItems[0]: data.Average is wrong");
}

WorkloadReport RunOf(Outcome outcome, double cpu) {
  WorkloadReport report;
  report.outcome = outcome;
  report.items = {CpuOf("w", cpu)};
  if (outcome == Outcome::kFailed) report.reasons = {"op 1: no"};
  return report;
}

TEST(Versus, OnlyRoundsThatBothPassedArePairs) {
  VersusWorkload workload{.name = "w", .missing = {}, .runs = {}};
  workload.runs[0] = {RunOf(Outcome::kPassed, 1), RunOf(Outcome::kPassed, 2), RunOf(Outcome::kPassed, 3)};
  workload.runs[1] = {RunOf(Outcome::kPassed, 10), RunOf(Outcome::kFailed, 1000)};
  const auto compared = CompareRuns({workload});
  ASSERT_EQ(compared.size(), 1);
  EXPECT_THAT(compared[0].rows[0].values[0], ElementsAre(1));
  EXPECT_THAT(compared[0].rows[0].values[1], ElementsAre(10));
  EXPECT_THAT(workload.Failures({"x", "y"}), ElementsAre("y, round 2: op 1: no"));
}

TEST(Versus, AnInterruptedComparisonKeepsItsPairs) {
  const auto file = ParseWorkloadFile("performance-config.yaml", R"(
- name: Case
  workloadTemplate: [{opcode: createPods, count: 0, collectMetrics: true}]
  workloads: [{name: first}, {name: second}, {name: third}]
)");
  ASSERT_TRUE(file.has_value()) << file.error().message;
  int runs = 0;
  VersusOptions options;
  options.labels = LabelFilter("");
  options.rounds = 2;
  // In the first run of the second workload.
  options.run.is_interrupted = [&] { return runs >= 5; };
  options.on_start = [&](const std::string&, const std::string&, const std::string&) { ++runs; };
  options.on_end = [](const WorkloadReport&) {};
  const auto results =
      RunVersus(*file, {Contender{"a", MakeCoreCluster}, Contender{"b", MakeCoreCluster}}, options);
  ASSERT_EQ(results.size(), 2);
  EXPECT_EQ(results[0].runs[0].size(), 2);
  EXPECT_EQ(results[0].runs[1].size(), 2);
  EXPECT_TRUE(results[0].Failures({"a", "b"}).empty());
  EXPECT_EQ(results[1].runs[0].size(), 1);
  EXPECT_TRUE(results[1].runs[1].empty());
  EXPECT_THAT(results[1].Failures({"a", "b"}),
              ElementsAre(HasSubstr("a, round 1: performance-config.yaml: Case: "
                                    "workload \"second\": ")));
}

TEST(Html, NeedsNothingFromElsewhereAndEscapes) {
  const std::vector<DataItem> ours = {CpuOf("a<b>", 10), CpuOf("worse", 10)};
  const std::vector<DataItem> theirs = {CpuOf("a<b>", 400), CpuOf("worse", 5)};
  const auto compared = CompareItems(ours, theirs);
  const std::vector<RateCurve> curves = {{"worse", 0, {1, 2, 3, 4, 5, 6}}, {"worse", 1, {1}}};
  const std::vector<std::string> notes = {"failed: z & y"};
  const std::string page = ComparisonHtml({.names = {"ours", "theirs"},
                                           .conditions = {{"machine", "\"two\" cores"}},
                                           .workloads = compared,
                                           .curves = curves,
                                           .notes = notes});
  EXPECT_THAT(page, HasSubstr("a&lt;b&gt;"));
  EXPECT_THAT(page, HasSubstr("&quot;two&quot; cores"));
  EXPECT_THAT(page, HasSubstr("<li>failed: z &amp; y</li>"));
  EXPECT_THAT(page, HasSubstr("<rect class='loss'"));
  EXPECT_THAT(page, HasSubstr("<td>40.00</td>"));
  // The sixth tenth of a second had six.
  EXPECT_THAT(page, HasSubstr("60/s"));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  for (const char* const outside : {"http://", "https://", "src=", "<link", "<script", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST(Html, OfOneSchedulerHasItsRuns) {
  const auto workloads = WorkloadsOf(std::vector{CpuOf("a/w/n", 10), CpuOf("a/w/n", 30), CpuOf("a/w/n", 20)});
  ASSERT_EQ(workloads.size(), 1);
  const std::vector<RateCurve> curves = {{"a/w/n", 0, {10, 20}}};
  const std::string page =
      ComparisonHtml({.names = {"ours", ""}, .conditions = {}, .workloads = workloads, .curves = curves});
  EXPECT_THAT(page, HasSubstr("<h1>ours</h1>"));
  EXPECT_THAT(page, HasSubstr("<td>CPU us per pod</td><td>20.00</td><td>10.00</td><td>30.00</td><td>3</td>"));
  EXPECT_THAT(page, HasSubstr("<rect class='bar'"));
  EXPECT_THAT(page, HasSubstr("<polyline class='a'"));
  EXPECT_THAT(page, Not(HasSubstr("times")));
}

TEST(Html, WithoutAnythingComparedSaysWhatFailed) {
  const std::vector<std::string> notes = {"failed: all"};
  const std::string page = ComparisonHtml(
      {.names = {"ours", "theirs"}, .conditions = {}, .workloads = {}, .curves = {}, .notes = notes});
  EXPECT_THAT(page, Not(HasSubstr("<svg")));
  EXPECT_THAT(page, HasSubstr("<li>failed: all</li>"));
}

TEST(Charts, AShortRunIsALineAndALongOneIsByTheHalfSecond) {
  const std::vector<RateCurve> brief = {{"w", 0, {200}}};
  EXPECT_THAT(CurveChart(brief, "w"), HasSubstr("points='60.0,16.0 810.0,16.0 '"));
  const std::vector<RateCurve> whole = {{"w", 1, std::vector<std::uint32_t>(22, 10)}};
  EXPECT_THAT(CurveChart(whole, "w"), HasSubstr(">100/s<")) << "the last fifth has two tenths only";
  EXPECT_EQ(CurveChart(whole, "other"), "");
}

TEST(Charts, LongNamesLoseTheirMiddleAndKeepTheirWidth) {
  const std::string name = "Begin" + std::string(100, 'x') + "End";
  const std::string chart = BarChart(std::vector{Bar{name, 20, 10, 30}, Bar{"loss", 0.5, 0.5, 0.5}}, 1, "l");
  EXPECT_THAT(chart, HasSubstr("<title>" + name + "</title>"));
  EXPECT_THAT(chart, HasSubstr("x…x"));
  EXPECT_THAT(chart, HasSubstr("End</text>"));
  EXPECT_THAT(chart, HasSubstr("class='loss'"));
  // From a tenth to a hundred.
  EXPECT_THAT(chart, HasSubstr(">0.1</text>"));
  EXPECT_THAT(chart, HasSubstr(">100</text>"));
}

TEST(Compare, DetailsHaveEveryQuantity) {
  const std::vector<DataItem> ours = {CpuOf("w", 10), ItemOf("w", kAttemptMetric, "Perc95", 1),
                                      ItemOf("w", kThroughputMetric, "Perc50", 300)};
  const std::vector<DataItem> theirs = {CpuOf("w", 40), ItemOf("w", kAttemptMetric, "Perc95", 3),
                                        ItemOf("w", kThroughputMetric, "Perc50", 100)};
  const std::string text = CompareDetails({"ours", "theirs"}, CompareItems(ours, theirs));
  EXPECT_THAT(text, testing::ContainsRegex("w +CPU us per pod +10.00 +40.00 +4.0"));
  EXPECT_THAT(text, testing::ContainsRegex("pods/s sampled, p50 +300.00 +100.00 +3.0"));
  EXPECT_THAT(text, testing::ContainsRegex("attempt p95, ms +1.00 +3.00 +3.0"));
}

TEST(Markdown, IsTheWholeTableWithHowItWasMeasured) {
  const std::vector<DataItem> ours = {CpuOf("fast/w/namespace-1", 55.26),
                                      CpuOf("fast/w/namespace-1", 50),
                                      ItemOf("fast/w/namespace-1", kExactThroughputMetric, "Average", 5117),
                                      ItemOf("fast/w/namespace-1", kAttemptMetric, "Perc99", 0.125),
                                      ItemOf("fast/w/namespace-1", kAttemptsMetric, "PerPod", 1234.5),
                                      ItemOf("fast/w/namespace-1", kPeakMemoryMetric, "Max", 200),
                                      CpuOf("slow/w|x/namespace-1", 100)};
  const std::vector<DataItem> theirs = {CpuOf("fast/w/namespace-1", 5526),
                                        CpuOf("fast/w/namespace-1", 1234567),
                                        ItemOf("fast/w/namespace-1", kExactThroughputMetric, "Average", 473),
                                        ItemOf("fast/w/namespace-1", kAttemptsMetric, "PerPod", 1),
                                        ItemOf("fast/w/namespace-1", kPeakMemoryMetric, "Max", 100),
                                        CpuOf("slow/w|x/namespace-1", 100)};
  const auto compared = CompareItems(ours, theirs);
  const std::vector<std::string> notes = {"failed: z: open /some/folder/a/b.yaml: no"};
  EXPECT_EQ(ComparisonMarkdown({.names = {"ours", "theirs"},
                                .command = "berth bench versus --peer=/opt/bin/theirs --name '^x$'",
                                .conditions = {{"date", "2026-11-18"}, {"ours", "1.0, /usr/local/bin/ours"}},
                                .workloads = compared,
                                .notes = notes}),
            "`berth bench versus --peer=.../bin/theirs --name '^x$'`\n\n"
            "date: 2026-11-18; ours: 1.0, .../bin/ours.\n\n"
            "| workload | CPU us/pod | theirs | times less | attempts/pod | theirs | pods/s | theirs "
            "| attempt p99, ms | theirs | peak MiB | theirs | times less |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
            "| fast/w | 52.6 | 620,046 | 12395.7 (100.0-24691.3) | 1,234 | 1.00 | 5,117 | 473 | 0.12 | – | "
            "200 | 100 "
            "| 0.50 |\n"
            "| slow/w\\|x | 100 | 100 | 1.0 | – | – | – | – | – | – | – | – | – |\n"
            "| geometric mean |  |  | 111.3 |  |  |  |  |  |  |  |  | 0.50 |\n"
            "\n- failed: z: open .../a/b.yaml: no\n");
}

TEST(Markdown, NamesKeepTheirCollectionWhereAWorkloadHasSeveral) {
  const std::vector<DataItem> items = {CpuOf("c/w/first", 1), CpuOf("c/w/second", 1), CpuOf("c/v/first", 1)};
  EXPECT_THAT(ShortNames(CompareItems(items, items)), ElementsAre("c/w/first", "c/w/second", "c/v"));
}

TEST(Markdown, OnlyAbsolutePathsAreCut) {
  EXPECT_EQ(WithoutFolders("a/b/c ./a/b/c /b/c /a http://x/y/z/w --f=/1/2/3.yaml,/1/2/3/"),
            "a/b/c ./a/b/c /b/c /a http://x/y/z/w --f=.../2/3.yaml,.../3/");
}

}  // namespace
}  // namespace berth::bench
