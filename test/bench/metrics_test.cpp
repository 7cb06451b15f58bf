#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/metrics_page.h"
#include "bench/process_stats.h"

namespace berth::bench {
namespace {

using testing::ElementsAre;
using testing::Key;
using testing::Pair;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// case 40
TEST(Histogram, QuantilesLieInsideTheirBucket) {
  const Histogram histogram{.cumulative = {{1, 4}, {2, 8}, {kInfinity, 10}}, .sum = 12, .count = 10};
  EXPECT_DOUBLE_EQ(*histogram.Quantile(0.5), 1.25);
  EXPECT_DOUBLE_EQ(*histogram.Quantile(0.1), 0.25);
  EXPECT_DOUBLE_EQ(*histogram.Quantile(0.99), 2);
  EXPECT_FALSE(Histogram().Quantile(0.5).has_value());
}

TEST(Histogram, WhatCameSinceIsADifference) {
  const Histogram before{.cumulative = {{1, 4}, {2, 4}, {kInfinity, 4}}, .sum = 2, .count = 4};
  const Histogram now{.cumulative = {{1, 4}, {2, 6}, {kInfinity, 6}}, .sum = 5, .count = 6};
  const Histogram since = now.Since(before);
  EXPECT_EQ(since.count, 2);
  EXPECT_EQ(since.sum, 3);
  // Both new ones are in the second bucket.
  EXPECT_DOUBLE_EQ(*since.Quantile(0.5), 1.5);
}

constexpr const char* kPage = R"(# HELP scheduler_scheduling_attempt_duration_seconds how long
# TYPE scheduler_scheduling_attempt_duration_seconds histogram
scheduler_scheduling_attempt_duration_seconds_bucket{profile="a",result="scheduled",le="0.001"} 4
scheduler_scheduling_attempt_duration_seconds_bucket{profile="a",result="scheduled",le="+Inf"} 4
scheduler_scheduling_attempt_duration_seconds_sum{profile="a",result="scheduled"} 0.002
scheduler_scheduling_attempt_duration_seconds_count{profile="a",result="scheduled"} 4
scheduler_scheduling_attempt_duration_seconds_bucket{profile="b",result="scheduled",le="0.001"} 4
scheduler_scheduling_attempt_duration_seconds_bucket{profile="b",result="scheduled",le="+Inf"} 4
scheduler_scheduling_attempt_duration_seconds_sum{profile="b",result="scheduled"} 0.002
scheduler_scheduling_attempt_duration_seconds_count{profile="b",result="scheduled"} 4
scheduler_scheduling_attempt_duration_seconds_sum{profile="a",result="error"} 0
scheduler_scheduling_attempt_duration_seconds_count{profile="a",result="error"} 0
scheduler_queue_incoming_pods_total{event="A \"b\" \\ c",queue="active"} 3
scheduler_queue_incoming_pods_total{event="x",queue="active"} 4 1700000000
torn{event="x
also torn
process_cpu_seconds_total 1.5e-1
)";

TEST(MetricsPage, ReadsWhatItCan) {
  const MetricsPage page = MetricsPage::Parse(kPage);
  EXPECT_DOUBLE_EQ(page.Sum("process_cpu_seconds_total"), 0.15);
  EXPECT_DOUBLE_EQ(page.Sum("scheduler_queue_incoming_pods_total"), 7);
  EXPECT_EQ(page.Sum("torn"), 0);
  EXPECT_TRUE(MetricsPage::Parse("").empty());
  EXPECT_TRUE(MetricsPage::Parse("<html>not found</html>").empty());
}

// case 41
TEST(MetricsPage, SeriesAreSummedAndEmptyOnesDropped) {
  const std::vector<DataItem> items = HistogramItems(MetricsPage::Parse(kPage), "path");
  ASSERT_EQ(items.size(), 1);
  EXPECT_THAT(items[0].labels, ElementsAre(Pair("Metric", "scheduler_scheduling_attempt_duration_seconds"),
                                           Pair("Name", "path"), Pair("result", "scheduled")));
  EXPECT_THAT(items[0].data,
              ElementsAre(Key("Average"), Key("Perc50"), Key("Perc90"), Key("Perc95"), Key("Perc99")));
  EXPECT_DOUBLE_EQ(items[0].data.at("Average"), 0.5);
  EXPECT_DOUBLE_EQ(items[0].data.at("Perc50"), 0.5);
  EXPECT_EQ(items[0].unit, "ms");
}

TEST(ProcessStats, KnowThisProcess) {
  const base::Duration before = ProcessorTimeOf(::getpid());
  EXPECT_GT(before.count(), 0);
  volatile double sum = 0;
  while (ProcessorTimeOf(::getpid()) - before < std::chrono::milliseconds(1)) sum = sum + 1;
  EXPECT_GT(PeakMemoryOf(::getpid()), 1 << 20);
  EXPECT_GE(ProcessorTimeOfGroup(::getpgrp()).count(), 0);
  const MachineTime machine = ReadMachineTime();
  EXPECT_GT(machine.busy.count(), 0);
  EXPECT_GT(machine.total, machine.busy);
  // More than Linux ever has.
  constexpr pid_t kNobody = 5'000'000;
  EXPECT_EQ(ProcessorTimeOf(kNobody).count(), 0);
  EXPECT_EQ(PeakMemoryOf(kNobody), 0);
}

}  // namespace
}  // namespace berth::bench
