#include "wire/watch_frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <string>
#include <vector>

#include "wire/wire_bytes.h"

namespace berth::wire {
namespace {

using test::kBookmarkFrame;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Framing = FrameSplitter::Framing;

// Everything that comes out when `chunks` arrive one after the other; ends with "error: ..." if the stream
// broke.
std::vector<std::string> Split(FrameSplitter& splitter, const std::vector<std::string>& chunks) {
  std::vector<std::string> frames;
  for (const std::string& chunk : chunks) {
    splitter.Feed(chunk);
    while (true) {
      const auto frame = splitter.Next();
      if (!frame) {
        frames.push_back("error: " + frame.error().message);
        return frames;
      }
      if (!*frame) break;
      frames.emplace_back(**frame);
    }
  }
  return frames;
}

// Case 2.
TEST(WatchFrame, BookmarkSplitAtAnyByteIsTheSameEvent) {
  for (std::size_t cut = 0; cut <= kBookmarkFrame.size(); ++cut) {
    SCOPED_TRACE(cut);
    FrameSplitter splitter(Framing::kLength);
    const auto frames = Split(splitter, {kBookmarkFrame.substr(0, cut), kBookmarkFrame.substr(cut)});
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_TRUE(splitter.Finish());

    const base::Result<WatchFrame> event = ParseWatchFrame(frames[0]);
    ASSERT_TRUE(event) << event.error().message;
    EXPECT_EQ(event->type, WatchType::kBookmark);
    EXPECT_EQ(event->object.api_version, "v1");
    EXPECT_EQ(event->object.kind, "Pod");
    EXPECT_EQ(event->object.raw, test::FromHex("0a0432023432"));  // metadata.resourceVersion "42"
  }
}

// Case 3.
TEST(WatchFrame, EndInsideAFrameIsUnexpectedAndBetweenFramesClean) {
  FrameSplitter cut(Framing::kLength);
  EXPECT_THAT(Split(cut, {kBookmarkFrame.substr(0, 20)}), IsEmpty());
  ASSERT_FALSE(cut.Finish());
  EXPECT_EQ(cut.Finish().error().message, "unexpected EOF");

  FrameSplitter header(Framing::kLength);
  Split(header, {kBookmarkFrame + kBookmarkFrame.substr(0, 2)});
  EXPECT_FALSE(header.Finish());

  FrameSplitter whole(Framing::kLength);
  Split(whole, {kBookmarkFrame + kBookmarkFrame});
  EXPECT_TRUE(whole.Finish());
}

TEST(WatchFrame, FrameWithinOneChunkIsAViewIntoIt) {
  const std::string chunk = kBookmarkFrame;
  FrameSplitter splitter(Framing::kLength);
  splitter.Feed(chunk);
  const auto frame = splitter.Next();
  ASSERT_TRUE(frame && *frame);
  EXPECT_EQ((*frame)->data(), chunk.data() + 4);
}

TEST(WatchFrame, AnnouncedLengthBeyondTheBoundIsRefusedBeforeAnyByteOfIt) {
  FrameSplitter splitter(Framing::kLength);
  EXPECT_THAT(Split(splitter, {test::FromHex("01000001")}),
              ElementsAre("error: object to decode was longer than maximum allowed size"));

  FrameSplitter at_the_bound(Framing::kLength);
  EXPECT_THAT(Split(at_the_bound, {test::FromHex("01000000")}), IsEmpty());
}

TEST(WatchFrame, LinesAreCutAtLineEndsAndBlankOnesSkipped) {
  FrameSplitter splitter(Framing::kLine);
  EXPECT_THAT(Split(splitter, {"{\"a\":1}\n\n \r\n{\"b\"", ":2}", "\n{\"c\":3}\n"}),
              ElementsAre("{\"a\":1}", "{\"b\":2}", "{\"c\":3}"));
  EXPECT_TRUE(splitter.Finish());
}

TEST(WatchFrame, EndInsideALineIsUnexpected) {
  FrameSplitter splitter(Framing::kLine);
  EXPECT_THAT(Split(splitter, {"{\"a\":1}\n{\"b\""}), ElementsAre("{\"a\":1}"));
  EXPECT_FALSE(splitter.Finish());
}

TEST(WatchFrame, LineBeyondTheBoundIsRefused) {
  FrameSplitter splitter(Framing::kLine, 8);
  EXPECT_THAT(Split(splitter, {"12345678\n1234", "56789\n"}),
              ElementsAre("12345678", "error: object to decode was longer than maximum allowed size"));
}

TEST(WatchFrame, AnyChunkingGivesTheFramesThatWereWritten) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& bodies, bool lines) {
    std::string stream;
    std::vector<std::string> want;
    for (const std::string& body : bodies) {
      std::string envelope = WriteEnvelope({"v1", "Pod", body});
      const std::string line = "\"" + std::to_string(body.size()) + "\"";
      stream +=
          lines ? WriteWatchLine(WatchType::kAdded, line) : WriteWatchFrame(WatchType::kAdded, envelope);
      want.push_back(lines ? line : body);
    }
    std::vector<std::string> chunks;
    for (std::string_view rest = stream; !rest.empty();) {
      const auto size = static_cast<std::size_t>(*rc::gen::inRange<int>(1, 40));
      chunks.emplace_back(rest.substr(0, size));
      rest.remove_prefix(std::min(size, rest.size()));
    }
    FrameSplitter splitter(lines ? Framing::kLine : Framing::kLength);
    std::vector<std::string> got;
    for (const std::string& frame : Split(splitter, chunks)) {
      if (lines) {
        got.push_back(frame.substr(frame.find(R"("object":)") + 9));
        got.back().pop_back();
      } else {
        got.emplace_back(ParseWatchFrame(frame)->object.raw);
      }
    }
    RC_ASSERT(got == want);
    RC_ASSERT(splitter.Finish().has_value());
  }));
}

TEST(WatchFrame, UnknownTypeIsADecodeError) {
  const std::string frame = test::FromHex("0a03414243 1202 0a00");
  ASSERT_FALSE(ParseWatchFrame(frame));
  EXPECT_EQ(ParseWatchFrame(frame).error().message, "got invalid watch event type: ABC");
  EXPECT_EQ(ParseWatchLine(R"({"type":"added","object":{}})").error().message,
            "got invalid watch event type: added");
}

TEST(WatchFrame, EventWithoutObjectIsADecodeError) {
  EXPECT_EQ(ParseWatchFrame(test::FromHex("0a054144444544")).error().message,
            "unable to decode watch event: empty data");
  EXPECT_THAT(ParseWatchLine(R"({"type":"ADDED"})").error().message, HasSubstr("no object"));
}

TEST(WatchFrame, LineGivesTypeAndTheTextOfTheObject) {
  const std::string line = R"({ "object" : {"kind":"Pod","x":{"type":"no"}} , "type":"DELE\u0054ED"})";
  const base::Result<WatchLine> event = ParseWatchLine(line);
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, WatchType::kDeleted);
  EXPECT_EQ(event->object, R"({"kind":"Pod","x":{"type":"no"}})");
  EXPECT_EQ(event->object.data(), line.data() + line.find("{\"kind"));
}

TEST(WatchFrame, BrokenLinesAreErrors) {
  for (const std::string_view line :
       {"", "[]", "{", R"({"type":"ADDED","object":{)", R"({"type":1,"object":{}})",
        R"({"type":"ADDED","object":[]})", R"({"type":"ADDED","object":{}} x)"}) {
    EXPECT_FALSE(ParseWatchLine(line)) << line;
  }
}

TEST(WatchFrame, WrittenFramesAreReadBack) {
  const std::string body = WriteEnvelope({"v1", "Status", "abc"});
  const std::string frame = WriteWatchFrame(WatchType::kError, body);
  const base::Result<WatchFrame> event = ParseWatchFrame(std::string_view(frame).substr(4));
  ASSERT_TRUE(event) << event.error().message;
  EXPECT_EQ(event->type, WatchType::kError);
  EXPECT_EQ(event->object.kind, "Status");
  EXPECT_EQ(event->object.raw, "abc");

  EXPECT_EQ(WriteWatchLine(WatchType::kModified, "{}"), "{\"type\":\"MODIFIED\",\"object\":{}}\n");
}

}  // namespace
}  // namespace berth::wire
