#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>

#include "core/fake_api.h"

// What is traced of an attempt.
namespace berth::core {
namespace {

using namespace std::chrono_literals;
using test::FakeApi;
using test::Node;
using test::Pod;
using ::testing::HasSubstr;

TEST(AttemptTraces, AreMadeOnlyWhenAskedFor) {
  FakeApi api{SchedulerOptions()};
  api.Create(Node("n1"));
  api.Create(Pod("web"));
  api.Run(1s);
  EXPECT_TRUE(api.traces().empty());
}

TEST(AttemptTraces, TellTheStoryOfAnAttempt) {
  SchedulerOptions options;
  options.traces_per_million = 1'000'000;
  FakeApi api{options};
  api.Create(Pod("web"));
  api.Run(100ms);
  api.Create(Node("n1"));
  api.Run(20s);
  ASSERT_EQ(api.node_of("web"), "n1");
  ASSERT_GE(api.traces().size(), 2u);
  const cycle::AttemptTrace& failed = api.traces().front();
  EXPECT_EQ(failed.result, "unschedulable");
  EXPECT_EQ(failed.attempt, 1);
  EXPECT_THAT(failed.message, HasSubstr("no nodes available"));
  const cycle::AttemptTrace& bound = api.traces().back();
  EXPECT_EQ(bound.pod->name, "web");
  EXPECT_EQ(bound.profile, "default-scheduler");
  EXPECT_EQ(bound.result, "scheduled");
  EXPECT_EQ(bound.node, "n1");
  EXPECT_EQ(bound.attempt, static_cast<int>(api.traces().size()));
  ASSERT_FALSE(bound.spans.empty());
  EXPECT_EQ(bound.spans.front().name, "PreFilter");
  EXPECT_EQ(bound.spans.back().name, "Bind");
  for (const cycle::TraceSpan& span : bound.spans) {
    EXPECT_LE(bound.begin, span.begin);
    EXPECT_LE(span.begin, span.end);
    EXPECT_LE(span.end, bound.end);
  }
}

TEST(AttemptTraces, AreASampleOfTheAttempts) {
  SchedulerOptions options;
  options.traces_per_million = 200'000;
  FakeApi api{options};
  api.Create(Node("n1"));
  for (int i = 0; i < 100; ++i) api.Create(Pod("p" + std::to_string(i)));
  api.Run(5s);
  EXPECT_GT(api.traces().size(), 5u);
  EXPECT_LT(api.traces().size(), 50u);
}

}  // namespace
}  // namespace berth::core
