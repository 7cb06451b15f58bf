#include "net/http_client.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "net/harness.h"

namespace berth::net {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class HttpClientTest : public NetTest {
 protected:
  // A server that says `bytes` to each connection once it has heard a whole header, and then hangs up.
  std::uint16_t ServeBytes(std::string bytes, bool hang_up = true) {
    auto listener =
        Listener::Listen(loop_, {.host = "127.0.0.1"}, [=, this](std::unique_ptr<Transport> transport) {
          const auto peer = std::make_shared<RawPeer>(loop_, std::move(transport));
          peer->Listen();
          peers_.push_back(peer);
          pending_.push_back([=] {
            if (!peer->received.ends_with("\r\n\r\n")) return false;
            peer->Send(bytes);
            if (hang_up) peer->Close();
            return true;
          });
        });
    EXPECT_TRUE(listener.has_value());
    listeners_.push_back(std::move(*listener));
    return listeners_.back()->port();
  }
  NetResult<ClientResponse> GetRaw(HttpClient& client, const std::string& target) {
    std::optional<NetResult<ClientResponse>> result;
    client.Send({.target = target}, [&](NetResult<ClientResponse> got) { result = std::move(got); });
    EXPECT_TRUE(RunUntil([&] {
      std::erase_if(pending_, [](auto& answer) { return answer(); });
      return result.has_value();
    }));
    return std::move(*result);
  }
  static HttpClientOptions To(std::uint16_t port) {
    HttpClientOptions options;
    options.base = {.scheme = "http", .host = "127.0.0.1", .port = port, .path = "", .query = ""};
    return options;
  }
  static void Echo(Request request, Responder responder) {
    responder.Send(200, {{"X-Target", request.target}}, MakeBody(std::move(request.body)));
  }

  std::vector<std::shared_ptr<RawPeer>> peers_;
  std::vector<std::function<bool()>> pending_;
  std::vector<std::unique_ptr<Listener>> listeners_;
};

TEST_F(HttpClientTest, ReusesOneConnectionForCallsInARow) {
  Serve(Echo);
  HttpClientOptions options = ClientOptions();
  options.base.path = "/prefix";
  HttpClient client(loop_, options);
  for (int i = 0; i < 20; ++i) {
    const auto response = Fetch(client, {.method = "POST", .target = "/x?y=z", .body = MakeBody("hello")});
    ASSERT_TRUE(response) << response.error().message;
    EXPECT_EQ(response->body, "hello");
    EXPECT_EQ(*response->headers.Find("x-target"), "/prefix/x?y=z");
  }
  EXPECT_EQ(client.counts().dialed, 1U);
  EXPECT_EQ(client.counts().idle, 1U);
}

TEST_F(HttpClientTest, CallsBeyondTheLimitWaitForAConnection) {
  std::size_t together = 0;
  std::vector<Responder> held;
  Serve([&](Request, Responder responder) { held.push_back(std::move(responder)); });
  HttpClientOptions options = ClientOptions();
  options.connections_max = 2;
  HttpClient client(loop_, options);
  int done = 0;
  for (int i = 0; i < 7; ++i) {
    client.Send({}, [&](NetResult<ClientResponse> response) { done += response.has_value() ? 1 : 0; });
  }
  while (done < 7) {
    const int before = done;
    ASSERT_TRUE(
        RunUntil([&] { return held.size() == std::min<std::size_t>(2, 7U - static_cast<unsigned>(done)); }));
    together = std::max(together, held.size());
    for (Responder& responder : held) responder.Send(200, {});
    const int want = before + static_cast<int>(held.size());
    held.clear();
    ASSERT_TRUE(RunUntil([&] { return done == want; }));
  }
  EXPECT_EQ(together, 2U);
  EXPECT_EQ(client.counts().dialed, 2U);
}

TEST_F(HttpClientTest, AResponseTornAtAnyByteIsAnErrorAndTheWholeOneIsNot) {
  for (const std::string whole :
       {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n"}) {
    for (std::size_t size = 0; size <= whole.size(); ++size) {
      HttpClient client(loop_, To(ServeBytes(whole.substr(0, size))));
      const auto response = GetRaw(client, "/");
      if (size == whole.size()) {
        ASSERT_TRUE(response) << response.error().message;
        EXPECT_EQ(response->body, "hello");
      } else {
        ASSERT_FALSE(response) << size;
        EXPECT_EQ(response.error().kind, ErrorKind::kReset) << size << ": " << response.error().message;
      }
      EXPECT_EQ(client.counts().dialed, 1U) << "a new connection is not stale";
    }
  }
}

TEST_F(HttpClientTest, NonsenseIsAProtocolErrorWithTheUrl) {
  HttpClient client(loop_, To(ServeBytes("SSH-2.0-OpenSSH\r\n\r\n")));
  const auto response = GetRaw(client, "/api?x=1");
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kProtocol);
  EXPECT_THAT(response.error().message, StartsWith("GET http://127.0.0.1:"));
  EXPECT_THAT(response.error().message, HasSubstr("/api?x=1: "));
}

TEST_F(HttpClientTest, SkipsInterimResponses) {
  HttpClient client(loop_, To(ServeBytes("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
                                         "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")));
  const auto response = GetRaw(client, "/");
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body, "ok");
}

// The server closes a kept connection while the next request is on its way: nobody can prevent it.
TEST_F(HttpClientTest, ResendsOnceOnAStaleConnectionIfThatDoesNoHarm) {
  for (const std::string method : {"GET", "POST"}) {
    std::string heard;
    int connection = 0;
    auto listener = Listener::Listen(loop_, {.host = "127.0.0.1"}, [&](std::unique_ptr<Transport> transport) {
      const auto peer = std::make_shared<RawPeer>(loop_, std::move(transport));
      peer->Listen();
      const int number = connection++;
      pending_.push_back([=, requests = 0]() mutable {
        if (!peer->received.ends_with("\r\n\r\n")) return false;
        peer->received.clear();
        // The first connection answers once, and hangs up on its second request.
        if (number == 0 && ++requests == 2) {
          peer->Close();
          return true;
        }
        peer->Send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        return false;
      });
    });
    ASSERT_TRUE(listener.has_value());
    HttpClient client(loop_, To((*listener)->port()));
    std::vector<NetResult<ClientResponse>> results;
    for (std::size_t i = 1; i <= 2; ++i) {
      client.Send({.method = method}, [&](auto got) { results.push_back(std::move(got)); });
      ASSERT_TRUE(RunUntil([&] {
        std::erase_if(pending_, [](auto& answer) { return answer(); });
        return results.size() == i;
      }));
    }
    EXPECT_TRUE(results[0].has_value());
    EXPECT_EQ(results[1].has_value(), method == "GET");
    EXPECT_EQ(connection, method == "GET" ? 2 : 1);
    pending_.clear();
  }
}

TEST_F(HttpClientTest, RefusedConnectionAndUnknownHostAreTold) {
  std::uint16_t free_port = 0;
  {
    auto listener = Listener::Listen(loop_, {.host = "127.0.0.1"}, [](std::unique_ptr<Transport>) {});
    free_port = (*listener)->port();
  }
  HttpClient refused(loop_, To(free_port));
  const auto response = Get(refused, "/");
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kRefused);
  EXPECT_THAT(response.error().message, HasSubstr("Connection refused"));
  HttpClientOptions options = To(80);
  options.base.host = "no-such-host.invalid";
  HttpClient unknown(loop_, options);
  EXPECT_EQ(Get(unknown, "/").error().kind, ErrorKind::kDns);
}

TEST_F(HttpClientTest, APlainCallGoesThroughAProxyAsAWholeUrl) {
  Serve(Echo);
  HttpClientOptions options = To(80);
  options.base.host = "api.invalid";
  options.proxy = ClientOptions().base;
  HttpClient client(loop_, options);
  const auto response = Get(client, "/x");
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(*response->headers.Find("X-Target"), "http://api.invalid/x");
}

TEST_F(HttpClientTest, AProxyThatRefusesOrNeverAnswersIsTold) {
  const auto through = [&](std::uint16_t port) {
    HttpClientOptions options = To(443);
    options.base.scheme = "https";
    options.proxy = To(port).base;
    options.dial_timeout = std::chrono::milliseconds(20);
    return options;
  };
  HttpClient refused(loop_, through(ServeBytes("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno")));
  const auto refusal = GetRaw(refused, "/");
  ASSERT_FALSE(refusal);
  EXPECT_EQ(refusal.error().kind, ErrorKind::kProtocol);
  EXPECT_THAT(refusal.error().message, HasSubstr("proxy: "));
  HttpClient silent(loop_, through(ServeBytes("", false)));
  const auto nothing = GetRaw(silent, "/");
  ASSERT_FALSE(nothing);
  EXPECT_EQ(nothing.error().kind, ErrorKind::kTimeout);
  EXPECT_THAT(nothing.error().message, HasSubstr("proxy: timed out"));
}

TEST_F(HttpClientTest, DeadlineEndsACallThatGetsNoAnswer) {
  std::vector<Responder> held;
  Serve([&](Request, Responder responder) { held.push_back(std::move(responder)); });
  HttpClient client(loop_, ClientOptions());
  const auto response = Fetch(client, {.timeout = std::chrono::milliseconds(5)});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTimeout);
  EXPECT_EQ(client.counts().open, 0U);
}

TEST_F(HttpClientTest, CancelledCallEndsAndItsConnectionIsNotUsedAgain) {
  bool gone = false;
  std::vector<Responder> held;
  Serve([&](Request, Responder responder) {
    responder.OnGone([&] { gone = true; });
    held.push_back(std::move(responder));
  });
  HttpClient client(loop_, ClientOptions());
  std::optional<ErrorKind> kind;
  const auto id = client.Send({}, [&](NetResult<ClientResponse> got) { kind = got.error().kind; });
  ASSERT_TRUE(RunUntil([&] { return held.size() == 1; }));
  client.Cancel(id);
  EXPECT_FALSE(kind.has_value()) << "no callback inside a call";
  ASSERT_TRUE(RunUntil([&] { return kind.has_value() && gone; }));
  EXPECT_EQ(*kind, ErrorKind::kCancelled);
  EXPECT_EQ(client.counts().open, 0U);
}

TEST_F(HttpClientTest, ResponseBeyondItsLimitIsRefused) {
  Serve([](Request, Responder responder) { responder.Send(200, {}, MakeBody(std::string(1000, 'x'))); });
  HttpClient client(loop_, ClientOptions());
  EXPECT_TRUE(Fetch(client, {.response_bytes_max = 1000}));
  const auto response = Fetch(client, {.response_bytes_max = 999});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::kTooLarge);
}

TEST_F(HttpClientTest, StreamsArriveWhileTheyAreWritten) {
  ResponseStream stream;
  Serve([&](Request, Responder responder) { stream = responder.StartStream(200, {{"X", "y"}}); });
  HttpClient client(loop_, ClientOptions());
  int status = 0;
  std::string data;
  std::optional<std::optional<NetError>> end;
  const auto start = [&] {
    status = 0;
    data.clear();
    end.reset();
    client.Stream({}, {.on_headers = [&](int code, const Headers&) { status = code; },
                       .on_data = [&](std::string_view part) { data += part; },
                       .on_end = [&](std::optional<NetError> error) { end = std::move(error); }});
    EXPECT_TRUE(RunUntil([&] { return status == 200; }));
  };
  start();
  stream.Write(MakeBuffer("one"));
  ASSERT_TRUE(RunUntil([&] { return data == "one"; }));
  stream.Write(MakeBuffer(std::string(1'000'000, 'x')));
  ASSERT_TRUE(RunUntil([&] { return data.size() == 1'000'003; }));
  EXPECT_FALSE(end.has_value());
  stream.Finish();
  ASSERT_TRUE(RunUntil([&] { return end.has_value(); }));
  EXPECT_FALSE(end->has_value());

  start();
  stream.Write(MakeBuffer("part"));
  ASSERT_TRUE(RunUntil([&] { return data == "part"; }));
  stream.Abort();
  ASSERT_TRUE(RunUntil([&] { return end.has_value(); }));
  ASSERT_TRUE(end->has_value());
  EXPECT_EQ((*end)->kind, ErrorKind::kReset);
  EXPECT_EQ(client.counts().dialed, 1U);
}

TEST_F(HttpClientTest, AThousandStreamsEachGetEveryEvent) {
  constexpr std::size_t kStreams = 1000;
  std::vector<ResponseStream> streams;
  Serve([&](Request, Responder responder) { streams.push_back(responder.StartStream(200, {})); });
  HttpClient client(loop_, ClientOptions());
  std::size_t bytes = 0;
  std::size_t ended = 0;
  for (std::size_t i = 0; i < kStreams; ++i) {
    client.Stream({}, {.on_headers = [](int, const Headers&) {},
                       .on_data = [&](std::string_view part) { bytes += part.size(); },
                       .on_end = [&](std::optional<NetError> error) { ended += error ? 0 : 1; }});
  }
  ASSERT_TRUE(RunUntil([&] { return streams.size() == kStreams; }));
  const Buffer event = MakeBuffer(std::string(500, 'e'));
  for (int i = 0; i < 3; ++i) {
    for (ResponseStream& stream : streams) EXPECT_TRUE(stream.Write(event));
  }
  ASSERT_TRUE(RunUntil([&] { return bytes == kStreams * 3 * 500; }));
  for (ResponseStream& stream : streams) stream.Finish();
  EXPECT_TRUE(RunUntil([&] { return ended == kStreams; }));
  EXPECT_EQ(event.use_count(), 1) << "no connection keeps what it has sent";
}

TEST_F(HttpClientTest, CallbackMayDestroyTheClient) {
  Serve(Echo);
  auto client = std::make_unique<HttpClient>(loop_, ClientOptions());
  client->Send({}, [&](auto) { client.reset(); });
  EXPECT_TRUE(RunUntil([&] { return client == nullptr; }));
  EXPECT_TRUE(RunUntil([&] { return server_->connection_count() == 0; }));
}

TEST_F(HttpClientTest, PostedWorkFromAnotherThreadRunsOnTheLoop) {
  Serve(Echo);
  HttpClient client(loop_, ClientOptions());
  int done = 0;
  std::jthread other([&] {
    for (int i = 0; i < 100; ++i) {
      loop_.Post([&] { client.Send({}, [&](NetResult<ClientResponse> got) { done += got ? 1 : 0; }); });
    }
  });
  EXPECT_TRUE(RunUntil([&] { return done == 100; }));
}

}  // namespace
}  // namespace berth::net
