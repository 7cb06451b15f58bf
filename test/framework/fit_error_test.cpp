#include "framework/fit_error.h"

#include <string_view>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

// Numbers are those of the cases of the cycle chapter.
namespace berth::framework {
namespace {

using cluster::NodeRow;
using testing::ElementsAre;

class FitErrorTest : public testing::Test {
 protected:
  static constexpr std::string_view kNames[] = {"NodeResourcesFit", "TaintToleration", "DynamicResources"};

  FitErrorTest() {
    diagnosis_.table = &table_;
    diagnosis_.plugin_names = kNames;
  }
  void Refuse(std::size_t count, const Rejection& rejection) {
    refusals_.insert(refusals_.end(), count, table_.Intern(rejection));
    diagnosis_.refusals = refusals_;
  }

  RejectionTable table_;
  std::vector<RejectionId> refusals_;
  Diagnosis diagnosis_;
};

const Rejection kCpu{0, Code::kUnschedulable, {{"Insufficient ", "cpu"}}};
const Rejection kCpuAndMemory{
    0, Code::kUnschedulable, {{"Insufficient ", "cpu"}, {"Insufficient ", "memory"}}};
const Rejection kTaint{1, Code::kUnschedulableAndUnresolvable, {{"node(s) had untolerated taint(s)", ""}}};

TEST_F(FitErrorTest, Case18CountsEachReasonOncePerNode) {
  Refuse(2, kCpu);
  Refuse(1, kCpuAndMemory);
  diagnosis_.node_count = 3;
  EXPECT_EQ(FitErrorMessage(diagnosis_),
            "0/3 nodes are available: 1 Insufficient memory, 3 Insufficient cpu.");
}

TEST_F(FitErrorTest, Case18CountsNodesByTheirReason) {
  Refuse(2, kCpu);
  Refuse(1, kTaint);
  diagnosis_.node_count = 3;
  EXPECT_EQ(FitErrorMessage(diagnosis_),
            "0/3 nodes are available: 1 node(s) had untolerated taint(s), 2 Insufficient cpu.");
}

// As upstream does: by text, not by number.
TEST_F(FitErrorTest, Case18EntriesAreSortedAsText) {
  Refuse(2, kCpu);
  Refuse(10, kTaint);
  diagnosis_.node_count = 12;
  EXPECT_EQ(FitErrorMessage(diagnosis_),
            "0/12 nodes are available: 10 node(s) had untolerated taint(s), 2 Insufficient cpu.");
}

TEST_F(FitErrorTest, EqualWordsOfDifferentPluginsAreOneEntry) {
  Refuse(2, kCpu);
  Refuse(3, {1, Code::kUnschedulable, {{"Insufficient cpu", ""}}});
  diagnosis_.node_count = 9;
  diagnosis_.absent = Status::Unresolvable("Insufficient cpu");
  EXPECT_EQ(FitErrorMessage(diagnosis_), "0/9 nodes are available: 9 Insufficient cpu.");
}

TEST_F(FitErrorTest, RowsWithoutARefusalCountWithTheAbsentOnes) {
  Refuse(1, kCpu);
  diagnosis_.node_count = 5;
  diagnosis_.absent = Status::Unresolvable(OutsideNarrowedMessage({"A", "B"}));
  EXPECT_EQ(FitErrorMessage(diagnosis_),
            "0/5 nodes are available: 1 Insufficient cpu, 4 node(s) didn't satisfy plugin(s) [A B].");
}

TEST_F(FitErrorTest, Case19PreFilterMessageReplacesTheReasons) {
  Refuse(1, kCpu);
  diagnosis_.node_count = 1;
  diagnosis_.pre_filter_message = "persistentvolumeclaim \"data\" not found";
  EXPECT_EQ(FitErrorMessage(diagnosis_),
            "0/1 nodes are available: persistentvolumeclaim \"data\" not found.");
}

TEST_F(FitErrorTest, PostFilterMessageFollowsWithoutAPeriodOfItsOwn) {
  Refuse(3, kCpu);
  diagnosis_.node_count = 3;
  diagnosis_.post_filter_message =
      "preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.";
  EXPECT_EQ(FitErrorMessage(diagnosis_),
            "0/3 nodes are available: 3 Insufficient cpu. preemption: 0/3 nodes are available: "
            "3 No preemption victims found for incoming pod.");
}

TEST_F(FitErrorTest, NothingToSayLeavesOnlyTheCount) {
  diagnosis_.node_count = 4;
  EXPECT_EQ(FitErrorMessage(diagnosis_), "0/4 nodes are available:");
}

TEST_F(FitErrorTest, NarrowingNamesOneOrSeveralPlugins) {
  EXPECT_EQ(NothingLeftMessage({"NodeAffinity"}), "node(s) didn't satisfy plugin NodeAffinity");
  EXPECT_EQ(NothingLeftMessage({"A", "B"}), "node(s) didn't satisfy plugin(s) [A B] simultaneously");
}

TEST_F(FitErrorTest, PendingRefusalsCountInBothSetsOfPlugins) {
  Refuse(1, kTaint);
  Refuse(1, kCpu);
  Refuse(1, {2, Code::kPending, {{"waiting for deallocation", ""}}});
  diagnosis_.AddPluginsOfRefusals();
  EXPECT_THAT(diagnosis_.unschedulable_plugins,
              ElementsAre("DynamicResources", "NodeResourcesFit", "TaintToleration"));
  EXPECT_THAT(diagnosis_.pending_plugins, ElementsAre("DynamicResources"));
}

// Preemption trusts this: a row that was not judged is no candidate.
TEST_F(FitErrorTest, RowsThatWereNotJudgedAreUnresolvable) {
  Refuse(1, kCpu);
  EXPECT_EQ(diagnosis_.CodeOf(NodeRow(0)), Code::kUnschedulable);
  EXPECT_EQ(diagnosis_.StatusOf(NodeRow(0)).plugin(), "NodeResourcesFit");
  EXPECT_EQ(diagnosis_.CodeOf(NodeRow(1)), Code::kUnschedulableAndUnresolvable);
}

}  // namespace
}  // namespace berth::framework
