#include "client/http_transport.h"

#include <memory>
#include <optional>
#include <string>

#include "client/api_client.h"
#include "client/harness.h"
#include "client/process_runner.h"
#include "client/reflector.h"
#include "gtest/gtest.h"

#include "net/http_server.h"
#include "wire/watch_frame.h"

// The whole way through sockets, on the machine's clock: one loop for both ends.
namespace berth::client {
namespace {

class HttpTransportTest : public testing::Test {
 protected:
  template <class Condition>
  [[nodiscard]] bool RunUntil(Condition condition) {
    bool late = false;
    net::Timer limit(loop_);
    limit.StartAfter(std::chrono::seconds(60), [&late] { late = true; });
    while (!condition() && !late) loop_.RunOne();
    return condition();
  }
  void Serve(net::HttpServer::Handler handler) {
    auto server = net::HttpServer::Listen(loop_, {}, std::move(handler));
    ASSERT_TRUE(server.has_value());
    server_ = std::move(*server);
    net::HttpClientOptions options;
    options.base = {.scheme = "http", .host = "127.0.0.1", .port = server_->port()};
    transport_ = std::make_unique<HttpTransport>(executor_, options);
    client_ = std::make_unique<ApiClient>(executor_.executor(), *transport_, nobody_,
                                          ApiClientOptions{.user_agent = "test"});
  }
  template <class T>
  static base::Task<void> Keep(base::Task<T> task, std::optional<T>& result) {
    result.emplace(co_await std::move(task));
  }
  template <class T>
  T Await(base::Task<T> task) {
    std::optional<T> result;
    executor_.Spawn(Keep(std::move(task), result));
    EXPECT_TRUE(RunUntil([&] { return result.has_value(); }));
    return std::move(*result);
  }

  net::EventLoop loop_;
  std::unique_ptr<net::HttpServer> server_;
  Nobody nobody_;
  std::unique_ptr<HttpTransport> transport_;
  std::unique_ptr<ApiClient> client_;
  LoopExecutor executor_{loop_};
};

TEST_F(HttpTransportTest, RequestGoesThereAndBack) {
  Serve([](net::Request request, net::Responder responder) {
    responder.Send(200, {{"Content-Type", "application/json"}},
                   net::MakeBody("{\"path\":\"" + request.target + "\"}"));
  });
  const auto response = Await(client_->Send({.path = "/x", .query = {{"a", "b"}}}));
  ASSERT_TRUE(response.has_value()) << response.error().message;
  EXPECT_EQ(response->body, "{\"path\":\"/x?a=b\"}");
}

TEST_F(HttpTransportTest, ReflectorFollowsARealStream) {
  net::ResponseStream stream;
  Serve([&](net::Request, net::Responder responder) {
    stream = responder.StartStream(200, {{"Content-Type", "application/json"}});
  });
  api::SharedParts shared;
  int events = 0;
  Reflector nodes(*client_, shared, {.resource = Resource::kNodes},
                  [&](EventBatch batch) { events += static_cast<int>(batch.events.size()); });
  base::TaskSet tasks(executor_.executor());
  tasks.Spawn(nodes.Run());
  executor_.Wake();
  ASSERT_TRUE(RunUntil([&] { return stream.is_open(); }));
  const auto line = [](wire::WatchType type, const std::string& meta) {
    return wire::WriteWatchLine(type, R"({"kind":"Node","apiVersion":"v1","metadata":{)" + meta + "}}");
  };
  stream.Write(
      net::MakeBuffer(line(wire::WatchType::kAdded, R"("name":"a","resourceVersion":"1")") +
                      line(wire::WatchType::kBookmark,
                           R"("resourceVersion":"2","annotations":{"k8s.io/initial-events-end":"true"})")));
  ASSERT_TRUE(RunUntil([&] { return nodes.has_synced(); }));
  EXPECT_EQ(events, 1);
  stream.Write(net::MakeBuffer(line(wire::WatchType::kDeleted, R"("name":"a","resourceVersion":"3")")));
  EXPECT_TRUE(RunUntil([&] { return events == 2; }));
}

TEST_F(HttpTransportTest, DestroyingATaskEndsItsRequest) {
  bool gone = false;
  std::optional<net::Responder> held;
  Serve([&](net::Request, net::Responder responder) {
    responder.OnGone([&] { gone = true; });
    held.emplace(std::move(responder));
  });
  std::optional<ApiResult<ApiResponse>> result;
  {
    base::TaskSet tasks(executor_.executor());
    tasks.Spawn(Keep(client_->Send({.path = "/x"}), result));
    executor_.Wake();
    ASSERT_TRUE(RunUntil([&] { return held.has_value(); }));
  }
  EXPECT_TRUE(RunUntil([&] { return gone; }));
  EXPECT_FALSE(result.has_value());
}

TEST_F(HttpTransportTest, AWatchWithoutAnAnswerTimesOut) {
  std::optional<net::Responder> held;
  Serve([&](net::Request, net::Responder responder) { held.emplace(std::move(responder)); });
  const auto opened = Await(transport_->Open({.timeout = std::chrono::milliseconds(5)}));
  ASSERT_FALSE(opened.has_value());
  EXPECT_EQ(opened.error().kind, net::ErrorKind::kTimeout);
}

TEST_F(HttpTransportTest, ProcessesAreRunTimedAndKilled) {
  SystemProcesses processes(executor_);
  const auto said = Await(processes.Run({.program = "/bin/sh",
                                         .arguments = {"-c", "printf '%s' \"$GREETING\"; exit 3"},
                                         .environment = {{"GREETING", "hello"}}}));
  EXPECT_EQ(said.end, CommandOutcome::End::kExited);
  EXPECT_EQ(said.exit_code, 3);
  EXPECT_EQ(said.output, "hello");
  EXPECT_EQ(Await(processes.Run({.program = "/no/such/program"})).end, CommandOutcome::End::kNotFound);
  const auto slow = Await(processes.Run(
      {.program = "/bin/sleep", .arguments = {"600"}, .timeout = std::chrono::milliseconds(10)}));
  EXPECT_EQ(slow.end, CommandOutcome::End::kTimedOut);
}

}  // namespace
}  // namespace berth::client
