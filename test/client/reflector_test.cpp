#include "client/reflector.h"

#include <string>
#include <vector>

#include "client/harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include "wire/watch_frame.h"

namespace berth::client {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using wire::WatchType;

std::string NodeJson(const std::string& name, int version, const std::string& uid = "", bool marker = false) {
  std::string text = R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")" + name + R"(","uid":")" +
                     (uid.empty() ? "uid-" + name : uid) + R"(","resourceVersion":")" +
                     std::to_string(version) + "\"";
  if (marker) text += R"(,"annotations":{"k8s.io/initial-events-end":"true"})";
  return text + "}}";
}
std::string Line(WatchType type, const std::string& object) { return wire::WriteWatchLine(type, object); }
std::string Added(const std::string& name, int version) {
  return Line(WatchType::kAdded, NodeJson(name, version));
}
std::string Marker(int version) { return Line(WatchType::kBookmark, NodeJson("", version, "-", true)); }
std::string Bookmark(int version) { return Line(WatchType::kBookmark, NodeJson("", version, "-")); }
std::string ErrorLine(int code, const std::string& reason) {
  return Line(WatchType::kError, R"({"kind":"Status","status":"Failure","message":"m","reason":")" + reason +
                                     R"(","code":)" + std::to_string(code) + "}");
}
Reply ListOf(int version, const std::vector<std::string>& items, const std::string& token = "") {
  std::string body = R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                     std::to_string(version) + R"(","continue":")" + token + R"("},"items":[)";
  for (std::size_t i = 0; i < items.size(); ++i) body += (i == 0 ? "" : ",") + items[i];
  return Json(200, body + "]}");
}
// An item as lists carry it: without kind.
std::string Item(const std::string& name, int version, const std::string& uid = "") {
  return R"({"metadata":{"name":")" + name + R"(","uid":")" + (uid.empty() ? "uid-" + name : uid) +
         R"(","resourceVersion":")" + std::to_string(version) + "\"}}";
}

class ReflectorTest : public ClientTest {
 protected:
  Reflector& Reflect(bool use_watch_list, Resource resource = Resource::kNodes) {
    auto& reflector = Make<Reflector>(
        client_, shared_, Reflector::Options{.resource = resource, .use_watch_list = use_watch_list},
        [this](EventBatch batch) { Note(std::move(batch)); });
    StartForGood(reflector.Run());
    return reflector;
  }
  // Lists nothing at version 10 and watches on the stream that is returned.
  std::shared_ptr<Stream> Watching(std::vector<std::string> items = {}) {
    AddReply(ListOf(10, items));
    auto stream = AddStream();
    Reflect(false);
    log_.clear();
    return stream;
  }

  void Note(EventBatch batch) {
    if (batch.is_replace) log_.push_back("replace@" + batch.resource_version);
    for (const ObjectEvent& event : batch.events) {
      constexpr const char* kNames[] = {"add ", "update ", "delete "};
      std::string text = kNames[static_cast<int>(event.type)] + Describe(event.object);
      if (event.type == ObjectEvent::Type::kUpdate) text += " was " + Describe(event.old);
      if (event.is_final_state_unknown) text += " (tombstone)";
      log_.push_back(text);
    }
  }
  static std::string Describe(const Object& object) {
    if (const auto* node = std::get_if<Shared<api::Node>>(&object)) {
      return (*node)->metadata.name + "@" + (*node)->metadata.resource_version;
    }
    const auto& pod = *std::get<Shared<api::PodRecord>>(object);
    return pod.namespace_.str() + "/" + pod.name + "@" + pod.resource_version + " " + pod.phase.str();
  }
  Reflector& reflector() { return *std::static_pointer_cast<Reflector>(kept_.back()); }
  std::string target(std::size_t index) const { return server_.seen.at(index).target; }

  api::SharedParts shared_;
  std::vector<std::string> log_;
};

// Case 62 of the operations chapter, what is asked for.
TEST_F(ReflectorTest, AsksAsClientGoDoes) {
  AddReply(ListOf(10, {}));
  Reflect(false, Resource::kPods);
  EXPECT_EQ(target(0),
            "/api/v1/"
            "pods?fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed&limit=500&"
            "resourceVersion=0");
  EXPECT_THAT(target(1), testing::MatchesRegex(
                             "/api/v1/pods\\?allowWatchBookmarks=true&fieldSelector=[^&]*&resourceVersion=10&"
                             "timeout=[5-9]m[0-9]*s&timeoutSeconds=[345][0-9][0-9]&watch=true"));
}

// Case 2 and 3: protobuf frames, torn anywhere.
TEST_F(ReflectorTest, Case02BookmarkFrameSplitAtEveryByteMovesTheVersionOnly) {
  const std::string frame(
      "\x00\x00\x00\x25\x0a\x08"
      "BOOKMARK\x12\x19\x0a\x17k8s\x00\x0a\x09\x0a\x02v1\x12\x03Pod\x12\x06\x0a\x04\x32\x02"
      "42",
      41);
  for (std::size_t cut = 0; cut <= frame.size(); ++cut) {
    SCOPED_TRACE(cut);
    AddReply(Json(200, R"({"metadata":{"resourceVersion":"10"},"items":null})"));
    auto stream = AddStream("application/vnd.kubernetes.protobuf;stream=watch");
    Reflect(false, Resource::kPods);
    stream->Push(frame.substr(0, cut));
    RunReady();
    stream->Push(frame.substr(cut));
    RunReady();
    EXPECT_EQ(reflector().resource_version(), "42");
    EXPECT_EQ(reflector().store().size(), 0U);
    AddStream();
    Advance(5s);
    stream->End();
    RunReady();
  }
}

TEST_F(ReflectorTest, Case03TornFrameIsWatchedAgainFromTheLastEvent) {
  AddReply(Json(200, R"({"metadata":{"resourceVersion":"10"},"items":[]})"));
  auto stream = AddStream("application/vnd.kubernetes.protobuf;stream=watch");
  AddStream();
  Reflect(false, Resource::kPods);
  stream->Push(
      std::string("\x00\x00\x00\x25\x0a\x08"
                  "BOOKMARK\x12\x19",
                  16));
  Advance(2s);
  stream->End();
  RunReady();
  ASSERT_EQ(server_.seen.size(), 3U);
  EXPECT_THAT(target(2), HasSubstr("resourceVersion=10&"));
}

// Case 12.
TEST_F(ReflectorTest, Case12ListItemsNeedNoKindAndNullIsEmpty) {
  AddReply(ListOf(7, {Item("a", 5)}));
  Reflect(false);
  EXPECT_THAT(log_, ElementsAre("replace@7", "add a@5"));
  log_.clear();
  AddReply(Json(200, R"({"metadata":{"resourceVersion":"8"},"items":null})"));
  Reflect(false);
  EXPECT_THAT(log_, ElementsAre("replace@8"));
}

// Case 13.
TEST_F(ReflectorTest, Case13WatchListBecomesOneReplaceAndTheStreamGoesOn) {
  auto stream = AddStream();
  Reflector& nodes = Reflect(true);
  EXPECT_THAT(target(0), HasSubstr("resourceVersionMatch=NotOlderThan&sendInitialEvents=true"));
  EXPECT_THAT(target(0), Not(HasSubstr("resourceVersion=")));
  stream->Push(Added("b", 3) + Added("a", 9) + Added("c", 1));
  RunReady();
  EXPECT_THAT(log_, ElementsAre());
  EXPECT_FALSE(nodes.has_synced());
  stream->Push(Marker(10));
  RunReady();
  EXPECT_THAT(log_, ElementsAre("replace@10", "add a@9", "add b@3", "add c@1"));
  EXPECT_TRUE(nodes.has_synced());
  stream->Push(Line(WatchType::kModified, NodeJson("a", 11)));
  RunReady();
  EXPECT_EQ(log_.back(), "update a@11 was a@9");
  EXPECT_EQ(server_.seen.size(), 1U);
}

// Case 14.
TEST_F(ReflectorTest, Case14ServerWithoutWatchListIsListed) {
  AddReply(Failure(422, "Invalid", "sendInitialEvents is forbidden for watch"));
  AddReply(ListOf(20, {Item("a", 5)}));
  AddStream();
  Reflect(true);
  ASSERT_EQ(server_.seen.size(), 3U);
  EXPECT_EQ(target(1), "/api/v1/nodes?limit=500&resourceVersion=0");
  EXPECT_THAT(target(2), HasSubstr("resourceVersion=20&"));
}

// Case 15.
TEST_F(ReflectorTest, Case15NothingIsToldBeforeTheMarker) {
  auto stream = AddStream();
  Reflect(true);
  stream->Push(Added("a", 3) + Bookmark(8));
  RunReady();
  EXPECT_THAT(log_, ElementsAre());
  auto second = AddStream();
  stream->End();
  RunReady();
  EXPECT_EQ(server_.seen.size(), 2U) << "asked again at once";
  EXPECT_THAT(log_, ElementsAre());
  second->Push(Marker(9));
  RunReady();
  EXPECT_THAT(log_, ElementsAre("replace@9"));
}

// Case 16.
TEST_F(ReflectorTest, Case16ALongWatchIsTakenUpAtOnceAndAVeryShortOneIsNot) {
  auto stream = Watching();
  stream->Push(Added("a", 11));
  for (int minute = 0; minute < 5; ++minute) {
    Advance(1min);
    stream->Push(Bookmark(11));
  }
  auto second = AddStream();
  stream->End();
  RunReady();
  ASSERT_EQ(server_.seen.size(), 3U);
  EXPECT_THAT(target(2), HasSubstr("resourceVersion=11&"));
  Advance(300ms);
  second->End();
  RunReady();
  EXPECT_EQ(server_.seen.size(), 3U);
  Advance(799ms);
  EXPECT_EQ(server_.seen.size(), 3U);
  Advance(800ms);
  ASSERT_EQ(server_.seen.size(), 4U);
  EXPECT_EQ(target(3), "/api/v1/nodes?resourceVersion=11");
}

// Case 17.
TEST_F(ReflectorTest, Case17ExpiredWatchIsListedAtTheLastVersionAndThenAtTheNewest) {
  auto stream = Watching();
  stream->Push(Added("a", 11) + ErrorLine(410, "Expired"));
  AddReply(Failure(410, "Expired"));
  AddReply(ListOf(30, {Item("b", 12)}));
  Advance(2s);
  ASSERT_GE(server_.seen.size(), 4U);
  EXPECT_EQ(target(2), "/api/v1/nodes?resourceVersion=11");
  EXPECT_EQ(target(3), "/api/v1/nodes?limit=500");
  EXPECT_EQ(server_.seen[2].at, server_.seen[3].at);
  EXPECT_THAT(log_, ElementsAre("add a@11", "replace@30", "delete a@11 (tombstone)", "add b@12"));
}

// Case 18.
TEST_F(ReflectorTest, Case18ServerThatForgotItsVersionsIsListedAtTheNewest) {
  auto stream = Watching();
  stream->Push(Bookmark(500) + ErrorLine(500, "InternalError"));
  AddReply(Json(504, R"({"kind":"Status","status":"Failure","reason":"Timeout","code":504,)"
                     R"("message":"Timeout: Too large resource version: 500, current: 3"})"));
  AddReply(ListOf(3, {Item("b", 2)}));
  Advance(2s);
  EXPECT_EQ(target(2), "/api/v1/nodes?resourceVersion=500");
  EXPECT_EQ(target(3), "/api/v1/nodes?limit=500");
  EXPECT_THAT(log_, ElementsAre("replace@3", "add b@2"));
}

// Case 19.
TEST_F(ReflectorTest, Case19RefusedWatchBacksOffWithoutListing) {
  auto stream = Watching();
  stream->Push(Bookmark(15));
  Advance(2s);
  for (int i = 0; i < 4; ++i) AddReply(Broken(net::ErrorKind::kRefused));
  AddStream();
  stream->End();
  Advance(1min);
  ASSERT_EQ(server_.seen.size(), 7U);
  base::Duration low = 800ms;
  for (std::size_t i = 3; i < 7; ++i) {
    const base::Duration waited = server_.seen[i].at - server_.seen[i - 1].at;
    EXPECT_GE(waited, low) << i;
    EXPECT_LT(waited, 2 * low) << i;
    EXPECT_THAT(target(i), HasSubstr("resourceVersion=15&"));
    low *= 2;
  }
}

// Upstream waits as long as it did while nobody answered, up to a minute, though the server is there again.
TEST_F(ReflectorTest, AfterAnOutageALostPlaceIsReadAnewSoon) {
  auto stream = Watching();
  for (int i = 0; i < 6; ++i) AddReply(Broken(net::ErrorKind::kRefused));
  auto after_outage = AddStream();
  AddReply(ListOf(40, {Item("a", 30)}));
  Advance(2s);
  stream->End();
  Advance(2min);
  ASSERT_EQ(server_.seen.size(), 9U);
  after_outage->Push(ErrorLine(410, "Expired"));
  Advance(1600ms);
  EXPECT_THAT(log_, ElementsAre("replace@40", "add a@30"));
}

// A connection that died without a word looks like one on which nothing happens.
TEST_F(ReflectorTest, SilentWatchIsTakenUpByANewOne) {
  auto stream = Watching();
  Advance(1min);
  stream->Push(Bookmark(15));
  Advance(74s);
  EXPECT_EQ(server_.seen.size(), 2U);
  auto second = AddStream();
  Advance(2s);
  ASSERT_EQ(server_.seen.size(), 3U);
  EXPECT_THAT(target(2), HasSubstr("resourceVersion=15&"));
  EXPECT_TRUE(stream->is_abandoned());
  EXPECT_EQ(server_.idle_drops, 1);
  second->Push(Added("a", 16));
  RunReady();
  EXPECT_THAT(log_, ElementsAre("add a@16"));
}

// Case 20.
TEST_F(ReflectorTest, Case20TooManyRequestsInTheStreamBacksOffAtTheSameVersion) {
  auto stream = Watching();
  stream->Push(Bookmark(15) + ErrorLine(429, "TooManyRequests"));
  RunReady();
  EXPECT_EQ(server_.seen.size(), 2U);
  Advance(1600ms);
  ASSERT_EQ(server_.seen.size(), 3U);
  EXPECT_THAT(target(2), HasSubstr("resourceVersion=15&"));
}

// Case 21.
TEST_F(ReflectorTest, Case21WhatIsMissingFromANewListIsDeletedFirst) {
  auto stream = Watching({Item("a", 1), Item("b", 2), Item("c", 3)});
  stream->Push(ErrorLine(410, "Expired"));
  AddReply(ListOf(40, {Item("d", 30), Item("c", 31)}));
  Advance(2s);
  EXPECT_THAT(log_, ElementsAre("replace@40", "delete a@1 (tombstone)", "delete b@2 (tombstone)", "add d@30",
                                "update c@31 was c@3"));
}

// Case 22.
TEST_F(ReflectorTest, Case22EqualVersionsAreSilentAndANewUidIsAnotherObject) {
  auto stream = Watching({Item("a", 1), Item("b", 2)});
  stream->Push(Line(WatchType::kModified, NodeJson("a", 1)) + ErrorLine(410, "Expired"));
  AddReply(ListOf(40, {Item("a", 1), Item("b", 9, "other")}));
  Advance(2s);
  EXPECT_THAT(log_, ElementsAre("replace@40", "delete b@2 (tombstone)", "add b@9"));
}

// Case 23.
TEST_F(ReflectorTest, Case23APodThatEndsLeavesWithItsOldContent) {
  AddReply(Json(200,
                R"({"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"namespace":"d","name":"p",)"
                R"("uid":"u","resourceVersion":"4"},"status":{"phase":"Running"}}]})"));
  auto stream = AddStream();
  Reflector& pods = Reflect(false, Resource::kPods);
  EXPECT_EQ(pods.store().size(), 1U);
  stream->Push(Line(WatchType::kDeleted,
                    R"({"kind":"Pod","apiVersion":"v1","metadata":{"namespace":"d","name":"p","uid":"u",)"
                    R"("resourceVersion":"9"},"status":{"phase":"Running"}})"));
  RunReady();
  EXPECT_THAT(log_, ElementsAre("replace@5", "add d/p@4 Running", "delete d/p@9 Running"));
  EXPECT_EQ(pods.store().size(), 0U);
  EXPECT_EQ(pods.resource_version(), "9");
}

// Case 24.
TEST_F(ReflectorTest, Case24EventsAreJudgedByWhatIsKnown) {
  auto stream = Watching({Item("a", 1)});
  stream->Push(Line(WatchType::kModified, NodeJson("x", 11)) + Added("a", 12) +
               Line(WatchType::kDeleted, NodeJson("y", 13)));
  RunReady();
  EXPECT_THAT(log_, ElementsAre("add x@11", "update a@12 was a@1", "delete y@13"));
}

// Case 25: a list at version 0 of an empty cache leaves nothing to go on from.
TEST_F(ReflectorTest, Case25InitialEventsOfAWatchAtAnyVersionAreNoPlaceToGoOnFrom) {
  AddReply(ListOf(0, {}));
  auto stream = AddStream();
  Reflector& nodes = Reflect(false);
  EXPECT_THAT(target(1), HasSubstr("resourceVersion=0&"));
  stream->Push(Added("a", 9) + Added("b", 4) + Added("c", 7));
  RunReady();
  EXPECT_EQ(nodes.resource_version(), "0");
  stream->Push(Line(WatchType::kModified, NodeJson("b", 12)));
  RunReady();
  EXPECT_EQ(nodes.resource_version(), "12");
}

// Case 26.
TEST_F(ReflectorTest, Case26ExpiredPagesAreListedOnceMoreInOnePiece) {
  AddReply(ListOf(50, {Item("a", 1)}, "page2"));
  AddReply(ListOf(50, {Item("b", 2)}, "page3"));
  AddReply(Failure(410, "Expired"));
  AddReply(ListOf(60, {Item("a", 1), Item("b", 2), Item("c", 3)}));
  Reflect(false);
  EXPECT_EQ(target(0), "/api/v1/nodes?limit=500&resourceVersion=0");
  EXPECT_EQ(target(1), "/api/v1/nodes?continue=page2&limit=500");
  EXPECT_EQ(target(2), "/api/v1/nodes?continue=page3&limit=500");
  EXPECT_EQ(target(3), "/api/v1/nodes?resourceVersion=0");
  EXPECT_THAT(log_, ElementsAre("replace@60", "add a@1", "add b@2", "add c@3"));
}

// Case 6, as far as a reflector goes: nonsense in the stream is an error of the server, and everything is
// read anew.
TEST_F(ReflectorTest, Case06MalformedEventIsListedAgain) {
  auto stream = Watching();
  stream->Push(Added("a", 11) + "{\"type\":\"ADDED\",\"object\":{\"kind\":\"Node\",\"metadata\":7}}\n");
  AddReply(ListOf(40, {}));
  Advance(2s);
  EXPECT_THAT(log_, ElementsAre("add a@11", "replace@40", "delete a@11 (tombstone)"));
  EXPECT_TRUE(stream->is_abandoned());
}

// Frames that say they are longer than anything a server sends, and a line without end: nothing is kept of
// them, and everything is read anew.
TEST_F(ReflectorTest, AbsurdLengthsAreListedAgain) {
  for (const bool is_protobuf : {false, true}) {
    AddReply(ListOf(10, {}));
    auto stream = AddStream(is_protobuf ? "application/vnd.kubernetes.protobuf;stream=watch"
                                        : "application/json;stream=watch");
    Reflect(false);
    log_.clear();
    if (is_protobuf) {
      stream->Push("\xff\xff\xff\xff");
    } else {
      const std::string piece(std::size_t{1} << 20, 'x');
      for (std::size_t size = 0; size <= wire::kWatchFrameBytesMax; size += piece.size()) {
        stream->Push(piece);
        RunReady();
      }
    }
    AddReply(ListOf(40, {}));
    AddStream();
    Advance(2s);
    EXPECT_THAT(log_, ElementsAre("replace@40"));
    EXPECT_TRUE(stream->is_abandoned());
  }
}

TEST_F(ReflectorTest, ForeignKindsArePassedOver) {
  auto stream = Watching();
  stream->Push(Line(WatchType::kAdded, R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}})") +
               Added("a", 11));
  RunReady();
  EXPECT_THAT(log_, ElementsAre("add a@11"));
}

TEST_F(ReflectorTest, BackoffStartsAgainAfterTwoQuietMinutes) {
  Backoff backoff(kReflectorBackoff, base::Random(3));
  for (int i = 0; i < 10; ++i) backoff.Next(clock_.Now());
  EXPECT_GE(backoff.Next(clock_.Now()), 30s);
  clock_.Advance(2min + 1ns);
  EXPECT_LT(backoff.Next(clock_.Now()), 1600ms);
}

// Promise P9: what the last leader wrote is seen before the first decision of the next.
TEST_F(ReflectorTest, RefreshInterruptsTheWatchAndReadsTheNewestState) {
  auto stream = AddStream();
  Reflector& nodes = Reflect(true);
  stream->Push(Added("a", 3) + Marker(10));
  RunReady();
  log_.clear();
  auto fresh = AddStream();
  bool done = false;
  const auto refresh = [](Reflector& reflector, bool& flag) -> base::Task<void> {
    co_await reflector.Refresh();
    flag = true;
  };
  StartForGood(refresh(nodes, done));
  EXPECT_TRUE(stream->is_abandoned());
  ASSERT_EQ(server_.seen.size(), 2U);
  EXPECT_THAT(target(1), HasSubstr("sendInitialEvents=true"));
  EXPECT_THAT(target(1), Not(HasSubstr("resourceVersion=")));
  EXPECT_FALSE(done);
  fresh->Push(Added("a", 3) + Added("b", 12) + Marker(14));
  RunReady();
  EXPECT_TRUE(done);
  EXPECT_THAT(log_, ElementsAre("replace@14", "add b@12"));
}

TEST(ResourceVersions, CompareAsNumbers) {
  EXPECT_TRUE(IsResourceVersionAtLeast("10", "9"));
  EXPECT_TRUE(IsResourceVersionAtLeast("10", "10"));
  EXPECT_FALSE(IsResourceVersionAtLeast("9", "10"));
  EXPECT_TRUE(IsResourceVersionAtLeast("18446744073709551616", "2"));
}

}  // namespace
}  // namespace berth::client
