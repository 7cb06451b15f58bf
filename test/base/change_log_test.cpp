#include "base/change_log.h"

#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

#include "base/ids.h"
#include "base/memo.h"

namespace berth::base {
namespace {

using Row = Id<struct RowTag>;
using Changes = std::vector<std::pair<Row, std::uint32_t>>;

TEST(ChangeLog, ReaderThatFellBehindIsToldAndVisitsNothing) {
  ChangeLog<Row> log(2);
  for (std::uint32_t i = 0; i < 3; ++i) log.Append(Row(i), 1);
  int visits = 0;
  EXPECT_FALSE(log.Since(0, [&](Row, std::uint32_t) { ++visits; }));
  EXPECT_EQ(visits, 0);
  EXPECT_TRUE(log.Since(1, [&](Row, std::uint32_t) { ++visits; }));
  EXPECT_EQ(visits, 2);
}

TEST(ChangeLog, ReaderThatIsUpToDateSeesNothing) {
  ChangeLog<Row> log(4);
  const std::uint64_t version = log.Append(Row(7), 3);
  EXPECT_EQ(version, log.version());
  EXPECT_TRUE(log.Since(version, [](Row, std::uint32_t) { FAIL(); }));
}

RC_GTEST_PROP(ChangeLog, EqualsTheTailOfTheWholeHistory,
              (const std::vector<std::pair<std::uint8_t, std::uint8_t>>& appended)) {
  const auto capacity = *rc::gen::inRange<std::size_t>(1, 20);
  ChangeLog<Row> log(capacity);
  Changes history;
  for (const auto& [row, facts] : appended) {
    log.Append(Row(row), facts);
    history.emplace_back(Row(row), facts);
  }
  for (std::size_t version = 0; version <= history.size(); ++version) {
    Changes seen;
    const bool complete =
        log.Since(version, [&](Row row, std::uint32_t facts) { seen.emplace_back(row, facts); });
    RC_ASSERT(complete == (history.size() - version <= capacity));
    const auto start = history.begin() + static_cast<std::ptrdiff_t>(version);
    RC_ASSERT(seen == (complete ? Changes(start, history.end()) : Changes()));
  }
}

TEST(Memo, ComputesOncePerId) {
  int computed = 0;
  Memo<Row, bool> is_even([&](Row row) {
    ++computed;
    return row.value() % 2 == 0;
  });
  for (const std::uint32_t row : {4U, 7U, 4U, 4U, 7U}) EXPECT_EQ(is_even(Row(row)), row % 2 == 0);
  EXPECT_EQ(computed, 2);
}

TEST(Memo, ComputesAgainWhatItForgot) {
  int answer = 1;
  Memo<Row, int> memo([&](Row) { return answer; });
  EXPECT_EQ(memo(Row(3)), 1);
  answer = 2;
  EXPECT_EQ(memo(Row(3)), 1);
  memo.Forget(Row(3));
  EXPECT_EQ(memo(Row(3)), 2);
}

TEST(Memo, MayAskItself) {
  Memo<Row, std::uint64_t>* self = nullptr;
  Memo<Row, std::uint64_t> fibonacci([&self](Row row) -> std::uint64_t {
    if (row.value() < 2) return row.value();
    const std::uint64_t before = (*self)(Row(row.value() - 1));
    return before + (*self)(Row(row.value() - 2));
  });
  self = &fibonacci;
  EXPECT_EQ(fibonacci(Row(60)), 1'548'008'755'920U);
}

TEST(GenerationalMemo, AnswersBelongToOneGeneration) {
  GenerationalMemo<Row, int> memo;
  EXPECT_EQ(memo.Get({Row(2), 0}, [](Row) { return 10; }), 10);
  EXPECT_EQ(memo.Get({Row(2), 0}, [](Row) { return 11; }), 10);
  EXPECT_EQ(memo.Get({Row(2), 1}, [](Row) { return 12; }), 12);
}

// A log that grows keeps what it had, and still admits what it had lost.
TEST(ChangeLog, GrowingForgetsNothingAndInventsNothing) {
  ChangeLog<Row> log(2);
  for (std::uint32_t i = 1; i <= 3; ++i) log.Append(Row(i), 0);
  log.Grow(8);
  EXPECT_EQ(log.capacity(), 8u);
  EXPECT_FALSE(log.Covers(0)) << "the first change was gone before";
  for (std::uint32_t i = 4; i <= 6; ++i) log.Append(Row(i), 0);
  EXPECT_FALSE(log.Covers(0));
  std::vector<std::uint32_t> seen;
  EXPECT_TRUE(log.Since(1, [&](Row row, std::uint32_t) { seen.push_back(row.value()); }));
  EXPECT_EQ(seen, (std::vector<std::uint32_t>{2, 3, 4, 5, 6}));
  log.Grow(4);
  EXPECT_EQ(log.capacity(), 8u) << "it never shrinks";
  for (std::uint32_t i = 7; i <= 20; ++i) log.Append(Row(i), 0);
  EXPECT_TRUE(log.Covers(12));
  EXPECT_FALSE(log.Covers(11));
}

}  // namespace
}  // namespace berth::base
