#include "framework/rejections.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "framework/node_selection.h"

namespace berth::framework {
namespace {

using cluster::NodeRow;
using testing::ElementsAre;

constexpr ReasonText kFitReasons[] = {{Code::kUnschedulable, "Too many pods"},
                                      {Code::kUnschedulableAndUnresolvable, "node(s) never fit"}};

Rejection Insufficient(PluginIndex plugin, const std::string& resource) {
  return {plugin, Code::kUnschedulable, {{"Insufficient ", resource}}};
}

TEST(RejectionTableTest, EqualRefusalsShareAnId) {
  RejectionTable table;
  const RejectionId cpu = table.Intern(Insufficient(1, "cpu"));
  EXPECT_TRUE(cpu.IsRefusal());
  EXPECT_EQ(table.Intern(Insufficient(1, "cpu")), cpu);
  EXPECT_NE(table.Intern(Insufficient(1, "memory")), cpu);
  EXPECT_NE(table.Intern(Insufficient(2, "cpu")), cpu);
}

TEST(RejectionTableTest, TextIsMadeOfWordsAndParameter) {
  RejectionTable table;
  const RejectionId id =
      table.Intern({0, Code::kUnschedulable, {{"Too many pods", ""}, {"Insufficient ", "example.com/gpu"}}});
  const Status status = table.ToStatus(id, "NodeResourcesFit");
  EXPECT_EQ(status.plugin(), "NodeResourcesFit");
  EXPECT_THAT(status.reasons(), ElementsAre("Too many pods", "Insufficient example.com/gpu"));
}

TEST(RejectionTableTest, FixedRefusalsAreConsecutiveAndSurviveAReset) {
  RejectionTable table;
  const RejectionId first = table.AddFixed(3, kFitReasons);
  const RejectionId cpu = table.Intern(Insufficient(3, "cpu"));
  const std::uint64_t epoch = table.epoch();

  table.Reset();

  EXPECT_EQ(table.epoch(), epoch + 1);
  EXPECT_EQ(table.size(), 2u);
  EXPECT_EQ(table.Get(RejectionId(static_cast<std::uint16_t>(first.value() + 1))).code,
            Code::kUnschedulableAndUnresolvable);
  EXPECT_EQ(table.Intern(Insufficient(3, "memory")), cpu) << "ids of forgotten refusals are used again";
}

TEST(RejectionTableTest, NearItsEndParametersThenReasonsAreLeftOut) {
  RejectionTable table(2 * RejectionTable::kHeadroom);
  for (int i = 0; i < 100'000; ++i) {
    const RejectionId id = table.Intern(Insufficient(7, std::to_string(i)));
    ASSERT_EQ(table.Get(id).plugin, 7);
    ASSERT_EQ(table.Get(id).code, Code::kUnschedulable);
  }
  EXPECT_TRUE(table.IsCrowded());
  EXPECT_EQ(table.ToStatus(table.Intern(Insufficient(7, "one more")), "p").Message(), "Insufficient ");

  // Refusals whose words vary as well, from a plugin that builds them itself.
  static std::vector<std::string> words;
  for (int i = 0; i < 5'000; ++i) words.push_back("because of " + std::to_string(i));
  for (const std::string& text : words) table.Intern({8, Code::kPending, {{text, ""}}});
  EXPECT_LT(table.size(), 2 * RejectionTable::kHeadroom);
  const Rejection& last = table.Get(table.Intern({8, Code::kPending, {{"never heard of", ""}}}));
  EXPECT_EQ(last.plugin, 8);
  EXPECT_EQ(last.code, Code::kPending);
  EXPECT_TRUE(last.reasons.empty());
}

class NodeSelectionTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr std::size_t kRows = 130;

  NodeSelectionTest() : refusals_(kRows) { first_fixed_ = table_.AddFixed(3, kFitReasons); }

  // Every third row.
  void Select() {
    for (std::size_t row = 0; row < kRows; row += 3) {
      bits_.Set(row);
      list_.push_back(NodeRow(static_cast<std::uint32_t>(row)));
    }
  }
  template <class F>
  void Filter(F&& filter) {
    if (GetParam()) {
      NodeSelection nodes(bits_, refusals_, table_);
      nodes.BeginPlugin(3, first_fixed_, 2);
      filter(nodes);
    } else {
      NodeSelection nodes(list_, refusals_, table_);
      nodes.BeginPlugin(3, first_fixed_, 2);
      filter(nodes);
    }
  }
  std::vector<std::size_t> Left() {
    std::vector<std::size_t> left;
    Filter([&](NodeSelection& nodes) {
      nodes.ForEach([&](NodeRow row) { left.push_back(row.index()); });
      EXPECT_EQ(nodes.size(), left.size());
    });
    return left;
  }

  RejectionTable table_;
  RejectionId first_fixed_;
  base::Bitset bits_{kRows};
  std::vector<NodeRow> list_;
  std::vector<RejectionId> refusals_;
};

TEST_P(NodeSelectionTest, RemoveIfTakesOutRowsAndSaysWhy) {
  Select();
  Filter([](NodeSelection& nodes) { nodes.RemoveIf(1, [](NodeRow row) { return row.index() >= 6; }); });
  EXPECT_THAT(Left(), ElementsAre(0, 3));
  EXPECT_EQ(table_.ToStatus(refusals_[129], "p").Message(), "node(s) never fit");
  EXPECT_FALSE(refusals_[3].IsRefusal());
  EXPECT_FALSE(refusals_[7].IsRefusal()) << "a row that was not selected is not judged";
}

TEST_P(NodeSelectionTest, RunsRefuseSelectedRowsOnly) {
  Select();
  Filter([](NodeSelection& nodes) {
    nodes.RemoveRuns(0, [](std::size_t first, std::size_t count) {
      EXPECT_LE(first + count, kRows);
      std::uint64_t refused = 0;
      for (std::size_t i = 0; i < count; ++i) {
        if ((first + i) % 2 == 0 || first + i > 12) refused |= std::uint64_t{1} << i;
      }
      return refused;
    });
  });
  EXPECT_THAT(Left(), ElementsAre(3, 9));
  EXPECT_EQ(refusals_[0], first_fixed_);
  EXPECT_FALSE(refusals_[2].IsRefusal());
}

TEST_P(NodeSelectionTest, JudgeGivesEachRowItsOwnReasons) {
  Select();
  Filter([](NodeSelection& nodes) {
    const RejectionId gpu = nodes.Intern(Code::kUnschedulable, {{"Insufficient ", "example.com/gpu"}});
    nodes.Judge([&](NodeRow row) {
      if (row.index() < 3) return kAccepted;
      return row.index() < 9 ? gpu : nodes.Fixed(0);
    });
  });
  EXPECT_THAT(Left(), ElementsAre(0));
  EXPECT_EQ(table_.ToStatus(refusals_[6], "p").Message(), "Insufficient example.com/gpu");
  EXPECT_EQ(table_.Get(refusals_[6]).plugin, 3);
  EXPECT_EQ(table_.ToStatus(refusals_[9], "p").Message(), "Too many pods");
}

TEST_P(NodeSelectionTest, TheFirstErrorStays) {
  Select();
  Filter([](NodeSelection& nodes) {
    nodes.Fail(NodeRow(3), Status::Error("first"));
    nodes.Fail(NodeRow(6), Status::Error("second"));
    EXPECT_EQ(nodes.error().AsError(), "first");
    EXPECT_EQ(nodes.error_row(), NodeRow(3));
  });
}

INSTANTIATE_TEST_SUITE_P(Forms, NodeSelectionTest, testing::Bool(),
                         [](const auto& test) { return test.param ? "Bitset" : "List"; });

}  // namespace
}  // namespace berth::framework
