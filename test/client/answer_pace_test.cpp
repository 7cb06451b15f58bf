#include "client/answer_pace.h"

#include <gtest/gtest.h>

namespace berth::client {
namespace {

base::Duration After(AnswerPace& pace, int rounds, std::size_t on_their_way, std::size_t answered) {
  base::Duration last = {};
  for (int i = 0; i < rounds; ++i) last = pace.Next(on_their_way, answered);
  return last;
}

TEST(AnswerPaceTest, FewRequestsAreNotMadeToWait) {
  AnswerPace pace;
  EXPECT_EQ(After(pace, 20, AnswerPace::kMany - 2, 1), AnswerPace::kMin);
  EXPECT_EQ(After(pace, 20, 0, 0), AnswerPace::kMin);
}

TEST(AnswerPaceTest, SingleAnswersToManyRequestsGather) {
  AnswerPace pace;
  EXPECT_GT(After(pace, 1, 63, 1), AnswerPace::kMin);
  EXPECT_EQ(After(pace, 20, 63, 1), AnswerPace::kMax);
}

TEST(AnswerPaceTest, AServerThatRunsOutOfRequestsGetsThemSooner) {
  AnswerPace pace;
  After(pace, 20, 63, 1);
  EXPECT_EQ(After(pace, 1, 30, 34), AnswerPace::kMax / 2);
  EXPECT_EQ(After(pace, 2, 30, 34), AnswerPace::kMin);
}

TEST(AnswerPaceTest, APaceThatSuitsTheServerStays) {
  AnswerPace pace;
  const base::Duration before = After(pace, 3, 63, 1);
  EXPECT_EQ(After(pace, 20, 44, 20), before);
}

TEST(AnswerPaceTest, TheEndOfABurstIsNotMadeToWait) {
  AnswerPace pace;
  After(pace, 20, 63, 1);
  EXPECT_EQ(After(pace, 1, 3, 1), AnswerPace::kMin);
}

TEST(AnswerPaceTest, EachAnswerCountsInOneRound) {
  AnswerPace pace;
  // 60 of 64 at first, none of them again later.
  EXPECT_EQ(pace.Next({.calls = 4, .ended = 60}), AnswerPace::kMin);
  EXPECT_GT(pace.Next({.calls = 64, .ended = 60}), AnswerPace::kMin);
}

}  // namespace
}  // namespace berth::client
