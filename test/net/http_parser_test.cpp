#include "net/http_parser.h"

#include <algorithm>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace berth::net {
namespace {

constexpr std::string_view kRequest =
    "POST /a?b=c HTTP/1.1\r\nHost: h\r\nX-Twice: 1\r\nx-twice: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
    "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n";

// Offers the bytes as a connection does: what is not taken is offered again together with the next part.
void FeedInParts(RequestParser& parser, std::string_view bytes, const std::vector<std::size_t>& cuts) {
  std::string pending;
  std::size_t at = 0;
  for (const std::size_t cut : cuts) {
    const std::size_t end = std::min(at + cut, bytes.size());
    pending.append(bytes.substr(at, end - at));
    at = end;
    pending.erase(0, parser.Feed(pending));
  }
  pending.append(bytes.substr(at));
  parser.Feed(pending);
}

RC_GTEST_PROP(RequestParsing, DoesNotDependOnWhereTheBytesAreCut, ()) {
  const auto cuts = *rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 9));
  RequestParser parser({});
  FeedInParts(parser, kRequest, cuts);
  RC_ASSERT(parser.state() == ParseState::kComplete);
  RC_ASSERT(parser.method() == "POST");
  RC_ASSERT(parser.target() == "/a?b=c");
  RC_ASSERT(parser.body() == "hello world");
  RC_ASSERT(parser.headers().fields().size() == 4U);
}

TEST(RequestParsing, LeavesTheNextRequestAlone) {
  const std::string two = std::string(kRequest) + "GET / HTTP/1.1\r\n\r\n";
  RequestParser parser({});
  EXPECT_EQ(parser.Feed(two), kRequest.size());
  EXPECT_EQ(parser.state(), ParseState::kComplete);
}

TEST(RequestParsing, AnswersOversizeAndNonsenseWithTheRightStatus) {
  const auto status_of = [](std::string_view text, ParserLimits limits) {
    RequestParser parser(limits);
    parser.Feed(text);
    return parser.state() == ParseState::kFailed ? parser.failure_status() : 0;
  };
  const ParserLimits small{.header_bytes_max = 64, .body_bytes_max = 8};
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\n", small), 413);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n9\r\n123456789", small), 413);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nX: " + std::string(100, 'x'), small), 431);
  EXPECT_EQ(status_of("hello\r\n\r\n", small), 400);
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\n\r\n", small), 505);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", small), 400);
}

TEST(ResponseParsing, BodyWithoutLengthEndsWithTheConnection) {
  ResponseParser parser(1000, false);
  std::string body;
  const auto keep = [&](std::string_view data) { body += data; };
  std::string_view rest = "HTTP/1.1 200 OK\r\n\r\nabc";
  rest.remove_prefix(parser.Feed(rest, keep));
  EXPECT_EQ(parser.status(), 200);
  parser.Feed(rest, keep);
  EXPECT_EQ(parser.state(), ParseState::kBody);
  parser.FeedEnd();
  EXPECT_EQ(parser.state(), ParseState::kComplete);
  EXPECT_EQ(body, "abc");
  EXPECT_FALSE(parser.keep_alive());
}

TEST(HeaderLists, NamesIgnoreCaseAndTokensStandBetweenCommas) {
  const Headers headers{{"Accept-Encoding", "deflate, GZIP;q=1"}, {"connection", "close"}};
  EXPECT_TRUE(headers.HasToken("accept-encoding", "gzip"));
  EXPECT_FALSE(headers.HasToken("accept-encoding", "zip"));
  EXPECT_EQ(*headers.Find("Connection"), "close");
  EXPECT_EQ(headers.Find("Host"), nullptr);
}

TEST(HeaderLists, ValueWithALineEndIsNotSent) {
  std::string out;
  AppendFields({{"A", "1\r\nInjected: yes"}, {"B: x", "2"}, {"C", "3"}}, out);
  EXPECT_EQ(out, "C: 3\r\n");
}

}  // namespace
}  // namespace berth::net
