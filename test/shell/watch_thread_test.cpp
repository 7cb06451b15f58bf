#include "shell/watch_thread.h"

#include <algorithm>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

#include "client/resource.h"
#include "fmt/format.h"

#include "net/http_server.h"
#include "shell/watched_objects.h"

namespace berth::shell {
namespace {

using testing::ElementsAre;

// A server on the home loop. It has a few pods and nothing else, and gives them as the beginning of a watch.
class WatchThreadTest : public testing::Test {
 protected:
  void SetUp() override {
    auto server = net::HttpServer::Listen(loop_, {}, [this](net::Request request, net::Responder responder) {
      Answer(request, std::move(responder));
    });
    ASSERT_TRUE(server.has_value()) << server.error().message;
    server_ = *std::move(server);
    client::ConnectionConfig connection;
    connection.server = {
        .scheme = "http", .host = "127.0.0.1", .port = server_->port(), .path = "", .query = ""};
    auto made = WatchThread::Make(home_, {.connection = connection, .client = {}, .seed = 1},
                                  [this](std::span<const core::Input> inputs) { Take(inputs); });
    ASSERT_TRUE(made.has_value()) << made.error().message;
    watches_ = *std::move(made);
  }

  void Answer(const net::Request& request, net::Responder responder) {
    const net::Headers headers{{"Content-Type", "application/json"}};
    if (!request.query().contains("watch=")) {
      // The question for the newest version.
      const std::string list = fmt::format(
          R"({{"kind":"NamespaceList","apiVersion":"v1","metadata":{{"resourceVersion":"{}"}},"items":[]}})",
          version_);
      responder.Send(200, headers, {std::make_shared<const std::string>(list)});
      return;
    }
    for (const client::Resource resource : WatchedResources()) {
      const client::ResourceInfo& info = client::InfoOf(resource);
      if (client::CollectionPath(info) != request.path()) continue;
      net::ResponseStream stream = responder.StartStream(200, headers);
      const std::string type =
          fmt::format(R"("kind":"{}","apiVersion":"{}")", info.kind, client::ApiVersion(info));
      std::string text;
      if (resource == client::Resource::kPods) {
        for (const std::string& pod : pods_) {
          text += fmt::format(
              R"({{"type":"ADDED","object":{{{},"metadata":{{"name":"{}","namespace":"default","uid":"{}","resourceVersion":"3"}}}}}})"
              "\n",
              type, pod, pod);
        }
      }
      text += fmt::format(
          R"({{"type":"BOOKMARK","object":{{{},"metadata":{{"resourceVersion":"{}","annotations":{{"k8s.io/initial-events-end":"true"}}}}}}}})"
          "\n",
          type, version_);
      stream.Write(std::make_shared<const std::string>(std::move(text)));
      streams_.push_back(std::move(stream));
      return;
    }
  }

  void Take(std::span<const core::Input> inputs) {
    taken_on_.insert(std::this_thread::get_id());
    largest_part_ = std::max(largest_part_, inputs.size());
    for (const core::Input& input : inputs) {
      if (const auto* seen = std::get_if<core::PodSeen>(&input)) names_.push_back(seen->pod->name);
    }
  }

  // The limit is for broken code only: nothing waits for it.
  template <class Condition>
  [[nodiscard]] bool RunUntil(Condition condition) {
    bool late = false;
    net::Timer limit(loop_);
    limit.StartAfter(std::chrono::seconds(60), [&late] { late = true; });
    while (!condition() && !late) loop_.RunOne();
    return condition();
  }

  base::Task<void> Record(base::Task<void> task, bool& done) {
    co_await std::move(task);
    done = true;
  }

  net::EventLoop loop_;
  client::LoopExecutor home_{loop_};
  int version_ = 5;
  std::vector<std::string> pods_ = {"a", "b"};
  std::vector<net::ResponseStream> streams_;
  std::vector<std::string> names_;
  std::size_t largest_part_ = 0;
  std::set<std::thread::id> taken_on_;
  std::unique_ptr<net::HttpServer> server_;
  std::unique_ptr<WatchThread> watches_;
};

TEST_F(WatchThreadTest, TheWholeStateArrivesOnTheHomeThreadBeforeItCountsAsSynced) {
  EXPECT_FALSE(watches_->has_synced());
  watches_->Start();
  ASSERT_TRUE(RunUntil([&] { return watches_->has_synced(); }));
  EXPECT_THAT(names_, ElementsAre("a", "b"));
  EXPECT_THAT(taken_on_, ElementsAre(std::this_thread::get_id()));
}

TEST_F(WatchThreadTest, AListThatIsLongComesInPartsAndInOrder) {
  pods_.clear();
  for (int i = 1000; i < 3000; ++i) pods_.push_back(fmt::format("p{}", i));
  watches_->Start();
  ASSERT_TRUE(RunUntil([&] { return watches_->has_synced(); }));
  EXPECT_EQ(names_, pods_);
  EXPECT_LE(largest_part_, 1000U);
}

TEST_F(WatchThreadTest, CatchingUpEndsWhenTheHomeThreadHasWhatTheServerHadMeanwhile) {
  watches_->Start();
  ASSERT_TRUE(RunUntil([&] { return watches_->has_synced(); }));
  version_ = 9;
  pods_.emplace_back("late");
  bool caught_up = false;
  home_.Spawn(Record(watches_->CatchUp(), caught_up));
  ASSERT_TRUE(RunUntil([&] { return caught_up; }));
  EXPECT_THAT(names_, ElementsAre("a", "b", "late"));
}

TEST_F(WatchThreadTest, EndsAtAnyTimeAndTellsNothingAfterwards) {
  watches_->Start();
  ASSERT_TRUE(RunUntil([&] { return !streams_.empty(); }));
  watches_.reset();
  const std::size_t told = names_.size();
  bool later = false;
  loop_.Post([&later] { later = true; });
  ASSERT_TRUE(RunUntil([&] { return later; }));
  EXPECT_EQ(names_.size(), told);
}

}  // namespace
}  // namespace berth::shell
