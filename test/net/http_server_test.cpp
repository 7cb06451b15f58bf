#include "net/http_server.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "net/server_harness.h"

namespace berth::net {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

class HttpServerTest : public ServerTest {
 protected:
  static void Echo(Request request, Responder responder) {
    responder.Send(200, {{"X-Path", std::string(request.path())}}, MakeBody(std::move(request.body)));
  }
};

TEST_F(HttpServerTest, AnswersPipelinedRequestsInOrderEvenIfAnsweredLater) {
  std::vector<std::pair<std::string, Responder>> held;
  Serve(
      [&](Request request, Responder responder) { held.emplace_back(request.target, std::move(responder)); });
  const auto peer = Connect();
  peer->Send("GET /1 HTTP/1.1\r\n\r\nGET /2 HTTP/1.1\r\n\r\nGET /3 HTTP/1.1\r\nConnection: close\r\n\r\n");
  for (int i = 1; i <= 3; ++i) {
    ASSERT_TRUE(RunUntil([&] { return held.size() == 1; }));
    EXPECT_EQ(held.front().first, "/" + std::to_string(i));
    Responder responder = std::move(held.front().second);
    held.clear();
    responder.Send(200, {}, MakeBody("answer " + std::to_string(i)));
  }
  ASSERT_TRUE(RunUntil([&] { return peer->ended; }));
  const std::size_t first = peer->received.find("answer 1");
  const std::size_t second = peer->received.find("answer 2");
  const std::size_t third = peer->received.find("answer 3");
  EXPECT_LT(first, second);
  EXPECT_LT(second, third);
  EXPECT_NE(third, std::string::npos);
}

TEST_F(HttpServerTest, SendsABodyOfManyBuffersWhole) {
  Body body;
  std::string want;
  for (int i = 0; i < 1000; ++i) {
    want += std::string(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26));
    body.push_back(MakeBuffer(std::string(static_cast<std::size_t>(i), static_cast<char>('a' + i % 26))));
  }
  Serve([&](Request, Responder responder) { responder.Send(200, {}, body); });
  HttpClient client(loop_, ClientOptions());
  const auto response = Get(client, "/");
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, want);
}

TEST_F(HttpServerTest, RefusesOversizedRequestsWithoutCallingTheHandler) {
  int calls = 0;
  HttpServerOptions options;
  options.limits = {.header_bytes_max = 1000, .body_bytes_max = 100};
  Serve([&](Request, Responder) { ++calls; }, options);
  const auto big_body = Connect();
  big_body->Send("POST / HTTP/1.1\r\nContent-Length: 101\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return big_body->ended; }));
  EXPECT_THAT(big_body->received, StartsWith("HTTP/1.1 413 "));
  const auto big_header = Connect();
  big_header->Send("GET / HTTP/1.1\r\nX: " + std::string(2000, 'x'));
  ASSERT_TRUE(RunUntil([&] { return big_header->ended; }));
  EXPECT_THAT(big_header->received, StartsWith("HTTP/1.1 431 "));
  const auto nonsense = Connect();
  nonsense->Send("\x16\x03\x01\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return nonsense->ended; }));
  EXPECT_THAT(nonsense->received, StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(calls, 0);
}

TEST_F(HttpServerTest, CutsOffAClientThatNeverFinishesItsHeader) {
  HttpServerOptions options;
  options.header_timeout = std::chrono::milliseconds(5);
  Serve(Echo, options);
  const auto peer = Connect();
  peer->Send("GET / HTTP/1.1\r\nX: ");
  ASSERT_TRUE(RunUntil([&] { return peer->ended; }));
  EXPECT_EQ(peer->received, "");
  EXPECT_TRUE(RunUntil([&] { return server_->connection_count() == 0; }));
}

TEST_F(HttpServerTest, ClosesAnIdleConnectionButNotOneThatWaitsForItsAnswer) {
  HttpServerOptions options;
  options.idle_timeout = std::chrono::milliseconds(5);
  std::vector<Responder> held;
  Serve([&](Request, Responder responder) { held.push_back(std::move(responder)); }, options);
  const auto waiting = Connect();
  waiting->Send("GET /wait HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return held.size() == 1; }));
  const auto idle = Connect();
  idle->Send("GET /idle HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return held.size() == 2; }));
  held[1].Send(204, {});
  ASSERT_TRUE(RunUntil([&] { return idle->ended; }));
  EXPECT_FALSE(waiting->ended);
  held[0].Send(204, {});
  ASSERT_TRUE(RunUntil([&] { return waiting->ended; }));
  EXPECT_THAT(waiting->received, StartsWith("HTTP/1.1 204 No Content\r\n"));
}

TEST_F(HttpServerTest, CutsOffAClientThatTakesNoAnswerEvenIfItGoesOnAsking) {
  HttpServerOptions options;
  options.write_timeout = std::chrono::milliseconds(20);
  options.high_water_bytes = 32'000'000;
  ResponseStream stream;
  bool gone = false;
  Serve(
      [&](Request request, Responder responder) {
        if (request.path() == "/large") {
          // More than both sockets hold, less than what makes the server stop reading.
          responder.Send(200, {}, MakeBody(std::string(16'000'000, 'x')));
          return;
        }
        stream = responder.StartStream(200, {});
        stream.OnGone([&] { gone = true; });
      },
      options);
  const auto peer = Connect(true);
  peer->Send("GET /large HTTP/1.1\r\n\r\nGET /watch HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return gone; }));
  EXPECT_EQ(server_->connection_count(), 0U);
}

TEST_F(HttpServerTest, StreamsChunksAndMergesThoseOfOneTurn) {
  ResponseStream stream;
  Serve([&](Request, Responder responder) { stream = responder.StartStream(200, {{"X", "y"}}); });
  const auto peer = Connect();
  peer->Send("GET /watch HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return peer->received.ends_with("\r\n\r\n"); }));
  EXPECT_THAT(peer->received, HasSubstr("Transfer-Encoding: chunked\r\n"));
  const Buffer event = MakeBuffer("event");
  EXPECT_TRUE(stream.Write(event));
  EXPECT_TRUE(stream.Write(event));
  EXPECT_EQ(stream.queued_bytes(), 2 * std::string_view("5\r\nevent\r\n").size());
  stream.Finish();
  ASSERT_TRUE(RunUntil([&] { return peer->received.ends_with("0\r\n\r\n"); }));
  EXPECT_THAT(peer->received, EndsWith("\r\n\r\n5\r\nevent\r\n5\r\nevent\r\n0\r\n\r\n"));
  EXPECT_FALSE(peer->ended);
}

TEST_F(HttpServerTest, Http10StreamEndsWithTheConnection) {
  Serve([&](Request, Responder responder) {
    ResponseStream stream = responder.StartStream(200, {});
    stream.Write(MakeBuffer("plain"));
    stream.Finish();
  });
  const auto peer = Connect();
  peer->Send("GET / HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return peer->ended; }));
  EXPECT_THAT(peer->received, EndsWith("\r\n\r\nplain"));
}

TEST_F(HttpServerTest, TellsWhenTheReaderOfAStreamIsGone) {
  Serve(Watches());
  const auto peer = Connect();
  peer->Send("GET /watch HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return !peer->received.empty(); }));
  peer->Close();
  ASSERT_TRUE(RunUntil([&] { return gone_.size() == 1; }));
  EXPECT_FALSE(streams_[0].Write(MakeBuffer("late")));
  EXPECT_FALSE(streams_[0].is_open());
}

TEST_F(HttpServerTest, SaysThatAReaderIsBehindTheHighWaterMark) {
  ResponseStream stream;
  HttpServerOptions options;
  options.high_water_bytes = 100;
  Serve([&](Request, Responder responder) { stream = responder.StartStream(200, {}); }, options);
  const auto peer = Connect();
  peer->Send("GET /watch HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return stream.is_open(); }));
  EXPECT_TRUE(stream.Write(MakeBuffer("x")));
  EXPECT_FALSE(stream.Write(MakeBuffer(std::string(100, 'x'))));
  stream.Abort();
  ASSERT_TRUE(RunUntil([&] { return peer->ended; }));
  EXPECT_FALSE(peer->received.ends_with("0\r\n\r\n"));
}

TEST_F(HttpServerTest, AsksForTheBodyOfAClientThatWaitsForIt) {
  Serve(Echo);
  const auto peer = Connect();
  peer->Send("POST / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return peer->received == "HTTP/1.1 100 Continue\r\n\r\n"; }));
  peer->Send("body");
  EXPECT_TRUE(RunUntil([&] { return peer->received.ends_with("\r\n\r\nbody"); }));
}

TEST_F(HttpServerTest, AnswersHeadWithTheLengthAndNoBody) {
  Serve([](Request, Responder responder) { responder.Send(200, {}, MakeBody("12345")); });
  HttpClient client(loop_, ClientOptions());
  const auto response = Fetch(client, {.method = "HEAD"});
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(*response->headers.Find("content-length"), "5");
  EXPECT_EQ(response->body, "");
  EXPECT_TRUE(Fetch(client, {.method = "HEAD"}));
  EXPECT_EQ(client.counts().dialed, 1U);
}

TEST_F(HttpServerTest, AnUnansweredRequestGets500) {
  Serve([](Request, Responder) {});
  HttpClient client(loop_, ClientOptions());
  const auto response = Get(client, "/");
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 500);
}

TEST_F(HttpServerTest, DrainLetsTheRequestInHandFinishAndClosesIdleConnections) {
  std::vector<Responder> held;
  Serve([&](Request, Responder responder) { held.push_back(std::move(responder)); });
  const auto idle = Connect();
  const auto busy = Connect();
  busy->Send("GET / HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return held.size() == 1 && server_->connection_count() == 2; }));
  bool drained = false;
  server_->Drain(std::chrono::hours(1), [&] { drained = true; });
  ASSERT_TRUE(RunUntil([&] { return idle->ended; }));
  EXPECT_FALSE(drained);
  held[0].Send(200, {}, MakeBody("done"));
  ASSERT_TRUE(RunUntil([&] { return busy->ended; }));
  EXPECT_THAT(busy->received, EndsWith("done"));
  busy->Close();
  EXPECT_TRUE(RunUntil([&] { return drained; }));
}

TEST_F(HttpServerTest, DrainCutsOffStreamsAfterItsGrace) {
  Serve(Watches());
  const auto peer = Connect();
  peer->Send("GET / HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return streams_.size() == 1; }));
  bool drained = false;
  server_->Drain(std::chrono::milliseconds(1), [&] { drained = true; });
  EXPECT_TRUE(RunUntil([&] { return drained && gone_.size() == 1; }));
}

TEST_F(HttpServerTest, ListeningOnATakenPortIsAnErrorThatNamesIt) {
  Serve(Echo);
  HttpServerOptions options;
  options.port = server_->port();
  const auto second = HttpServer::Listen(loop_, options, Echo);
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, StartsWith("listen tcp 127.0.0.1:" + std::to_string(server_->port()) +
                                                 ": bind: address already in use"));
}

TEST_F(HttpServerTest, ServersThatShareAPortMayListenBesideEachOther) {
  HttpServerOptions options;
  options.shares_port = true;
  Serve(Echo, options);
  options.port = server_->port();
  EXPECT_TRUE(HttpServer::Listen(loop_, options, Echo).has_value());
  options.shares_port = false;
  EXPECT_FALSE(HttpServer::Listen(loop_, options, Echo).has_value());
}

// Whoever holds connections without using them must not keep a probe from getting through.
TEST_F(HttpServerTest, ANewcomerTakesThePlaceOfTheConnectionThatWasIdleLongest) {
  HttpServerOptions options;
  options.connections_max = 3;
  std::vector<Responder> held;
  Serve(
      [&](Request request, Responder responder) {
        if (request.path() == "/held") {
          held.push_back(std::move(responder));
        } else {
          Echo(std::move(request), std::move(responder));
        }
      },
      options);
  const auto answered = Connect();
  answered->Send("GET /held HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return held.size() == 1; }));
  const auto asking = Connect();
  asking->Send("GET /slow HTTP/1.1\r\nX: ");
  const auto idle = Connect();
  idle->Send("GET /idle HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return idle->received.contains("/idle"); }));
  ASSERT_EQ(server_->connection_count(), 3U);

  const auto probe = Connect();
  probe->Send("GET /probe HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return probe->received.contains("/probe"); }));
  EXPECT_TRUE(RunUntil([&] { return idle->ended; }));
  EXPECT_FALSE(asking->ended);
  EXPECT_EQ(server_->connection_count(), 3U);
  EXPECT_EQ(server_->dropped_count(), 1U);

  held[0].Send(200, {}, MakeBody("late"));
  EXPECT_TRUE(RunUntil([&] { return answered->received.contains("late"); }));
}

TEST_F(HttpServerTest, ANewcomerIsTurnedAwayIfEverybodyWaitsForAnAnswer) {
  HttpServerOptions options;
  options.connections_max = 2;
  std::vector<Responder> held;
  Serve([&](Request, Responder responder) { held.push_back(std::move(responder)); }, options);
  const auto first = Connect();
  const auto second = Connect();
  first->Send("GET / HTTP/1.1\r\n\r\n");
  second->Send("GET / HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return held.size() == 2; }));
  const auto late = Connect();
  EXPECT_TRUE(RunUntil([&] { return late->ended; }));
  EXPECT_EQ(late->received, "");
  for (Responder& responder : held) responder.Send(204, {});
  EXPECT_TRUE(RunUntil([&] { return first->received.contains("204") && second->received.contains("204"); }));
}

TEST_F(HttpServerTest, HandlerMayDestroyTheServer) {
  Serve([&](Request, Responder) { server_.reset(); });
  const auto peer = Connect();
  peer->Send("GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n");
  EXPECT_TRUE(RunUntil([&] { return peer->ended; }));
}

}  // namespace
}  // namespace berth::net
