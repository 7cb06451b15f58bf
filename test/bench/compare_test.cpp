#include "bench/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/html_report.h"
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
  // Fifteen pods in the first half second.
  EXPECT_THAT(page, HasSubstr("30/s"));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  for (const char* const outside : {"http://", "https://", "src=", "<link", "<script", "@import", "url("}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

}  // namespace
}  // namespace berth::bench
