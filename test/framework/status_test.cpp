#include "framework/status.h"

#include "gtest/gtest.h"

namespace berth::framework {
namespace {

TEST(StatusTest, DefaultIsSuccessWithoutWords) {
  const Status status;
  EXPECT_TRUE(status.IsSuccess());
  EXPECT_FALSE(status.IsRejected());
  EXPECT_EQ(status.Message(), "");
  EXPECT_EQ(status.AsError(), "");
}

TEST(StatusTest, MessageJoinsReasonsInOrder) {
  const Status status(Code::kUnschedulable, {"Too many pods", "Insufficient cpu"});
  EXPECT_EQ(status.Message(), "Too many pods, Insufficient cpu");
  EXPECT_EQ(status.AsError(), "Too many pods, Insufficient cpu");
}

TEST(StatusTest, ErrorKeepsItsText) {
  const Status status = Status::Error("no such claim").WithPlugin("DynamicResources");
  EXPECT_EQ(status.code(), Code::kError);
  EXPECT_EQ(status.AsError(), "no such claim");
  EXPECT_EQ(status.plugin(), "DynamicResources");
  EXPECT_FALSE(status.IsRejected());
}

TEST(StatusTest, SkipAndWaitAreNoErrors) {
  EXPECT_EQ(Status(Code::kSkip, "nothing to do").AsError(), "");
  EXPECT_EQ(Status(Code::kWait, "waiting").AsError(), "");
}

// The queue looks for events only after a rejection; anything else is retried as an error.
TEST(StatusTest, RejectionsAreTheCodesThatAPluginCanTakeBack) {
  EXPECT_TRUE(Status(Code::kUnschedulable).IsRejected());
  EXPECT_TRUE(Status(Code::kUnschedulableAndUnresolvable).IsRejected());
  EXPECT_TRUE(Status(Code::kPending).IsRejected());
  EXPECT_FALSE(Status(Code::kError).IsRejected());
  EXPECT_FALSE(Status(Code::kWait).IsRejected());
  EXPECT_FALSE(Status(Code::kSkip).IsRejected());
}

TEST(StatusTest, CodesHaveUpstreamsNames) {
  EXPECT_EQ(CodeName(Code::kSuccess), "Success");
  EXPECT_EQ(CodeName(Code::kError), "Error");
  EXPECT_EQ(CodeName(Code::kUnschedulable), "Unschedulable");
  EXPECT_EQ(CodeName(Code::kUnschedulableAndUnresolvable), "UnschedulableAndUnresolvable");
  EXPECT_EQ(CodeName(Code::kWait), "Wait");
  EXPECT_EQ(CodeName(Code::kSkip), "Skip");
  EXPECT_EQ(CodeName(Code::kPending), "Pending");
}

}  // namespace
}  // namespace berth::framework
