#include "dispatch/flight_limit.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <gtest/gtest.h>
#include <queue>

#include "base/clock.h"

namespace berth::dispatch {
namespace {

using std::chrono::milliseconds;

// Answers calls in order: each takes `latency`, and no more than one in `turn` is answered. What is answered
// in one round of the client is seen together, at its end.
struct ServerSpeed {
  base::Duration latency;
  base::Duration turn;
};
constexpr ServerSpeed kSlow = {.latency = milliseconds(50), .turn = std::chrono::microseconds(1)};
constexpr ServerSpeed kBusy = {.latency = milliseconds(1), .turn = milliseconds(1)};

// A client that always has more to ask.
class BusyClient {
 public:
  explicit BusyClient(FlightLimit& limit) : limit_(limit) {}

  // How many of the answers came while no more than `limit` might be on their way.
  std::size_t Ask(std::size_t answers, const ServerSpeed& server, std::size_t limit) {
    std::size_t within = 0;
    for (std::size_t i = 0; i < answers; ++i) {
      while (limit_.Allows(answered_at_.size())) {
        free_at_ = std::max(now_, free_at_) + server.turn;
        answered_at_.push(free_at_ + server.latency);
      }
      const base::Duration since_start = answered_at_.front().time_since_epoch();
      now_ = std::max(now_, base::TimePoint((since_start / kRound + 1) * kRound));
      answered_at_.pop();
      limit_.Answered(now_, true);
      within += limit_.limit() <= limit;
    }
    return within;
  }

 private:
  static constexpr base::Duration kRound = milliseconds(2);

  FlightLimit& limit_;
  base::TimePoint now_;
  base::TimePoint free_at_;
  std::queue<base::TimePoint> answered_at_;
};

TEST(FlightLimitTest, IsNoneOrOneWhereThatIsWanted) {
  const FlightLimit none(0, 100);
  EXPECT_TRUE(none.Allows(1'000'000));
  FlightLimit fixed(64, 0);
  BusyClient(fixed).Ask(10'000, kSlow, 64);
  EXPECT_TRUE(fixed.Allows(63));
  EXPECT_FALSE(fixed.Allows(64));
}

TEST(FlightLimitTest, GrowsWhileMoreCallsMakeMoreAnswers) {
  FlightLimit limit(64, 250);
  BusyClient client(limit);
  client.Ask(64 * 22, kSlow, 64);
  EXPECT_EQ(limit.limit(), 32u);  // whether fewer make fewer
  client.Ask(32 * 22, kSlow, 64);
  EXPECT_EQ(limit.limit(), 128u);
  client.Ask(128 * 22, kSlow, 64);
  EXPECT_EQ(limit.limit(), 250u);
  EXPECT_FALSE(limit.Allows(250));
}

// It does not even try: a call more takes memory, and one of a server that is busy gains nothing.
TEST(FlightLimitTest, StaysWhereTheServerIsBusy) {
  FlightLimit limit(64, 250);
  BusyClient client(limit);
  constexpr std::size_t kAnswers = 50'000;
  EXPECT_EQ(client.Ask(kAnswers, kBusy, 64), kAnswers);
  EXPECT_LT(client.Ask(kAnswers, kBusy, 32), kAnswers / 15);  // one window in seventeen
}

TEST(FlightLimitTest, StaysWhereTheServerIsBusyAndUneven) {
  FlightLimit limit(64, 250);
  BusyClient client(limit);
  std::size_t within = 0;
  for (int i = 0; i < 250; ++i) {
    const auto turn = std::chrono::microseconds(i % 2 == 0 ? 600 : 1200);
    within += client.Ask(200, {.latency = milliseconds(1), .turn = turn}, 64);
  }
  EXPECT_EQ(within, 50'000u);
}

// As one does that has just started.
TEST(FlightLimitTest, StaysWhereTheServerBecomesFasterByItself) {
  FlightLimit limit(64, 250);
  BusyClient client(limit);
  std::size_t within = 0;
  for (int i = 0; i < 100; ++i) {
    const ServerSpeed server = {.latency = milliseconds(1), .turn = std::chrono::microseconds(2000 - 15 * i)};
    within += client.Ask(100, server, 64);
  }
  EXPECT_EQ(within, 10'000u);
}

TEST(FlightLimitTest, GoesBackWhenTheServerBecomesBusy) {
  FlightLimit limit(64, 250);
  BusyClient client(limit);
  client.Ask(20'000, kSlow, 64);
  ASSERT_EQ(limit.limit(), 250u);
  client.Ask(5'000, kBusy, 64);
  EXPECT_LE(limit.limit(), 64u);
  EXPECT_EQ(client.Ask(50'000, kBusy, 64), 50'000u);
}

TEST(FlightLimitTest, IsTheUsualOneAgainWhenNobodyWaits) {
  FlightLimit limit(64, 250);
  BusyClient(limit).Ask(20'000, kSlow, 64);
  ASSERT_EQ(limit.limit(), 250u);
  for (int i = 0; i < 249; ++i) limit.Answered(base::TimePoint(std::chrono::hours(1)), false);
  EXPECT_EQ(limit.limit(), 250u);
  limit.Answered(base::TimePoint(std::chrono::hours(1)), false);
  EXPECT_EQ(limit.limit(), 64u);
}

}  // namespace
}  // namespace berth::dispatch
