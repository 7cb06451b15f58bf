#include <cstdint>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <vector>

#include "cluster/amount_column.h"
#include "plugins/resource_columns.h"

// Scores of many rows at once are those of one row after the other, whatever the amounts.
namespace berth::plugins {
namespace {

// Small ones, those of real nodes, those at the edge of what doubles can do, and absurd ones.
std::int64_t AnyAmount() {
  const auto between = [](std::int64_t low, std::int64_t high) { return *rc::gen::inRange(low, high); };
  switch (between(0, 24)) {
    case 0:
      return between(-3, 1);
    case 1:
      return (std::int64_t{1} << 46) + between(-2, 3);
    case 2:
      return (std::int64_t{1} << 51) + between(-2, 3);
    case 3:
      return *rc::gen::arbitrary<std::int64_t>();
    case 4:
    case 5:
      return between(0, 200);
    case 6:
    case 7:
      return between(0, 100) * 1000;
    default:
      return between(1, std::int64_t{1} << between(2, 46));
  }
}

struct Columns {
  std::vector<std::int64_t> allocatable;
  std::vector<std::int64_t> used;
  // The same, as resources are kept that not every node has.
  cluster::AmountColumn::Paged allocatable_pages;
  cluster::AmountColumn::Paged used_pages;

  void MakePages() {
    for (std::uint32_t i = 0; i < allocatable.size(); ++i) {
      allocatable_pages.Set(cluster::NodeRow(i), allocatable[i]);
      used_pages.Set(cluster::NodeRow(i), used[i]);
    }
  }
};

class AnyRows {
 public:
  AnyRows() {
    const std::size_t count = *rc::gen::inRange<std::size_t>(1, 80);
    const bool are_alike = *rc::gen::arbitrary<bool>();
    for (Columns& columns : columns_) {
      for (std::size_t i = 0; i < count; ++i) {
        columns.allocatable.push_back(are_alike && i > 0 ? columns.allocatable.back() : AnyAmount());
        columns.used.push_back(
            *rc::gen::inRange(0, 4) == 0
                ? AnyAmount()
                : static_cast<std::int64_t>(static_cast<std::uint64_t>(columns.allocatable.back()) / 100 *
                                            *rc::gen::inRange<std::uint64_t>(0, 101)));
      }
    }
    const bool are_all = *rc::gen::arbitrary<bool>();
    for (std::uint32_t i = 0; i < count; ++i) {
      if (are_all || *rc::gen::arbitrary<bool>()) rows.emplace_back(i);
    }
    for (Columns& columns : columns_) {
      columns.MakePages();
      const bool is_paged = *rc::gen::arbitrary<bool>();
      using Column = cluster::AmountColumn;
      resources.push_back(
          {.allocatable = is_paged ? Column(columns.allocatable_pages) : Column(columns.allocatable),
           .used = is_paged ? Column(columns.used_pages) : Column(columns.used),
           .wanted = AnyAmount(),
           .weight = *rc::gen::inRange<std::int64_t>(1, 101)});
    }
  }

  std::vector<cluster::NodeRow> rows;
  ScoredResources resources;

 private:
  Columns columns_[2];
};

TEST(ResourceColumnsProperty, LeastAllocatedIsThatOfOneRow) {
  EXPECT_TRUE(rc::check([] {
    AnyRows any;
    any.resources.resize(*rc::gen::inRange<std::size_t>(1, 3));
    std::vector<std::int64_t> scores(any.rows.size(), -1);
    LeastAllocatedScores(any.resources, any.rows, scores);
    for (std::size_t i = 0; i < any.rows.size(); ++i) {
      RC_ASSERT(scores[i] == LeastAllocatedScore(any.resources, any.rows[i]));
    }
  }));
}

TEST(ResourceColumnsProperty, BalanceIsThatOfOneRow) {
  EXPECT_TRUE(rc::check([] {
    AnyRows any;
    std::vector<std::int64_t> scores(any.rows.size(), -1);
    BalanceScores(any.resources, any.rows, scores);
    for (std::size_t i = 0; i < any.rows.size(); ++i) {
      RC_ASSERT(scores[i] == BalanceScore(any.resources, any.rows[i]));
    }
  }));
}

}  // namespace
}  // namespace berth::plugins
