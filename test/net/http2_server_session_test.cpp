#include "net/http2_server_session.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "net/http2_frames.h"

namespace berth::net {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class Http2ServerSessionTest : public testing::Test {
 protected:
  explicit Http2ServerSessionTest(Http2ServerSession::Options options = {}) : session_(options) {
    Feed(std::string(kHttp2Preface) + SettingsFrame());
    Output();
  }

  void Feed(const std::string& bytes) { EXPECT_TRUE(session_.Receive(bytes)); }
  // Everything that there is to send.
  std::string Output() {
    std::string out;
    EXPECT_TRUE(session_.TakeOutput(out, std::size_t{1} << 30));
    return out;
  }
  // Opens a stream whose answer has begun.
  void Watch(std::uint32_t stream) {
    Feed(GetFrame(stream));
    ASSERT_THAT(session_.TakeRequests(), SizeIs(1));
    session_.Begin(static_cast<int>(stream), 200, {});
    Output();
  }

  Http2ServerSession session_;
};

TEST_F(Http2ServerSessionTest, HandsOutARequestWithItsBodyAndSendsTheAnswer) {
  Feed(PostFrame(1, RawField("x-a", "b")) +
       Bytes({.type = NGHTTP2_DATA, .flags = 0, .stream = 1, .payload = "bo"}));
  EXPECT_EQ(session_.asking(), 1U);
  EXPECT_THAT(session_.TakeRequests(), IsEmpty());
  Feed(Bytes({.type = NGHTTP2_DATA, .flags = NGHTTP2_FLAG_END_STREAM, .stream = 1, .payload = "dy"}));
  const auto requests = session_.TakeRequests();
  ASSERT_THAT(requests, SizeIs(1));
  EXPECT_EQ(requests[0].method, "POST");
  EXPECT_EQ(requests[0].target, "/");
  EXPECT_EQ(*requests[0].headers.Find("X-A"), "b");
  EXPECT_EQ(requests[0].body, "body");
  EXPECT_TRUE(session_.IsOpen(1));
  session_.Answer(1, 201, {{"Connection", "close"}, {"X-B", "c"}}, MakeBody("answer"));
  EXPECT_FALSE(session_.IsOpen(1));
  const std::string out = Output();
  EXPECT_THAT(FramesOf(out, NGHTTP2_HEADERS, 1), SizeIs(1));
  const auto data = FramesOf(out, NGHTTP2_DATA, 1);
  ASSERT_THAT(data, SizeIs(1));
  EXPECT_EQ(data[0].payload, "answer");
  EXPECT_EQ(data[0].flags, NGHTTP2_FLAG_END_STREAM);
  EXPECT_EQ(session_.streams(), 0U);
}

TEST_F(Http2ServerSessionTest, AnAnswerWithoutABodyEndsWithItsHeader) {
  Feed(GetFrame(1));
  ASSERT_THAT(session_.TakeRequests(), SizeIs(1));
  session_.Answer(1, 204, {}, {});
  const auto frames = ParseFrames(Output());
  ASSERT_THAT(frames, SizeIs(1));
  EXPECT_EQ(frames[0].flags, NGHTTP2_FLAG_END_HEADERS | NGHTTP2_FLAG_END_STREAM);
}

TEST_F(Http2ServerSessionTest, WhatIsWrittenInOneTurnGoesOutInOneFrame) {
  Watch(1);
  for (const char* event : {"one", "two", "three"}) session_.Write(1, MakeBuffer(event));
  EXPECT_EQ(session_.queued(1), 11U);
  auto frames = ParseFrames(Output());
  ASSERT_THAT(frames, SizeIs(1));
  EXPECT_EQ(frames[0].payload, "onetwothree");
  EXPECT_EQ(session_.queued(1), 0U);
  session_.Finish(1);
  frames = ParseFrames(Output());
  ASSERT_THAT(frames, SizeIs(1));
  EXPECT_EQ(frames[0].flags, NGHTTP2_FLAG_END_STREAM);
  EXPECT_EQ(session_.streams(), 0U);
}

TEST_F(Http2ServerSessionTest, ASlowReaderHoldsBackOnlyItsOwnStream) {
  Feed(SettingsFrame(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10));
  Watch(1);
  Watch(3);
  session_.Write(1, MakeBuffer(std::string(100, 'x')));
  session_.Write(3, MakeBuffer("short"));
  const std::string out = Output();
  ASSERT_THAT(FramesOf(out, NGHTTP2_DATA, 1), SizeIs(1));
  EXPECT_EQ(FramesOf(out, NGHTTP2_DATA, 1)[0].payload, std::string(10, 'x'));
  ASSERT_THAT(FramesOf(out, NGHTTP2_DATA, 3), SizeIs(1));
  EXPECT_EQ(session_.queued(1), 90U);
  EXPECT_EQ(session_.queued(3), 0U);
  EXPECT_TRUE(session_.has_queued());
  Feed(WindowFrame(1, 1000));
  ASSERT_THAT(ParseFrames(Output()), SizeIs(1));
  EXPECT_FALSE(session_.has_queued());
}

TEST_F(Http2ServerSessionTest, AReaderThatTakesNothingLosesItsStreamAndNoOther) {
  Feed(SettingsFrame(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 10));
  Watch(1);
  Watch(3);
  session_.Write(1, MakeBuffer(std::string(100, 'x')));
  session_.Write(3, MakeBuffer(std::string(100, 'x')));
  Output();
  session_.ResetStalledAnswers();
  EXPECT_THAT(session_.TakeGone(), IsEmpty());
  Feed(WindowFrame(3, 1));
  Output();
  session_.ResetStalledAnswers();
  EXPECT_THAT(session_.TakeGone(), ElementsAre(1));
  EXPECT_FALSE(session_.IsOpen(1));
  EXPECT_TRUE(session_.IsOpen(3));
  const auto resets = FramesOf(Output(), NGHTTP2_RST_STREAM);
  ASSERT_THAT(resets, SizeIs(1));
  EXPECT_EQ(resets[0].stream, 1U);
}

TEST_F(Http2ServerSessionTest, AnAbortedAnswerIsResetEvenWhileItIsBeingSent) {
  Watch(1);
  session_.Write(1, MakeBuffer(std::string(60'000, 'x')));
  std::string out;
  EXPECT_TRUE(session_.TakeOutput(out, 100));
  session_.Abort(1);
  const auto frames = ParseFrames(Output());
  ASSERT_THAT(frames, SizeIs(1));
  EXPECT_EQ(frames[0].type, NGHTTP2_RST_STREAM);
  EXPECT_EQ(frames[0].code(), std::uint32_t{NGHTTP2_INTERNAL_ERROR});
  EXPECT_FALSE(session_.has_queued());
}

TEST_F(Http2ServerSessionTest, TellsOfAClientThatLeavesAndForgetsARequestThatWasTakenBack) {
  Watch(1);
  Feed(ResetFrame(1));
  EXPECT_THAT(session_.TakeGone(), ElementsAre(1));
  EXPECT_FALSE(session_.IsOpen(1));
  Feed(GetFrame(3) + ResetFrame(3));
  EXPECT_THAT(session_.TakeRequests(), IsEmpty());
  EXPECT_THAT(session_.TakeGone(), IsEmpty());
  EXPECT_EQ(session_.streams(), 0U);
}

TEST_F(Http2ServerSessionTest, AsksForABodyThatWaitsForIt) {
  Feed(PostFrame(1, RawField("expect", "100-continue")));
  const auto frames = ParseFrames(Output());
  ASSERT_THAT(frames, SizeIs(1));
  EXPECT_EQ(frames[0].type, NGHTTP2_HEADERS);
  EXPECT_EQ(frames[0].flags, NGHTTP2_FLAG_END_HEADERS);
}

TEST_F(Http2ServerSessionTest, RequestsThatAreNotFinishedInTimeAreReset) {
  Watch(1);
  Feed(PostFrame(3) + PostFrame(5));
  session_.ResetStalledRequests();
  EXPECT_THAT(Output(), "");
  Feed(Bytes({.type = NGHTTP2_DATA, .flags = 0, .stream = 5, .payload = "x"}));
  session_.ResetStalledRequests();
  const auto resets = FramesOf(Output(), NGHTTP2_RST_STREAM);
  ASSERT_THAT(resets, SizeIs(1));
  EXPECT_EQ(resets[0].stream, 3U);
  EXPECT_TRUE(session_.IsOpen(1));
  EXPECT_EQ(session_.asking(), 1U);
}

class Http2RequestsTest : public Http2ServerSessionTest {
 protected:
  Http2RequestsTest()
      : Http2ServerSessionTest(
            {.limits = {.header_bytes_max = 200, .body_bytes_max = 50}, .requests_bytes_max = 100}) {}

  // A header of 55 bytes and this body.
  static std::string Post(std::uint32_t stream, std::size_t body) {
    return PostFrame(stream) + Bytes({.type = NGHTTP2_DATA,
                                      .flags = NGHTTP2_FLAG_END_STREAM,
                                      .stream = stream,
                                      .payload = std::string(body, 'x')});
  }
};

TEST_F(Http2RequestsTest, WhatAllRequestsHoldIsBoundedUntilTheyAreAnswered) {
  Feed(Post(1, 40));
  ASSERT_THAT(session_.TakeRequests(), SizeIs(1));
  Feed(Post(3, 0));  // whoever took the first one may still have it
  EXPECT_THAT(Output(), HasSubstr("header limit exceeded"));
  session_.Answer(1, 200, {}, {});
  Feed(Post(5, 46));
  EXPECT_THAT(Output(), HasSubstr("body limit exceeded"));
  EXPECT_THAT(session_.TakeRequests(), IsEmpty());
  Feed(PostFrame(7) + ResetFrame(7) + PostFrame(9));
  session_.ResetStalledRequests();
  session_.ResetStalledRequests();
  Feed(Post(11, 45));
  EXPECT_THAT(session_.TakeRequests(), SizeIs(1));
}

class Http2LimitsTest : public Http2ServerSessionTest {
 protected:
  Http2LimitsTest()
      : Http2ServerSessionTest(
            {.limits = {.header_bytes_max = 200, .body_bytes_max = 10}, .streams_max = 2}) {}

  // The status is the first field: an index, or a literal of three digits.
  void ExpectRefused(const std::string& out, std::uint32_t stream, const std::string& text) {
    const auto data = FramesOf(out, NGHTTP2_DATA, stream);
    ASSERT_THAT(data, SizeIs(1));
    EXPECT_EQ(data[0].payload, text);
    EXPECT_EQ(data[0].flags, NGHTTP2_FLAG_END_STREAM);
    EXPECT_THAT(session_.TakeRequests(), IsEmpty());
  }
};

TEST_F(Http2LimitsTest, RefusesOversizedRequestsAsHttp1Does) {
  Feed(PostFrame(1, RawField("x-long", std::string(100, 'x')) + RawField("x-more", std::string(100, 'x'))));
  std::string out = Output();
  ExpectRefused(out, 1, "Request Header Fields Too Large: header limit exceeded\n");
  // The client may send the rest, for which it gets nothing, or stop.
  EXPECT_EQ(session_.asking(), 1U);
  Feed(Bytes({.type = NGHTTP2_DATA, .flags = NGHTTP2_FLAG_END_STREAM, .stream = 1, .payload = "rest"}));
  EXPECT_EQ(session_.streams(), 0U);

  Feed(PostFrame(3, RawField("content-length", "11")));
  ExpectRefused(Output(), 3, "Request Entity Too Large: body limit exceeded\n");
  Feed(ResetFrame(3));
  EXPECT_EQ(session_.asking(), 0U);

  Feed(PostFrame(5) + Bytes({.type = NGHTTP2_DATA, .flags = 0, .stream = 5, .payload = "1234567890"}));
  EXPECT_THAT(FramesOf(Output(), NGHTTP2_DATA), IsEmpty());
  Feed(Bytes({.type = NGHTTP2_DATA, .flags = 0, .stream = 5, .payload = "1"}));
  ExpectRefused(Output(), 5, "Request Entity Too Large: body limit exceeded\n");
  // But it cannot send for ever.
  Feed(Bytes({.type = NGHTTP2_DATA, .flags = 0, .stream = 5, .payload = "1234567890"}));
  EXPECT_EQ(Output(), "");
  Feed(Bytes({.type = NGHTTP2_DATA, .flags = 0, .stream = 5, .payload = "1"}));
  const auto resets = FramesOf(Output(), NGHTTP2_RST_STREAM, 5);
  ASSERT_THAT(resets, SizeIs(1));
  EXPECT_EQ(resets[0].code(), std::uint32_t{NGHTTP2_NO_ERROR});
  EXPECT_EQ(session_.asking(), 0U);
}

TEST_F(Http2LimitsTest, RefusesMoreStreamsThanItHasSaidItTakes) {
  Watch(1);
  Watch(3);
  Feed(GetFrame(5));
  EXPECT_THAT(session_.TakeRequests(), IsEmpty());
  const auto resets = FramesOf(Output(), NGHTTP2_RST_STREAM);
  ASSERT_THAT(resets, SizeIs(1));
  EXPECT_EQ(resets[0].stream, 5U);
  EXPECT_EQ(resets[0].code(), std::uint32_t{NGHTTP2_REFUSED_STREAM});
  EXPECT_TRUE(session_.IsOpen(3));
  // Once the client has said that it knows, it is no misunderstanding.
  Feed(Bytes({.type = NGHTTP2_SETTINGS, .flags = NGHTTP2_FLAG_ACK}) + GetFrame(7));
  const auto goaway = FramesOf(Output(), NGHTTP2_GOAWAY);
  ASSERT_THAT(goaway, SizeIs(1));
  EXPECT_EQ(goaway[0].code(), std::uint32_t{NGHTTP2_PROTOCOL_ERROR});
}

// Frames that make work for nothing.
struct Flood {
  const char* name;
  std::string (*frames)(std::uint32_t stream);
};

class Http2FloodTest : public Http2ServerSessionTest, public testing::WithParamInterface<Flood> {};

TEST_P(Http2FloodTest, IsBoundedAndTheClientIsToldToCalmDown) {
  Watch(1);
  std::uint32_t stream = 3;
  for (int i = 0; i < 200; ++i, stream += 2) Feed(GetParam().frames(stream));
  EXPECT_THAT(FramesOf(Output(), NGHTTP2_GOAWAY), IsEmpty());
  session_.AddPatience(500);
  for (int i = 0; i < 200; ++i, stream += 2) Feed(GetParam().frames(stream));
  EXPECT_THAT(FramesOf(Output(), NGHTTP2_GOAWAY), IsEmpty());
  EXPECT_TRUE(session_.IsOpen(1));
  std::string all;
  for (int i = 0; i < 3000; ++i, stream += 2) all += GetParam().frames(stream);
  Feed(all);
  EXPECT_THAT(session_.TakeRequests(), IsEmpty());
  const std::string out = Output();
  const auto goaway = FramesOf(out, NGHTTP2_GOAWAY);
  ASSERT_THAT(goaway, SizeIs(1));
  EXPECT_EQ(goaway[0].code(), std::uint32_t{NGHTTP2_ENHANCE_YOUR_CALM});
  EXPECT_TRUE(session_.is_over());
}

INSTANTIATE_TEST_SUITE_P(
    All, Http2FloodTest,
    testing::Values(
        Flood{"RapidReset", [](std::uint32_t stream) { return GetFrame(stream) + ResetFrame(stream); }},
        Flood{"Pings", [](std::uint32_t) { return PingFrame(); }},
        Flood{"Settings", [](std::uint32_t) { return SettingsFrame(); }},
        // A stream that the server has to reset: its window is more than there can be.
        Flood{"MadeResets",
              [](std::uint32_t stream) { return PostFrame(stream) + WindowFrame(stream, 0x7fffffff); }},
        Flood{"Malformed",
              [](std::uint32_t stream) {
                return PostFrame(stream, RawField("content-length", "1")) +
                       Bytes({.type = NGHTTP2_DATA, .flags = NGHTTP2_FLAG_END_STREAM, .stream = stream});
              }}),
    [](const auto& flood) { return std::string(flood.param.name); });

TEST_F(Http2ServerSessionTest, GoesAwayAfterWhatIsInHand) {
  Watch(1);
  session_.GoAway();
  const auto goaway = FramesOf(Output(), NGHTTP2_GOAWAY);
  ASSERT_THAT(goaway, SizeIs(1));
  EXPECT_EQ(goaway[0].code(), std::uint32_t{NGHTTP2_NO_ERROR});
  EXPECT_EQ(goaway[0].payload.substr(0, 4), BigEndian(1, 4));
  Feed(GetFrame(3));
  EXPECT_THAT(session_.TakeRequests(), IsEmpty());
  session_.Write(1, MakeBuffer("last"));
  session_.Finish(1);
  EXPECT_FALSE(session_.is_over());
  EXPECT_THAT(FramesOf(Output(), NGHTTP2_DATA, 1), SizeIs(1));
  EXPECT_TRUE(session_.is_over());
}

TEST_F(Http2ServerSessionTest, BrokenRulesEndTheConnection) {
  Watch(1);
  Feed(Bytes({.type = NGHTTP2_DATA, .flags = 0, .stream = 0, .payload = "x"}));
  const auto goaway = FramesOf(Output(), NGHTTP2_GOAWAY);
  ASSERT_THAT(goaway, SizeIs(1));
  EXPECT_EQ(goaway[0].code(), std::uint32_t{NGHTTP2_PROTOCOL_ERROR});
  EXPECT_TRUE(session_.is_over());
  Http2ServerSession other({});
  const auto received = other.Receive("GET / HTTP/1.1\r\n\r\n, and more than a preface");
  ASSERT_FALSE(received);
  EXPECT_THAT(received.error().message, HasSubstr("HTTP/2"));
}

TEST_F(Http2ServerSessionTest, AClientThatOnlySendsIsNotListenedToForEver) {
  // Each is answered, and nobody takes the answers.
  NetResult<void> received;
  for (int i = 0; i < 200'000 && received; ++i) {
    session_.AddPatience(1000);
    received = session_.Receive(PingFrame());
  }
  EXPECT_FALSE(received);
}

}  // namespace
}  // namespace berth::net
