#include "base/metrics.h"

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace berth::base {
namespace {

TEST(ExponentialBuckets, MultipliesStepByStep) {
  EXPECT_EQ(ExponentialBuckets(1, 2, 5), (std::vector<double>{1, 2, 4, 8, 16}));
  EXPECT_EQ(ExponentialBuckets(0.1, 3, 3), (std::vector<double>{0.1, 0.1 * 3, 0.1 * 3 * 3}));
}

TEST(MetricRegistry, ShowsFamiliesByNameAndSeriesByLabelValues) {
  MetricRegistry registry;
  CounterFamily& attempts = registry.AddCounters({.name = "scheduler_schedule_attempts_total",
                                                  .help = "Number of attempts",
                                                  .stability = Stability::kStable,
                                                  .labels = {"result", "profile"}});
  Gauge& size = registry.AddGauge({.name = "cache_size", .help = "Size", .stability = Stability::kBeta});
  attempts.With({"unschedulable", "a"})->Add(2);
  attempts.With({"error", "b"})->Increment();
  attempts.With({"scheduled", "a"})->Add(1'000'000);
  size.Set(1.5);
  // Labels by name, so the series go by profile first.
  EXPECT_EQ(registry.Text(),
            "# HELP cache_size [BETA] Size\n"
            "# TYPE cache_size gauge\n"
            "cache_size 1.5\n"
            "# HELP scheduler_schedule_attempts_total [STABLE] Number of attempts\n"
            "# TYPE scheduler_schedule_attempts_total counter\n"
            "scheduler_schedule_attempts_total{profile=\"a\",result=\"scheduled\"} 1e+06\n"
            "scheduler_schedule_attempts_total{profile=\"a\",result=\"unschedulable\"} 2\n"
            "scheduler_schedule_attempts_total{profile=\"b\",result=\"error\"} 1\n");
}

TEST(MetricRegistry, HistogramShowsCumulativeBuckets) {
  MetricRegistry registry;
  HistogramFamily& durations = registry.AddHistograms({.name = "duration_seconds",
                                                       .help = "Time",
                                                       .labels = {"result"},
                                                       .buckets = ExponentialBuckets(0.001, 10, 3)});
  const std::shared_ptr<Histogram> ok = durations.With({"ok"});
  for (const double value : {0.0005, 0.001, 0.05, 7.0}) ok->Observe(value);
  EXPECT_EQ(registry.Text(),
            "# HELP duration_seconds [ALPHA] Time\n"
            "# TYPE duration_seconds histogram\n"
            "duration_seconds_bucket{result=\"ok\",le=\"0.001\"} 2\n"
            "duration_seconds_bucket{result=\"ok\",le=\"0.01\"} 2\n"
            "duration_seconds_bucket{result=\"ok\",le=\"0.1\"} 3\n"
            "duration_seconds_bucket{result=\"ok\",le=\"+Inf\"} 4\n"
            "duration_seconds_sum{result=\"ok\"} 7.0515\n"
            "duration_seconds_count{result=\"ok\"} 4\n");
  EXPECT_EQ(ok->Count(), 4U);
}

// As in kube-scheduler: a vector shows nothing until somebody asks for a series, a single metric shows zero.
TEST(MetricRegistry, OnlyMetricsWithoutLabelsShowFromTheStart) {
  MetricRegistry registry;
  registry.AddCounters({.name = "vector_total", .help = "V", .labels = {"a"}});
  registry.AddHistogram({.name = "victims", .help = "H", .buckets = {1}});
  EXPECT_EQ(registry.Text(),
            "# HELP victims [ALPHA] H\n"
            "# TYPE victims histogram\n"
            "victims_bucket{le=\"1\"} 0\n"
            "victims_bucket{le=\"+Inf\"} 0\n"
            "victims_sum 0\n"
            "victims_count 0\n");
}

TEST(MetricRegistry, EscapesHelpAndLabelValues) {
  MetricRegistry registry;
  registry.AddGauges({.name = "g", .help = "a\\b\n\"c\"", .stability = std::nullopt, .labels = {"l"}})
      .With({"x\\y\n\"z\""})
      ->Set(1);
  EXPECT_EQ(registry.Text(),
            "# HELP g a\\\\b\\n\"c\"\n"
            "# TYPE g gauge\n"
            "g{l=\"x\\\\y\\n\\\"z\\\"\"} 1\n");
}

TEST(MetricRegistry, DeprecationIsPartOfTheHelp) {
  MetricRegistry registry;
  registry.AddCounter({.name = "c_total", .help = "Old", .deprecated_since = "1.37.0"});
  EXPECT_EQ(registry.Text(),
            "# HELP c_total [ALPHA] (Deprecated since 1.37.0) Old\n# TYPE c_total counter\nc_total 0\n");
}

TEST(MetricRegistry, HiddenMetricCountsButIsNotShown) {
  MetricRegistry registry;
  Counter& counter = registry.AddCounter({.name = "c_total", .help = "C"});
  EXPECT_TRUE(registry.Hide("c_total"));
  EXPECT_FALSE(registry.Hide("unknown"));
  counter.Increment();
  EXPECT_EQ(counter.Value(), 1);
  EXPECT_EQ(registry.Text(), "");
}

TEST(MetricRegistry, ValuesOutsideTheAllowListAreUnexpected) {
  MetricRegistry registry;
  CounterFamily& family = registry.AddCounters({.name = "c_total", .help = "C", .labels = {"b", "a"}});
  EXPECT_TRUE(registry.Find("c_total")->AllowLabelValues("a", {"x", "y"}));
  EXPECT_FALSE(family.AllowLabelValues("unknown", {}));
  EXPECT_EQ(registry.Find("unknown"), nullptr);
  for (const std::string_view value : {"x", "z", "w"}) family.With({"any", value})->Increment();
  EXPECT_EQ(family.With({"any", "unexpected"})->Value(), 2);
  EXPECT_EQ(family.Find({"any", "x"})->Value(), 1);
}

TEST(MetricRegistry, CollectionMaySetGauges) {
  MetricRegistry registry;
  Gauge& gauge = registry.AddGauge({.name = "g", .help = "G"});
  registry.OnCollect([&] { gauge.Increment(); });
  registry.Text();
  EXPECT_EQ(registry.Text(), "# HELP g [ALPHA] G\n# TYPE g gauge\ng 2\n");
}

// What was counted at the last exposition was forgotten, and counters of the process grew by everything
// again.
TEST(MetricRegistry, CollectionRemembersWhatItDidBefore) {
  MetricRegistry registry;
  Counter& seconds = registry.AddCounter({.name = "seconds_total", .help = "Seconds."});
  double now = 0;
  registry.OnCollect([&, counted = 0.0]() mutable { seconds.Add(now - std::exchange(counted, now)); });
  for (const double time : {2.0, 2.0, 5.0}) {
    now = time;
    registry.Text();
  }
  EXPECT_TRUE(registry.Text().ends_with("seconds_total 5\n")) << registry.Text();
}

TEST(MetricFamily, DeletedSeriesIsGoneButSafeToUse) {
  MetricRegistry registry;
  GaugeFamily& family = registry.AddGauges({.name = "g", .help = "G", .labels = {"l"}});
  const std::shared_ptr<Gauge> held = family.With({"x"});
  EXPECT_TRUE(family.Delete({"x"}));
  EXPECT_FALSE(family.Delete({"x"}));
  held->Set(3);
  EXPECT_EQ(family.Find({"x"}), nullptr);
  EXPECT_EQ(registry.Text(), "");
  EXPECT_EQ(family.With({"x"})->Value(), 0);
}

// Handles are looked up once, so they must go on working after DELETE /metrics.
TEST(MetricRegistry, ResetHidesASeriesUntilItsNextChange) {
  MetricRegistry registry;
  const std::shared_ptr<Counter> a =
      registry.AddCounters({.name = "c_total", .help = "C", .labels = {"l"}}).With({"a"});
  a->Add(5);
  registry.Reset();
  EXPECT_EQ(registry.Text(), "");
  a->Increment();
  EXPECT_EQ(registry.Text(), "# HELP c_total [ALPHA] C\n# TYPE c_total counter\nc_total{l=\"a\"} 1\n");
}

TEST(MetricRegistry, ResetOfSingleMetricsZeroesCountersOnly) {
  MetricRegistry registry;
  Counter& counter = registry.AddCounter({.name = "c_total", .help = "C"});
  Gauge& gauge = registry.AddGauge({.name = "g", .help = "G"});
  counter.Add(5);
  gauge.Set(7);
  registry.Reset();
  EXPECT_EQ(registry.Text(),
            "# HELP c_total [ALPHA] C\n# TYPE c_total counter\nc_total 0\n# HELP g [ALPHA] G\n# TYPE g "
            "gauge\ng 7\n");
}

TEST(MetricSeries, NoChangeIsLostBetweenThreads) {
  Counter counter;
  Gauge gauge;
  Histogram histogram({1});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) {
        counter.Increment();
        gauge.Add(i % 2 == 0 ? 3 : -1);
        histogram.Observe(i % 2 == 0 ? 0.5 : 2);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counter.Value(), 4000);
  EXPECT_EQ(gauge.Value(), 4000);
  EXPECT_EQ(histogram.CumulativeCounts(), (std::vector<std::uint64_t>{2000, 4000}));
  EXPECT_EQ(histogram.Sum(), 5000);
}

TEST(MetricRegistryDeathTest, NamesAreUnique) {
  MetricRegistry registry;
  registry.AddCounter({.name = "c_total", .help = "C"});
  EXPECT_DEATH(registry.AddGauge({.name = "c_total", .help = "G"}), "check failed");
}

}  // namespace
}  // namespace berth::base
