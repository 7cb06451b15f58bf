#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "net/http2_frames.h"
#include "net/http2_server_session.h"
#include "net/server_harness.h"

// The server with clients that speak HTTP/2.
namespace berth::net {
namespace {

using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

class Http2ServerTest : public ServerTest {
 protected:
  HttpServer& ServeTls(HttpServer::Handler handler, HttpServerOptions options = {}) {
    const KeyPair pair =
        authority_.Issue({.subject = {.common_name = "server", .organizations = {}}, .names = {"127.0.0.1"}});
    auto tls = TlsContext::ForServer({.certificate = Pem(pair.certificate_pem),
                                      .key = Pem(pair.key_pem),
                                      .client_authorities = {authority_.pem()},
                                      .offer_http2 = true});
    EXPECT_TRUE(tls) << tls.error().message;
    options.tls = *tls;
    return Serve(std::move(handler), std::move(options));
  }
  HttpClientOptions TlsOptions(bool offer_http2 = true) const {
    const KeyPair pair = authority_.Issue({.subject = {.common_name = "somebody", .organizations = {}},
                                           .names = {},
                                           .use = CertificateUse::kClient});
    HttpClientOptions options = ClientOptions("https");
    options.tls = *TlsContext::ForClient({.authority = authority_.pem(),
                                          .certificate = Pem(pair.certificate_pem),
                                          .key = Pem(pair.key_pem),
                                          .offer_http2 = offer_http2});
    return options;
  }
  std::shared_ptr<RawPeer> Greet(const std::string& settings = SettingsFrame()) {
    auto peer = Connect();
    peer->Send(std::string(kHttp2Preface) + settings);
    return peer;
  }
  static bool Has(const RawPeer& peer, std::uint8_t type, std::uint32_t stream = 0) {
    return !FramesOf(peer.received, type, stream).empty();
  }

  const Authority authority_ = Authority::Make("right");
};

TEST_F(Http2ServerTest, ManyRequestsAtOnceShareOneConnectionAndTheHandler) {
  std::string who;
  ServeTls([&](Request request, Responder responder) {
    who = request.peer ? request.peer->subject.common_name : "nobody";
    responder.Send(200, {{"X-Method", request.method}},
                   MakeBody(request.target + " " + request.body + " " + *request.headers.Find("Host")));
  });
  HttpClient client(loop_, TlsOptions());
  int answered = 0;
  for (int i = 0; i < 200; ++i) {
    const std::string body(static_cast<std::size_t>(i) * 1000, 'b');
    const std::string want =
        "/" + std::to_string(i) + "?q " + body + " 127.0.0.1:" + std::to_string(server_->port());
    client.Send({.method = "POST", .target = "/" + std::to_string(i) + "?q", .body = MakeBody(body)},
                [&answered, want](NetResult<ClientResponse> got) {
                  ASSERT_TRUE(got) << got.error().message;
                  EXPECT_EQ(got->status, 200);
                  EXPECT_EQ(got->body, want);
                  EXPECT_EQ(*got->headers.Find("x-method"), "POST");
                  ++answered;
                });
  }
  ASSERT_TRUE(RunUntil([&] { return answered == 200; }));
  EXPECT_EQ(client.counts().dialed, 1U);
  EXPECT_EQ(server_->connection_count(), 1U);
  EXPECT_EQ(who, "somebody");
}

TEST_F(Http2ServerTest, AClientWithoutItGetsHttp1FromTheSamePort) {
  ServeTls([](Request, Responder responder) { responder.Send(200, {}, MakeBody("answer")); });
  HttpClient old(loop_, TlsOptions(false));
  const auto response = Get(old, "/");
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, "answer");
}

TEST_F(Http2ServerTest, ALargeAnswerArrivesWhole) {
  Body body;
  std::string want;
  for (int i = 0; i < 1000; ++i) {
    want += std::string(9999, static_cast<char>('a' + i % 26));
    body.push_back(MakeBuffer(std::string(9999, static_cast<char>('a' + i % 26))));
  }
  ServeTls([&](Request, Responder responder) { responder.Send(200, {}, body); });
  HttpClient client(loop_, TlsOptions());
  const auto response = Get(client, "/");
  ASSERT_TRUE(response) << response.error().message;
  EXPECT_EQ(response->body, want);
  const auto head = Fetch(client, {.method = "HEAD"});
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_EQ(*head->headers.Find("content-length"), std::to_string(want.size()));
  EXPECT_EQ(head->body, "");
}

TEST_F(Http2ServerTest, APlainPortTellsTheProtocolsApartByTheirFirstBytes) {
  Serve([](Request request, Responder responder) { responder.Send(200, {}, MakeBody(request.method)); });
  const auto whole = Greet();
  whole->Send(GetFrame(1));
  ASSERT_TRUE(RunUntil([&] { return Has(*whole, NGHTTP2_DATA, 1); }));
  const auto parts = Connect();
  parts->Send(kHttp2Preface.substr(0, 2));
  loop_.RunOne();
  parts->Send(std::string(kHttp2Preface.substr(2)) + SettingsFrame() + GetFrame(1));
  ASSERT_TRUE(RunUntil([&] { return Has(*parts, NGHTTP2_DATA, 1); }));
  const auto old = Connect();
  old->Send("P");
  ASSERT_TRUE(RunUntil([&] { return server_->connection_count() == 3; }));
  old->Send("OST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return old->received.ends_with("POST"); }));
  EXPECT_THAT(old->received, StartsWith("HTTP/1.1 200 OK\r\n"));
}

TEST_F(Http2ServerTest, AWatchThatIsCancelledLeavesTheOthersAlone) {
  Serve(Watches());
  const auto peer = Greet();
  peer->Send(GetFrame(1) + GetFrame(3));
  ASSERT_TRUE(RunUntil([&] { return streams_.size() == 2; }));
  peer->Send(ResetFrame(1));
  ASSERT_TRUE(RunUntil([&] { return gone_.size() == 1; }));
  EXPECT_EQ(gone_[0], 0U);
  EXPECT_FALSE(streams_[0].Write(MakeBuffer("late")));
  EXPECT_TRUE(streams_[1].Write(MakeBuffer("event")));
  ASSERT_TRUE(RunUntil([&] { return Has(*peer, NGHTTP2_DATA, 3); }));
  streams_[1].Abort();
  ASSERT_TRUE(RunUntil([&] { return Has(*peer, NGHTTP2_RST_STREAM, 3); }));
  EXPECT_FALSE(peer->ended);
}

TEST_F(Http2ServerTest, EveryStreamHearsThatTheConnectionIsGone) {
  Serve(Watches());
  const auto peer = Greet();
  peer->Send(GetFrame(1) + GetFrame(3));
  ASSERT_TRUE(RunUntil([&] { return streams_.size() == 2; }));
  peer->Close();
  ASSERT_TRUE(RunUntil([&] { return gone_.size() == 2; }));
  EXPECT_EQ(server_->connection_count(), 0U);
}

TEST_F(Http2ServerTest, ASeveredConnectionEndsInTheMiddleOfAFrame) {
  Serve(Watches());
  const auto peer = Greet();
  peer->Send(GetFrame(1) + GetFrame(3));
  ASSERT_TRUE(RunUntil([&] { return Has(*peer, NGHTTP2_HEADERS, 3); }));
  streams_[0].Write(MakeBuffer("an event"));
  streams_[0].Sever();
  EXPECT_FALSE(streams_[0].is_open());
  ASSERT_TRUE(RunUntil([&] { return peer->ended && !gone_.empty(); }));
  EXPECT_EQ(gone_, std::vector<std::size_t>{1});  // whoever severs it knows
  std::size_t rest = 0;
  ParseFrames(peer->received, &rest);
  EXPECT_GT(rest, 0U);
  EXPECT_FALSE(Has(*peer, NGHTTP2_GOAWAY));
}

TEST_F(Http2ServerTest, DrainSaysSoAndLetsWhatIsInHandFinish) {
  Serve(Watches());
  const auto peer = Greet();
  peer->Send(GetFrame(1));
  ASSERT_TRUE(RunUntil([&] { return Has(*peer, NGHTTP2_HEADERS, 1); }));
  const auto idle = Greet();
  ASSERT_TRUE(RunUntil([&] { return Has(*idle, NGHTTP2_SETTINGS); }));
  bool drained = false;
  server_->Drain(std::chrono::hours(1), [&] { drained = true; });
  ASSERT_TRUE(RunUntil([&] { return Has(*peer, NGHTTP2_GOAWAY) && idle->ended; }));
  EXPECT_TRUE(Has(*idle, NGHTTP2_GOAWAY));
  EXPECT_FALSE(peer->ended);
  streams_[0].Write(MakeBuffer("last"));
  streams_[0].Finish();
  ASSERT_TRUE(RunUntil([&] { return peer->ended; }));
  ASSERT_THAT(FramesOf(peer->received, NGHTTP2_DATA, 1), SizeIs(testing::Ge(1)));
  EXPECT_EQ(FramesOf(peer->received, NGHTTP2_DATA, 1)[0].payload, "last");
  EXPECT_FALSE(drained);
  peer->Close();
  idle->Close();
  EXPECT_TRUE(RunUntil([&] { return drained; }));
}

TEST_F(Http2ServerTest, AnAnswerMayBeTheLastOfItsConnection) {
  std::vector<Responder> held;
  std::vector<bool> is_http2;
  Serve([&](Request request, Responder responder) {
    is_http2.push_back(request.is_http2);
    held.push_back(std::move(responder));
  });
  const auto peer = Greet(SettingsFrame() + GetFrame(1) + GetFrame(3));
  const auto old = Connect();
  old->Send("GET / HTTP/1.1\r\n\r\n");
  ASSERT_TRUE(RunUntil([&] { return held.size() == 3; }));
  for (Responder& responder : held) responder.EndConnection();
  ASSERT_TRUE(RunUntil([&] { return Has(*peer, NGHTTP2_GOAWAY); }));
  EXPECT_FALSE(peer->ended);
  for (Responder& responder : held) responder.Send(200, {}, MakeBody("last"));
  ASSERT_TRUE(RunUntil([&] { return peer->ended && old->ended; }));
  EXPECT_TRUE(Has(*peer, NGHTTP2_DATA, 1) && Has(*peer, NGHTTP2_DATA, 3));
  EXPECT_THAT(old->received, HasSubstr("Connection: close\r\n"));
  EXPECT_EQ(std::ranges::count(is_http2, true), 2);
}

TEST_F(Http2ServerTest, AServerThatEndsSaysGoodbye) {
  Serve(Watches());
  const auto peer = Greet();
  peer->Send(GetFrame(1));
  ASSERT_TRUE(RunUntil([&] { return Has(*peer, NGHTTP2_HEADERS, 1); }));
  server_.reset();
  ASSERT_TRUE(RunUntil([&] { return peer->ended; }));
  EXPECT_TRUE(Has(*peer, NGHTTP2_GOAWAY));
  EXPECT_TRUE(gone_.empty());
}

TEST_F(Http2ServerTest, PingsDoNotKeepAnIdleConnection) {
  HttpServerOptions options;
  options.idle_timeout = std::chrono::milliseconds(20);
  Serve([](Request, Responder responder) { responder.Send(204, {}); }, options);
  const auto peer = Greet();
  peer->Send(GetFrame(1));
  Timer ping(loop_);
  std::function<void()> again = [&] {
    if (!peer->ended) peer->Send(PingFrame());
    ping.StartAfter(std::chrono::milliseconds(5), again);
  };
  again();
  ASSERT_TRUE(RunUntil([&] { return peer->ended; }));
  EXPECT_TRUE(Has(*peer, NGHTTP2_HEADERS, 1));
  EXPECT_TRUE(Has(*peer, NGHTTP2_GOAWAY));
}

TEST_F(Http2ServerTest, ARequestThatIsNeverFinishedIsGivenUpAndTheWatchBesideItIsNot) {
  HttpServerOptions options;
  options.idle_timeout = std::chrono::milliseconds(20);
  Serve(Watches(), options);
  const auto peer = Greet();
  peer->Send(GetFrame(1) + PostFrame(3));
  ASSERT_TRUE(RunUntil([&] { return Has(*peer, NGHTTP2_RST_STREAM, 3); }));
  EXPECT_FALSE(peer->ended);
  ASSERT_THAT(streams_, SizeIs(1));
  EXPECT_TRUE(streams_[0].is_open());
}

TEST_F(Http2ServerTest, AConnectionThatSaysNothingIsClosed) {
  HttpServerOptions options;
  options.header_timeout = std::chrono::milliseconds(5);
  Serve(Watches(), options);
  const auto peer = Connect();
  peer->Send(kHttp2Preface);
  ASSERT_TRUE(RunUntil([&] { return peer->ended; }));
}

TEST_F(Http2ServerTest, AStreamWhoseReaderTakesNothingIsResetInTime) {
  HttpServerOptions options;
  options.write_timeout = std::chrono::milliseconds(20);
  Serve(Watches(), options);
  const auto peer = Greet(SettingsFrame(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 4));
  peer->Send(GetFrame(1) + GetFrame(3));
  ASSERT_TRUE(RunUntil([&] { return streams_.size() == 2; }));
  streams_[0].Write(MakeBuffer("much more"));
  streams_[1].Write(MakeBuffer("four"));
  ASSERT_TRUE(RunUntil([&] { return gone_.size() == 1; }));
  EXPECT_EQ(gone_[0], 0U);
  ASSERT_TRUE(RunUntil([&] { return Has(*peer, NGHTTP2_RST_STREAM, 1); }));
  EXPECT_TRUE(streams_[1].is_open());
  EXPECT_FALSE(peer->ended);
}

TEST_F(Http2ServerTest, AFloodIsAnsweredWithACallForCalm) {
  Serve(Watches());
  const auto peer = Greet();
  peer->Send(GetFrame(1));
  ASSERT_TRUE(RunUntil([&] { return streams_.size() == 1; }));
  std::string flood;
  for (std::uint32_t stream = 3; stream < 3000; stream += 2) flood += GetFrame(stream) + ResetFrame(stream);
  peer->Send(flood);
  ASSERT_TRUE(RunUntil([&] { return peer->ended; }));
  const auto goaway = FramesOf(peer->received, NGHTTP2_GOAWAY);
  ASSERT_THAT(goaway, SizeIs(1));
  EXPECT_EQ(goaway[0].code(), std::uint32_t{NGHTTP2_ENHANCE_YOUR_CALM});
  EXPECT_EQ(gone_, std::vector<std::size_t>{0});
  EXPECT_LE(streams_.size(), 1000U);
}

TEST_F(Http2ServerTest, HandlerMayDestroyTheServer) {
  Serve([&](Request, Responder) { server_.reset(); });
  const auto peer = Greet(SettingsFrame() + GetFrame(1) + GetFrame(3));
  EXPECT_TRUE(RunUntil([&] { return peer->ended; }));
}

TEST_F(Http2ServerTest, AnIdleConnectionMakesRoomForANewcomer) {
  HttpServerOptions options;
  options.connections_max = 2;
  Serve(Watches(), options);
  const auto watching = Greet(SettingsFrame() + GetFrame(1));
  ASSERT_TRUE(RunUntil([&] { return Has(*watching, NGHTTP2_HEADERS, 1); }));
  const auto idle = Greet();
  ASSERT_TRUE(RunUntil([&] { return Has(*idle, NGHTTP2_SETTINGS); }));
  const auto next = Greet(SettingsFrame() + GetFrame(1));
  ASSERT_TRUE(RunUntil([&] { return idle->ended && Has(*next, NGHTTP2_HEADERS, 1); }));
  EXPECT_FALSE(watching->ended);
}

}  // namespace
}  // namespace berth::net
