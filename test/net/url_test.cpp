#include "net/url.h"

#include <string>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace berth::net {
namespace {

TEST(UrlParsing, TakesSchemeHostPortPathAndQueryApart) {
  const auto url = ParseUrl("HTTPS://Example.ORG:6443/prefix/x?watch=1&a=b");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(*url, (Url{.scheme = "https",
                       .host = "example.org",
                       .port = 6443,
                       .path = "/prefix/x",
                       .query = "watch=1&a=b"}));
  EXPECT_EQ(url->ToString(), "https://example.org:6443/prefix/x?watch=1&a=b");
}

TEST(UrlParsing, SchemesOwnPortIsTheDefaultAndIsNotWritten) {
  EXPECT_EQ(ParseUrl("http://h")->port, 80);
  EXPECT_EQ(ParseUrl("https://h")->port, 443);
  EXPECT_EQ(ParseUrl("https://h:443/")->Authority(), "h");
  EXPECT_EQ(ParseUrl("https://h:443/")->HostPort(), "h:443");
}

TEST(UrlParsing, Ipv6AddressesStandInBrackets) {
  const auto url = ParseUrl("https://[::1]:8443/x");
  ASSERT_TRUE(url.has_value());
  EXPECT_EQ(url->host, "::1");
  EXPECT_EQ(url->Authority(), "[::1]:8443");
}

TEST(UrlParsing, RefusesWhatCannotBeDialedAndNamesIt) {
  for (const char* text : {"", "host", "ftp://h", "http://", "http://:80", "http://h:0", "http://h:70000",
                           "http://h:x", "http://h:", "http://u@h", "http://h/#f", "http://h/a b",
                           "http://[::1", "http://[h]", "http://[::1]x", "http://h\n", "http://h\"x"}) {
    const auto url = ParseUrl(text);
    ASSERT_FALSE(url.has_value()) << text;
    EXPECT_NE(url.error().message.find(text), std::string::npos);
  }
}

TEST(PathJoining, PutsOneSlashBetween) {
  EXPECT_EQ(JoinPath("", "/api"), "/api");
  EXPECT_EQ(JoinPath("/k8s", "/api"), "/k8s/api");
  EXPECT_EQ(JoinPath("/k8s/", "api"), "/k8s/api");
  EXPECT_EQ(JoinPath("/k8s/", ""), "/k8s/");
}

TEST(QueryParsing, KeepsOrderRepeatsAndEmptyValues) {
  EXPECT_EQ(*ParseQuery("a=1&b&a=2&&c=%20+x"), (QueryPairs{{"a", "1"}, {"b", ""}, {"a", "2"}, {"c", "  x"}}));
  EXPECT_EQ(*FindQuery(*ParseQuery("a=1&a=2"), "a"), "1");
  EXPECT_EQ(FindQuery(*ParseQuery("a=1"), "b"), nullptr);
}

TEST(QueryParsing, RefusesTornEscapesAndSemicolons) {
  for (const char* text : {"a=%", "a=%1", "a=%zz", "%g0=1", "a=1;b=2"})
    EXPECT_FALSE(ParseQuery(text)) << text;
}

RC_GTEST_PROP(QueryParsing, UndoesEncoding, (const QueryPairs& any)) {
  RC_ASSERT(*ParseQuery(EncodeQuery(any)) == any);
}

RC_GTEST_PROP(PathEncoding, IsUndoneByDecodingAndHoldsNoSlash, (const std::string& any)) {
  const std::string encoded = EncodePathSegment(any);
  RC_ASSERT(encoded.find('/') == std::string::npos);
  RC_ASSERT(PercentDecode(encoded, false) == any);
}

}  // namespace
}  // namespace berth::net
