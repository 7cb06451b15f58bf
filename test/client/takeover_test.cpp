#include "client/takeover.h"

#include <string>

#include "client/harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::client {
namespace {

using namespace std::chrono_literals;

// Promise P9: no decision from a view older than what the previous leader wrote.
class TakeoverTest : public ClientTest {
 protected:
  void StartReflector(Resource resource, int version) {
    AddReply(
        Json(200, R"({"metadata":{"resourceVersion":")" + std::to_string(version) + R"("},"items":[]})"));
    AddStream();
    auto& reflector =
        Make<Reflector>(client_, shared_, Reflector::Options{.resource = resource, .use_watch_list = false},
                        [](EventBatch) {});
    reflectors_.push_back(&reflector);
    StartForGood(reflector.Run());
  }
  static base::Task<bool> CatchUpAndTell(ApiClient& client, std::span<Reflector* const> reflectors) {
    co_await CatchUp(client, reflectors);
    co_return true;
  }

  api::SharedParts shared_;
  std::vector<Reflector*> reflectors_;
};

TEST_F(TakeoverTest, WaitsForThoseThatAreBehindAndLeavesTheOthersAlone) {
  StartReflector(Resource::kNodes, 100);
  StartReflector(Resource::kServices, 90);
  server_.seen.clear();
  AddReply(Json(200, R"({"metadata":{"resourceVersion":"95"},"items":[]})"));
  const auto done = Start(CatchUpAndTell(client_, reflectors_));
  EXPECT_FALSE(done->has_value());
  ASSERT_EQ(server_.seen.size(), 2U);
  EXPECT_EQ(server_.seen[0].target, "/api/v1/namespaces?limit=1");
  EXPECT_EQ(server_.seen[1].target, "/api/v1/services?limit=500") << "a read of the newest state";
}

TEST_F(TakeoverTest, IsOverOnceAllHaveTheNewestState) {
  StartReflector(Resource::kServices, 90);
  AddReply(Json(200, R"({"metadata":{"resourceVersion":"95"},"items":[]})"));
  AddReply(Json(200, R"({"metadata":{"resourceVersion":"96"},"items":[]})"));
  const auto done = Start(CatchUpAndTell(client_, reflectors_));
  EXPECT_TRUE(done->has_value());
  EXPECT_EQ(reflectors_[0]->resource_version(), "96");
}

TEST_F(TakeoverTest, AFailureOnTheWayDelaysTheLeaderAndDoesNotLetItPass) {
  StartReflector(Resource::kServices, 90);
  AddReply(Failure(500, "InternalError"));
  AddReply(Failure(500, "InternalError"));
  const auto done = Start(CatchUpAndTell(client_, reflectors_));
  EXPECT_FALSE(done->has_value());
  AddReply(Json(200, R"({"metadata":{"resourceVersion":"97"},"items":[]})"));
  Advance(2s);
  EXPECT_TRUE(done->has_value());
  EXPECT_EQ(reflectors_[0]->resource_version(), "97");
}

}  // namespace
}  // namespace berth::client
