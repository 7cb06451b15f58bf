#include "bench/threshold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace berth::bench {
namespace {

namespace json = boost::json;

DataItem Throughput(std::map<std::string, double> data) {
  return {.data = std::move(data),
          .unit = "pods/s",
          .labels = {{"Metric", "SchedulingThroughput"}, {"Name", "N"}}};
}

// case 10
TEST(Threshold, IsOneNumberOrOnePerTopic) {
  EXPECT_EQ(Threshold::Parse(5)->For("anything"), 5);
  const auto by_topic = Threshold::Parse(json::object{{"dra", 56}});
  EXPECT_EQ(by_topic->For("dra"), 56);
  EXPECT_EQ(by_topic->For("dra_experimental"), 0);
  EXPECT_FALSE(Threshold::Parse("x").has_value());
  EXPECT_FALSE(Threshold::Parse(json::object{{"dra", "x"}}).has_value());
  EXPECT_EQ(Threshold::Parse(-1)->Validate("misc").error().message,
            "invalid Threshold=-1.000000; should be non-negative");
  EXPECT_FALSE(Threshold::Parse(json::object{{"dra", -2}})->Validate("dra").has_value());
}

// case 11
TEST(Threshold, EqualIsNotEnough) {
  std::vector<DataItem> items = {Throughput({{"Average", 270}})};
  EXPECT_THAT(CheckThreshold(270, {}, items),
              testing::ElementsAre("N: expected \"SchedulingThroughput\" \"Average\" to be higher: got "
                                   "270.000000, want 270.000000"));
  EXPECT_EQ(items[0].data.at("AverageThreshold"), 270);
  EXPECT_THAT(CheckThreshold(269, {}, items), testing::IsEmpty());
  EXPECT_EQ(CheckThreshold(270, {.expect_lower = true}, items).size(), 1);
  EXPECT_THAT(CheckThreshold(271, {.expect_lower = true}, items), testing::IsEmpty());
  EXPECT_THAT(CheckThreshold(0, {}, items), testing::IsEmpty());
}

TEST(Threshold, ChecksEveryItemOfTheMetric) {
  std::vector<DataItem> items = {Throughput({{"Average", 1}}), Throughput({{"Average", 2}}),
                                 Throughput({{"Perc50", 9}}), Throughput({})};
  items.push_back({.data = {{"Average", 0}}, .unit = "ms", .labels = {{"Metric", "other"}}});
  const auto failures = CheckThreshold(10, {}, items);
  ASSERT_EQ(failures.size(), 3);
  EXPECT_EQ(failures[2], "N: no data present for \"SchedulingThroughput\" metric \"Average\" bucket");
  EXPECT_TRUE(items[1].data.contains("AverageThreshold"));
  EXPECT_FALSE(items[4].data.contains("AverageThreshold"));
}

// case 12
TEST(MetricSelector, NamesWhatIsCollected) {
  const CollectedMetrics collected = {{"m", {{"result", {"scheduled", "error"}}}}};
  const auto valid = [&](MetricSelector selector) { return selector.Validate(collected).has_value(); };
  EXPECT_TRUE(valid({}));
  EXPECT_TRUE(valid({.name = "m", .labels = {{"result", "error"}}}));
  EXPECT_FALSE(valid({.name = "m", .labels = {{"result", "lost"}}}));
  EXPECT_FALSE(valid({.name = "SchedulingDuration"}));
  EXPECT_FALSE(valid({.name = "m", .data_bucket = ""}));
}

}  // namespace
}  // namespace berth::bench
