#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>

#include "sandbox/api_harness.h"
#include "wire/envelope.h"
#include "wire/watch_frame.h"

// Lists and watches as reflectors, kubectl and load generators use them.
namespace berth::sandbox::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class Watching : public testing::Test {
 protected:
  void CreatePod(std::string_view name) { ASSERT_EQ(api_.Post(kPods, PodJson(name)).code, 201); }
  void SetPhase(std::string_view name, std::string_view phase) {
    ASSERT_EQ(
        api_.Patch(PodPath(name) + "/status", R"({"status":{"phase":")" + std::string(phase) + R"("}})").code,
        200);
  }
  std::shared_ptr<Recorded> WatchPods(const std::string& query) {
    return api_.Watch(std::string(kPods) + "?watch=true&" + query);
  }

  ApiHarness api_;
};

TEST_F(Watching, Case54VersionsBeforeAndAfterHistory) {
  CreatePod("a");
  CreatePod("b");
  api_.plane().store().Compact();
  const auto old = WatchPods("resourceVersion=1");
  EXPECT_EQ(old->code, 200);
  ASSERT_EQ(old->events().size(), 1U);
  EXPECT_EQ(old->events()[0].type, "ERROR");
  EXPECT_EQ(NumberAt(old->events()[0].object, {"code"}), 410);
  EXPECT_EQ(TextAt(old->events()[0].object, {"reason"}), "Expired");
  EXPECT_EQ(TextAt(old->events()[0].object, {"message"}),
            "too old resource version: 1 (" + api_.version() + ")");
  EXPECT_TRUE(old->finished);

  const auto current = WatchPods("resourceVersion=" + api_.version());
  const auto future = WatchPods("resourceVersion=999999");
  CreatePod("c");
  EXPECT_THAT(current->story(), ElementsAre("ADDED c"));
  EXPECT_THAT(future->bytes, IsEmpty());

  const auto broken = WatchPods("resourceVersion=abc");
  EXPECT_EQ(broken->code, 422);
  EXPECT_EQ(api_.Get(std::string(kPods) + "?resourceVersion=abc").code, 400);
}

TEST_F(Watching, Case55LeavingTheSelectionIsADeletionOfTheOldContent) {
  CreatePod("a");
  const auto watch = WatchPods("resourceVersion=" + api_.version() +
                               "&fieldSelector=status.phase%21%3DSucceeded%2Cstatus.phase%21%3DFailed");
  SetPhase("a", "Running");
  SetPhase("a", "Succeeded");
  SetPhase("a", "Failed");
  SetPhase("a", "Pending");
  EXPECT_THAT(watch->story(), ElementsAre("MODIFIED a", "DELETED a", "ADDED a"));
  const std::vector<Recorded::Event> events = watch->events();
  EXPECT_EQ(TextAt(events[1].object, {"status", "phase"}), "Running");
  EXPECT_GT(ParseVersion(TextAt(events[1].object, {"metadata", "resourceVersion"})),
            ParseVersion(TextAt(events[0].object, {"metadata", "resourceVersion"})));
}

TEST_F(Watching, Case55UnknownFieldIsRefusedByName) {
  const Reply list = api_.Get(std::string(kPods) + "?fieldSelector=spec.foo%3D1");
  EXPECT_EQ(list.code, 400);
  EXPECT_EQ(list.message(), "field label not supported: spec.foo");
  const Reply leases = api_.Get("/apis/coordination.k8s.io/v1/leases?fieldSelector=spec.foo%3D1");
  EXPECT_EQ(leases.message(),
            "\"spec.foo\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
  const Reply label = api_.Get(std::string(kPods) + "?labelSelector=a%20in%20(b");
  EXPECT_EQ(label.code, 400);
  EXPECT_THAT(label.message(), HasSubstr("unable to parse requirement: "));
}

struct BadOptionsCase {
  std::string_view query;
  std::string_view text;
};

class BadOptions : public testing::TestWithParam<BadOptionsCase> {};

TEST_P(BadOptions, Case56AreInvalidWithTheirReason) {
  ApiHarness api;
  const Reply reply = api.Get(std::string(kPods) + "?" + std::string(GetParam().query));
  EXPECT_EQ(reply.code, 422);
  EXPECT_THAT(reply.message(), HasSubstr(GetParam().text));
  EXPECT_EQ(reply.text({"details", "group"}), "meta.k8s.io");
  EXPECT_EQ(reply.text({"details", "kind"}), "ListOptions");
}

INSTANTIATE_TEST_SUITE_P(
    Watching, BadOptions,
    testing::Values(BadOptionsCase{"watch=true&sendInitialEvents=true",
                                   "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"},
                    BadOptionsCase{"sendInitialEvents=true", "sendInitialEvents is forbidden for list"},
                    BadOptionsCase{"resourceVersionMatch=Exact",
                                   "resourceVersionMatch is forbidden unless resourceVersion is provided"},
                    BadOptionsCase{
                        "watch=true&resourceVersion=5&resourceVersionMatch=NotOlderThan",
                        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"}));

TEST_F(Watching, InitialEventsEndWithTheMarker) {
  CreatePod("b");
  CreatePod("a");
  const auto watch =
      WatchPods("allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan");
  CreatePod("c");
  EXPECT_THAT(watch->story(), ElementsAre("ADDED a", "ADDED b", "BOOKMARK ", "ADDED c"));
  const json::object marker = watch->events()[2].object;
  EXPECT_EQ(TextAt(marker, {"metadata", "annotations", "k8s.io/initial-events-end"}), "true");
  EXPECT_EQ(TextAt(marker, {"kind"}), "Pod");
}

TEST_F(Watching, BookmarksComeEveryMinuteAndBeforeTheEnd) {
  const auto watch =
      WatchPods("allowWatchBookmarks=true&timeoutSeconds=100&resourceVersion=" + api_.version());
  api_.Advance(std::chrono::seconds(61));
  EXPECT_EQ(watch->events().size(), 1U);
  api_.Advance(std::chrono::seconds(38));
  EXPECT_EQ(watch->events().size(), 2U);
  EXPECT_FALSE(watch->finished);
  api_.Advance(std::chrono::seconds(2));
  EXPECT_TRUE(watch->finished);
  EXPECT_EQ(api_.plane().api().watch_count(), 0U);
  const auto silent = WatchPods("timeoutSeconds=100&resourceVersion=" + api_.version());
  api_.Advance(std::chrono::seconds(70));
  EXPECT_THAT(silent->bytes, IsEmpty());
}

TEST_F(Watching, ProtobufFramesCarryTheSameEvents) {
  const auto watch = api_.Start("GET", std::string(kPods) + "?watch=true&resourceVersion=" + api_.version(),
                                "", {{"Accept", "application/vnd.kubernetes.protobuf"}});
  EXPECT_EQ(*watch->headers.Find("Content-Type"), "application/vnd.kubernetes.protobuf;stream=watch");
  CreatePod("a");
  wire::FrameSplitter splitter(wire::FrameSplitter::Framing::kLength);
  splitter.Feed(watch->bytes);
  const auto frame = splitter.Next();
  ASSERT_TRUE(frame && *frame);
  const auto event = wire::ParseWatchFrame(**frame);
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(event->type, wire::WatchType::kAdded);
  EXPECT_EQ(event->object.kind, "Pod");
}

TEST_F(Watching, PagesShareOneVersionWhateverHappensBetweenThem) {
  for (const char* name : {"a", "b", "c", "d"}) CreatePod(name);
  const Reply first = api_.Get(std::string(kPods) + "?limit=2");
  const std::string token = first.text({"metadata", "continue"});
  ASSERT_FALSE(token.empty());
  ASSERT_EQ(api_.Delete(PodPath("c")).code, 200);
  CreatePod("bb");
  const json::object second = api_.Get(std::string(kPods) + "?limit=2&continue=" + token).document();
  const json::array& items = *FindArray(second, {"items"});
  ASSERT_EQ(items.size(), 2U);
  EXPECT_EQ(TextAt(items[0].as_object(), {"metadata", "name"}), "c");
  EXPECT_EQ(TextAt(items[1].as_object(), {"metadata", "name"}), "d");
  EXPECT_EQ(TextAt(second, {"metadata", "resourceVersion"}), first.version());
  EXPECT_EQ(TextAt(second, {"metadata", "continue"}), "");
  const Reply mixed = api_.Get(std::string(kPods) + "?limit=2&resourceVersion=3&continue=" + token);
  EXPECT_EQ(mixed.message(), "specifying resource version is not allowed when using continue");
  api_.plane().store().Compact();
  CreatePod("e");
  EXPECT_EQ(api_.Get(std::string(kPods) + "?limit=2&continue=" + token).code, 410);
}

TEST_F(Watching, ListOfTheFutureWaitsAndThenGivesUp) {
  const std::uint64_t now = api_.plane().store().version();
  const auto reached = api_.Start("GET", std::string(kPods) + "?resourceVersion=" + std::to_string(now + 1));
  EXPECT_EQ(reached->code, 0);
  CreatePod("a");
  EXPECT_EQ(reached->code, 200);
  const auto missed = api_.Start("GET", std::string(kPods) + "?resourceVersion=" + std::to_string(now + 50));
  api_.Advance(std::chrono::seconds(3));
  EXPECT_EQ(missed->code, 504);
  const json::object status = Parse(missed->bytes);
  EXPECT_EQ(TextAt(status, {"message"}), "Timeout: Too large resource version: " + std::to_string(now + 50) +
                                             ", current: " + api_.version());
  EXPECT_EQ(*missed->headers.Find("Retry-After"), "1");
}

TEST_F(Watching, ExactVersionShowsThePast) {
  CreatePod("a");
  const std::string then = api_.version();
  CreatePod("b");
  ASSERT_EQ(api_.Delete(PodPath("a")).code, 200);
  const json::object past =
      api_.Get(std::string(kPods) + "?resourceVersionMatch=Exact&resourceVersion=" + then).document();
  const json::array& items = *FindArray(past, {"items"});
  ASSERT_EQ(items.size(), 1U);
  EXPECT_EQ(TextAt(items[0].as_object(), {"metadata", "name"}), "a");
}

TEST_F(Watching, Case62ManyWatchersSeeTheirMatchesOnceInOrderAndAStuckReaderIsDropped) {
  constexpr int kNodes = 200;
  constexpr int kWrites = 2000;
  ControlPlane::Options options;
  options.api.watch_backlog_max = 4096;
  ApiHarness api(std::move(options));
  std::vector<std::shared_ptr<Recorded>> by_node;
  for (int node = 0; node < kNodes; ++node) {
    by_node.push_back(api.Watch(std::string(kPods) + "?watch=true&resourceVersion=" + api.version() +
                                "&fieldSelector=spec.nodeName%3Dn" + std::to_string(node)));
  }
  const auto stuck =
      api.Start("GET", std::string(kPods) + "?watch=true&resourceVersion=" + api.version(), "", {}, true);
  for (int i = 0; i < kWrites; ++i) {
    const std::string node = "n" + std::to_string(i % kNodes);
    ASSERT_EQ(api.Post(kPods, PodJson("p" + std::to_string(i), R"(,"nodeName":")" + node + "\"")).code, 201);
  }
  for (int node = 0; node < kNodes; ++node) {
    std::set<std::string> names;
    std::uint64_t last = 0;
    for (const Recorded::Event& event : by_node[static_cast<std::size_t>(node)]->events()) {
      names.emplace(TextAt(event.object, {"metadata", "name"}));
      const std::uint64_t version = *ParseVersion(TextAt(event.object, {"metadata", "resourceVersion"}));
      EXPECT_GT(version, last);
      last = version;
      EXPECT_EQ(TextAt(event.object, {"spec", "nodeName"}), "n" + std::to_string(node));
    }
    EXPECT_EQ(names.size(), static_cast<std::size_t>(kWrites / kNodes));
  }
  EXPECT_TRUE(stuck->dropped);
  EXPECT_FALSE(stuck->finished);
}

TEST_F(Watching, ReaderThatLeavesIsForgotten) {
  const auto watch = WatchPods("resourceVersion=" + api_.version());
  EXPECT_EQ(api_.plane().api().watch_count(), 1U);
  watch->gone();
  api_.Advance(std::chrono::milliseconds(1));
  EXPECT_EQ(api_.plane().api().watch_count(), 0U);
  EXPECT_EQ(api_.plane().store().subscription_count(), 0U);
}

}  // namespace
}  // namespace berth::sandbox::test
