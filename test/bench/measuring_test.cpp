#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/pod_ledger.h"
#include "bench/report.h"
#include "bench/throughput.h"

// What is counted and how it is summed up, against numbers worked out by hand.
namespace berth::bench {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;

std::vector<double> SamplesOf(const std::vector<std::size_t>& counts) {
  ThroughputSamples samples;
  base::TimePoint now{};
  for (const std::size_t count : counts) samples.Tick(now += seconds(1), count);
  return samples.samples();
}

// case 36
TEST(Throughput, IdleSecondsRepeatTheNextRate) {
  const auto samples = SamplesOf({0, 5, 15, 15, 35});
  EXPECT_THAT(samples, ElementsAre(10, 10, 10));
  EXPECT_EQ(Summarize(samples).at("Average"), 10);
}

// case 37
TEST(Throughput, APodBurstWithinASecondLeavesNoSample) {
  EXPECT_THAT(SamplesOf({0, 100}), ElementsAre());
  EXPECT_THAT(SamplesOf({100, 100, 100}), ElementsAre());
  EXPECT_TRUE(Summarize({}).empty());
}

// case 38
TEST(Throughput, PercentilesAreSamples) {
  const auto summary = Summarize({10, 9, 8, 7, 6, 5, 4, 3, 2, 1});
  EXPECT_EQ(summary.at("Perc50"), 5);
  EXPECT_EQ(summary.at("Perc90"), 9);
  EXPECT_EQ(summary.at("Perc95"), 10);
  EXPECT_EQ(summary.at("Perc99"), 10);
  EXPECT_EQ(summary.at("Average"), 5.5);
  for (const auto& [bucket, value] : Summarize({7})) EXPECT_EQ(value, 7) << bucket;
}

// case 39
TEST(PodLedger, APodCountsOnceHoweverOftenItChanges) {
  base::VirtualClock clock;
  PodLedger ledger(clock);
  int heard = 0;
  ledger.AddListener([&](std::string_view, std::string_view, const PodLedger::Entry&) { ++heard; });
  const api::StringMap red{{"color", "red"}};
  const auto see = [&](std::string_view name, bool bound, bool gone = false) {
    ledger.OnPod({.namespace_name = "a", .name = name, .labels = red, .is_gone = gone, .is_bound = bound});
  };
  see("one", false);
  clock.Advance(seconds(2));
  see("one", true);
  see("one", true);
  see("two", true);
  see("three", false);
  EXPECT_EQ(heard, 2);
  EXPECT_EQ(ledger.CountBound("a", {}), 2);
  EXPECT_EQ(ledger.CountBound("a", {{"color", "red"}}), 2);
  EXPECT_EQ(ledger.CountBound("a", {{"color", "blue"}}), 0);
  EXPECT_EQ(ledger.CountBound("b", {}), 0);
  EXPECT_EQ(*ledger.pods("a").at("one").bound - ledger.pods("a").at("one").created, seconds(2));
  EXPECT_EQ(ledger.CountGone("a"), 0);
  see("one", true, /*gone=*/true);
  see("three", false, /*gone=*/true);
  EXPECT_EQ(ledger.CountBound("a", {}), 1);
  EXPECT_EQ(ledger.CountGone("a"), 2);
  EXPECT_EQ(ledger.CountGone("b"), 0);
}

WorkloadReport ReportOf(std::vector<DataItem> items) {
  WorkloadReport report;
  report.test_case = "Case";
  report.workload = "W";
  report.items = std::move(items);
  return report;
}

// case 42
TEST(Report, EveryItemHasEveryLabel) {
  const std::vector<WorkloadReport> reports = {
      ReportOf({{.data = {{"Average", 1e6}, {"Perc50", 2.5}}, .unit = "pods/s", .labels = {{"Metric", "m"}}},
                {.data = {}, .unit = "", .labels = {{"Name", "a&b"}}}})};
  EXPECT_EQ(DataItemsJson(reports), R"({
  "version": "v1",
  "dataItems": [
    {
      "data": {
        "Average": 1e+06,
        "Perc50": 2.5
      },
      "unit": "pods/s",
      "labels": {
        "Metric": "m",
        "Name": "not applicable"
      }
    },
    {
      "data": null,
      "unit": "",
      "labels": {
        "Metric": "not applicable",
        "Name": "a\u0026b"
      }
    }
  ]
}
)");
  EXPECT_EQ(DataItemsFileName("misc", "2026-01-02T03:04:05Z"),
            "BenchmarkPerfScheduling_benchmark_misc_2026-01-02T03:04:05Z.json");
}

TEST(Report, AttemptsPerPodAreInTableAndCsv) {
  WorkloadReport report = ReportOf({});
  Measurement& measured = report.measurements.emplace_back();
  measured.pods = 4;
  measured.attempts_per_pod = 2.25;
  EXPECT_THAT(TableText({&report, 1}), testing::ContainsRegex("attempts/pod"));
  EXPECT_THAT(TableText({&report, 1}), testing::ContainsRegex("Case/W +4 .* 2\\.25 "));
  const std::string csv = CsvText({&report, 1});
  EXPECT_THAT(csv, testing::HasSubstr(",round,attempts per pod\n"));
  EXPECT_THAT(csv, testing::EndsWith(",1,2.250\n"));
}

TEST(Report, SaysWhatDidNotRun) {
  WorkloadReport report = ReportOf({});
  report.outcome = Outcome::kNotSupported;
  report.reasons = {"plugin A", "plugin \"B\""};
  EXPECT_THAT(TableText({&report, 1}), testing::HasSubstr("not supported: Case/W: plugin A; plugin \"B\"\n"));
  EXPECT_THAT(CsvText({&report, 1}),
              testing::HasSubstr("Case,W,not supported,\"plugin A; plugin \"\"B\"\"\",,"));
}

}  // namespace
}  // namespace berth::bench
