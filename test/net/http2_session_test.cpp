#include "net/http2_session.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "net/http2_peer.h"

namespace berth::net {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Key;
using testing::Not;
using testing::Pair;

class Http2SessionTest : public testing::Test {
 protected:
  struct Answer {
    int status = 0;
    Headers headers;
    std::string body;
    bool ended = false;
    std::optional<NetError> error;
    bool untouched = false;
  };

  Http2Session::StreamId Submit(ClientRequest request) { return session_.Submit(request, base_); }
  // Until neither side has more to say.
  void Exchange() {
    while (true) {
      std::string out;
      EXPECT_TRUE(session_.TakeOutput(out, std::size_t{1} << 30));
      if (!out.empty()) peer_.Receive(out);
      const std::string in = peer_.TakeOutput();
      if (!in.empty()) received_ = session_.Receive(in);
      if (out.empty() && in.empty()) return;
    }
  }

  Http2Peer peer_{3};
  std::map<Http2Session::StreamId, Answer> answers_;
  NetResult<void> received_;
  Http2Session session_{
      {.on_headers =
           [this](Http2Session::StreamId id, int status, const Headers& headers) {
             EXPECT_EQ(answers_[id].status, 0);
             answers_[id].status = status;
             answers_[id].headers = headers;
           },
       .on_data =
           [this](Http2Session::StreamId id, std::string_view data) {
             EXPECT_NE(answers_[id].status, 0);
             answers_[id].body += data;
           },
       .on_end =
           [this](Http2Session::StreamId id, std::optional<NetError> error, bool untouched) {
             EXPECT_FALSE(std::exchange(answers_[id].ended, true)) << "ended twice";
             answers_[id].error = std::move(error);
             answers_[id].untouched = untouched;
           }}};
  const Url base_{.scheme = "https", .host = "server", .port = 6443, .path = "/prefix", .query = ""};
};

TEST_F(Http2SessionTest, RequestArrivesWithItsBodyAndWithoutWhatBelongsToAConnection) {
  const auto id =
      Submit({.method = "POST",
              .target = "/api?x=1",
              .headers = {{"Content-Type", "application/json"}, {"Connection", "close"}, {"Accept", "a"}},
              .body = {MakeBuffer("one "), MakeBuffer(""), MakeBuffer("two")}});
  Exchange();
  const Http2Peer::Request* got = peer_.Find("/prefix/api?x=1");
  ASSERT_NE(got, nullptr);
  EXPECT_THAT(got->headers, AllOf(Contains(Pair(":method", "POST")), Contains(Pair(":scheme", "https")),
                                  Contains(Pair(":authority", "server:6443")),
                                  Contains(Pair("content-type", "application/json")),
                                  Contains(Pair("content-length", "7")), Not(Contains(Key("connection")))));
  EXPECT_EQ(got->body, "one two");
  EXPECT_TRUE(got->whole);

  peer_.Begin(id, 103, {{"link", "x"}});
  peer_.Answer(id, 201, "made", {{"retry-after", "3"}});
  Exchange();
  EXPECT_EQ(answers_[id].status, 201);
  EXPECT_EQ(answers_[id].body, "made");
  EXPECT_EQ(answers_[id].headers.Find("link"), nullptr);
  ASSERT_NE(answers_[id].headers.Find("Retry-After"), nullptr);
  EXPECT_EQ(*answers_[id].headers.Find("Retry-After"), "3");
  EXPECT_TRUE(answers_[id].ended);
  EXPECT_EQ(answers_[id].error, std::nullopt);
  EXPECT_EQ(session_.streams(), 0U);
}

TEST_F(Http2SessionTest, BodiesBeyondEveryWindowPassWhole) {
  std::string big;
  for (int i = 0; i < 1'000'000; ++i) big += std::to_string(i);
  const auto id = Submit({.method = "PUT", .body = MakeBody(big)});
  Exchange();
  EXPECT_EQ(peer_.requests[id].body, big);
  peer_.Answer(id, 200, big);
  Exchange();
  EXPECT_TRUE(answers_[id].body == big);
  EXPECT_TRUE(answers_[id].ended);
}

TEST_F(Http2SessionTest, TakesAsManyAtATimeAsTheServerAllows) {
  Exchange();  // the server's settings
  std::vector<Http2Session::StreamId> ids;
  while (session_.has_room()) ids.push_back(Submit({.target = "/" + std::to_string(ids.size())}));
  EXPECT_EQ(ids.size(), 3U);
  EXPECT_EQ(Submit({}), 0);
  Exchange();
  peer_.Answer(ids[1], 200, "");
  Exchange();
  EXPECT_TRUE(session_.has_room());
  EXPECT_TRUE(answers_[ids[1]].ended);
  EXPECT_FALSE(answers_[ids[0]].ended);
}

TEST_F(Http2SessionTest, ServerThatGoesAwayAnswersWhatItBeganAndGivesTheRestBack) {
  const auto first = Submit({.target = "/first"});
  const auto second = Submit({.target = "/second"});
  Exchange();
  peer_.GoAway(first);
  Exchange();
  EXPECT_TRUE(session_.is_leaving());
  EXPECT_FALSE(session_.has_room());
  EXPECT_TRUE(answers_[second].ended);
  EXPECT_TRUE(answers_[second].untouched);
  EXPECT_FALSE(answers_[first].ended);
  peer_.Answer(first, 200, "late");
  Exchange();
  EXPECT_EQ(answers_[first].body, "late");
  EXPECT_EQ(answers_[first].error, std::nullopt);
}

TEST_F(Http2SessionTest, ResetStreamsEndWithTheReason) {
  const auto refused = Submit({.target = "/refused"});
  const auto broken = Submit({.target = "/broken"});
  const auto cut = Submit({.target = "/cut"});
  Exchange();
  peer_.Reset(refused, NGHTTP2_REFUSED_STREAM);
  peer_.Begin(broken, 200);
  peer_.Send(broken, "half", false);
  peer_.Begin(cut, 200);
  Exchange();
  peer_.Reset(broken, NGHTTP2_INTERNAL_ERROR);
  peer_.Reset(cut, NGHTTP2_NO_ERROR);
  Exchange();
  EXPECT_TRUE(answers_[refused].untouched);
  ASSERT_TRUE(answers_[broken].error);
  EXPECT_EQ(answers_[broken].error->kind, ErrorKind::kReset);
  EXPECT_THAT(answers_[broken].error->message, HasSubstr("INTERNAL_ERROR"));
  EXPECT_EQ(answers_[broken].body, "half");
  EXPECT_FALSE(answers_[broken].untouched);
  EXPECT_EQ(answers_[cut].error, (NetError{ErrorKind::kReset, "unexpected EOF"}));
}

TEST_F(Http2SessionTest, AnswerThatComesBeforeTheBodyIsSentCounts) {
  // More than the server's window: the rest of the body stays here.
  const auto id = Submit({.method = "POST", .body = MakeBody(std::string(1'000'000, 'x'))});
  std::string out;
  ASSERT_TRUE(session_.TakeOutput(out, std::size_t{1} << 30));
  peer_.Receive(out);
  peer_.Answer(id, 413, "too long");
  ASSERT_TRUE(session_.Receive(peer_.TakeOutput()));
  peer_.Reset(id, NGHTTP2_NO_ERROR);
  ASSERT_TRUE(session_.Receive(peer_.TakeOutput()));
  EXPECT_EQ(answers_[id].status, 413);
  EXPECT_EQ(answers_[id].body, "too long");
  EXPECT_EQ(answers_[id].error, std::nullopt);
}

TEST_F(Http2SessionTest, NothingIsSaidOfACancelledStream) {
  const auto id = Submit({.target = "/watch"});
  Exchange();
  peer_.Begin(id, 200);
  Exchange();
  session_.Cancel(id);
  Exchange();
  EXPECT_EQ(peer_.requests[id].reset, NGHTTP2_CANCEL);
  EXPECT_FALSE(answers_[id].ended);
  EXPECT_EQ(session_.streams(), 0U);
}

TEST_F(Http2SessionTest, PeerThatSpeaksSomethingElseIsAnError) {
  const auto id = Submit({});
  Exchange();
  const auto received = session_.Receive("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
  std::string out;
  EXPECT_TRUE(!received || (session_.TakeOutput(out, 1U << 20) && session_.is_over()));
  EXPECT_FALSE(answers_[id].status == 400);
}

TEST_F(Http2SessionTest, MalformedAnswerEndsItsStreamAlone) {
  const auto bad = Submit({.target = "/bad"});
  const auto good = Submit({.target = "/good"});
  Exchange();
  peer_.Begin(bad, 200, {{"content-length", "3"}});
  peer_.Send(bad, "more than three", true);
  peer_.Answer(good, 200, "fine");
  Exchange();
  ASSERT_TRUE(answers_[bad].error);
  EXPECT_EQ(answers_[bad].error->kind, ErrorKind::kProtocol);
  EXPECT_EQ(answers_[good].body, "fine");
  EXPECT_EQ(answers_[good].error, std::nullopt);
}

}  // namespace
}  // namespace berth::net
