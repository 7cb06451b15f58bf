#include "client/event_recorder.h"

#include <string>

#include "client/harness.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace berth::client {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::MatchesRegex;

class EventRecorderTest : public ClientTest {
 protected:
  EventRecorder& Recorder(EventRecorder::Api api = EventRecorder::Api::kNew) {
    auto& recorder = Make<EventRecorder>(client_, EventRecorder::Options{.api = api, .hostname = "host"});
    StartForGood(recorder.Run());
    return recorder;
  }
  static EventNote Failed(std::string note, std::string pod_version = "5") {
    EventNote event;
    event.regarding = {.kind = "Pod",
                       .namespace_ = "ns",
                       .name = "p",
                       .uid = "u",
                       .api_version = "v1",
                       .resource_version = std::move(pod_version)};
    event.type = "Warning";
    event.reason = "FailedScheduling";
    event.action = "Scheduling";
    event.note = std::move(note);
    event.reporting_controller = "default-scheduler";
    return event;
  }
  void AnswerAll() {
    server_.fallback = [](const SeenRequest&) -> std::optional<Answer> { return Json(201, "{}"); };
  }
  template <class T = api::Event>
  T Posted(std::size_t index) const {
    return *wire::DecodeProtobuf<T>(wire::ParseEnvelope(server_.seen.at(index).body)->raw);
  }
};

// Case 38.
TEST_F(EventRecorderTest, Case38RepetitionsBecomeASeries) {
  AnswerAll();
  EventRecorder& recorder = Recorder();
  recorder.Record(Failed("first"));
  RunReady();
  ASSERT_EQ(server_.seen.size(), 1U);
  EXPECT_EQ(last_seen().method + " " + last_seen().target,
            "POST /apis/events.k8s.io/v1/namespaces/ns/events");
  const api::Event event = Posted(0);
  EXPECT_THAT(event.metadata.name, MatchesRegex("p\\.[0-9a-f]+"));
  EXPECT_EQ(event.note, "first");
  EXPECT_EQ(event.reporting_instance, "default-scheduler-host");
  Advance(1s);
  recorder.Record(Failed("second"));
  RunReady();
  ASSERT_EQ(server_.seen.size(), 2U);
  EXPECT_EQ(last_seen().method, "PATCH");
  EXPECT_EQ(last_seen().target, "/apis/events.k8s.io/v1/namespaces/ns/events/" + event.metadata.name);
  EXPECT_EQ(last_seen().body, R"({"series":{"count":2,"lastObservedTime":"2026-05-28T20:26:41.000000Z"}})");
  recorder.Record(Failed("third"));
  RunReady();
  EXPECT_EQ(server_.seen.size(), 2U);
  recorder.Record(Failed("first", "6"));
  RunReady();
  EXPECT_EQ(server_.seen.size(), 3U);
  EXPECT_EQ(last_seen().method, "POST");
}

// Case 56 of the operations chapter.
TEST_F(EventRecorderTest, AnIdleSeriesIsWrittenOnceMoreAndForgotten) {
  AnswerAll();
  EventRecorder& recorder = Recorder();
  for (int i = 0; i < 3; ++i) recorder.Record(Failed("x"));
  recorder.Record(Failed("single", "9"));
  Advance(13min);
  EXPECT_EQ(recorder.series_count(), 0U);
  ASSERT_EQ(server_.seen.size(), 4U);
  EXPECT_THAT(last_seen().body, HasSubstr("\"count\":3"));
}

TEST_F(EventRecorderTest, ALivingSeriesIsWrittenEveryHalfHour) {
  AnswerAll();
  EventRecorder& recorder = Recorder();
  for (int minute = 0; minute < 30; ++minute) {
    recorder.Record(Failed("x"));
    Advance(1min);
  }
  ASSERT_EQ(server_.seen.size(), 3U);
  EXPECT_THAT(last_seen().body, HasSubstr("\"count\":30"));
}

// Case 39.
TEST_F(EventRecorderTest, Case39LongNotesAreCutAndClusterObjectsReportToDefault) {
  AnswerAll();
  EventRecorder& recorder = Recorder();
  EventNote note = Failed(std::string(2000, 'x') + "100%");
  note.regarding.namespace_ = "";
  recorder.Record(note);
  RunReady();
  EXPECT_EQ(last_seen().target, "/apis/events.k8s.io/v1/namespaces/default/events");
  EXPECT_EQ(Posted(0).note, std::string(1020, 'x') + " ...");
  recorder.Record(Failed(std::string(1019, 'x') + "\u00e4" + std::string(100, 'y')));
  RunReady();
  EXPECT_EQ(Posted(1).note, std::string(1019, 'x') + " ...") << "not inside a character";
}

// Case 57 of the operations chapter: kube-scheduler takes the note for a format.
TEST_F(EventRecorderTest, PercentSignsInANoteStay) {
  AnswerAll();
  Recorder().Record(Failed("100% of %s, %d and %"));
  RunReady();
  EXPECT_EQ(Posted(0).note, "100% of %s, %d and %");
}

// Case 58 of the operations chapter.
TEST_F(EventRecorderTest, ASeriesThatTheServerForgotIsCreatedAgain) {
  EventRecorder& recorder = Recorder();
  AddReply(Json(201, "{}"));
  recorder.Record(Failed("x"));
  RunReady();
  AddReply(Failure(404, "NotFound"));
  AddReply(Json(201, "{}"));
  recorder.Record(Failed("x"));
  RunReady();
  ASSERT_EQ(server_.seen.size(), 3U);
  EXPECT_EQ(Posted(2).series->count, 2);
}

TEST_F(EventRecorderTest, NetworkErrorsAreTriedAgainAndRefusalsAreNot) {
  EventRecorder& recorder = Recorder();
  AddReply(Broken(net::ErrorKind::kRefused));
  AddReply(Json(201, "{}"));
  recorder.Record(Failed("x"));
  Advance(9999ms);
  EXPECT_EQ(server_.seen.size(), 1U);
  Advance(2501ms);
  EXPECT_EQ(server_.seen.size(), 2U);
  AddReply(Failure(403, "Forbidden"));
  recorder.Record(Failed("y", "6"));
  Advance(5min);
  EXPECT_EQ(server_.seen.size(), 3U);
}

TEST_F(EventRecorderTest, TooManyOnTheirWayAreDropped) {
  EventRecorder& recorder =
      Make<EventRecorder>(client_, EventRecorder::Options{.hostname = "host", .pending_max = 2});
  for (int i = 0; i < 5; ++i) recorder.Record(Failed("x", std::to_string(i)));
  RunReady();
  EXPECT_EQ(server_.seen.size(), 2U);
  EXPECT_EQ(recorder.dropped(), 3U);
}

TEST_F(EventRecorderTest, FewAreOnTheirWayAtATimeAndTheOthersFollowInOrder) {
  EventRecorder& recorder =
      Make<EventRecorder>(client_, EventRecorder::Options{.hostname = "host", .requests_max = 2});
  for (int i = 0; i < 5; ++i) recorder.Record(Failed(std::to_string(i), std::to_string(i)));
  RunReady();
  EXPECT_EQ(server_.seen.size(), 2U);
  AnswerAll();
  recorder.Record(Failed("5", "5"));
  RunReady();
  EXPECT_EQ(server_.seen.size(), 2U) << "both are still waiting for their answer";
}

TEST_F(EventRecorderTest, OneThatIsToBeTriedAgainKeepsNoOtherWaiting) {
  EventRecorder& recorder =
      Make<EventRecorder>(client_, EventRecorder::Options{.hostname = "host", .requests_max = 1});
  AddReply(Broken(net::ErrorKind::kRefused));
  AnswerAll();
  for (int i = 0; i < 3; ++i) recorder.Record(Failed(std::to_string(i), std::to_string(i)));
  RunReady();
  ASSERT_EQ(server_.seen.size(), 3U);
  EXPECT_EQ(Posted(1).note, "1");
  EXPECT_EQ(Posted(2).note, "2");
  Advance(13s);
  ASSERT_EQ(server_.seen.size(), 4U);
  EXPECT_EQ(Posted(3).note, "0");
}

// The whole of it is not kept until it comes again.
TEST_F(EventRecorderTest, ASeriesHasTheNameTheTimeAndTheNoteOfItsFirst) {
  EventRecorder& recorder = Recorder();
  AddReply(Json(201, "{}"));
  recorder.Record(Failed("first"));
  RunReady();
  Advance(1s);
  AddReply(Failure(404, "NotFound"));
  AddReply(Json(201, "{}"));
  recorder.Record(Failed("second"));
  RunReady();
  ASSERT_EQ(server_.seen.size(), 3U);
  EXPECT_EQ(Posted(2).metadata.name, Posted(0).metadata.name);
  EXPECT_EQ(Posted(2).event_time, Posted(0).event_time);
  EXPECT_EQ(Posted(2).note, "first");
}

// Case 58 of the operations chapter.
TEST_F(EventRecorderTest, WithoutTheNewApiEventsGoToCore) {
  AddReply(Failure(404, "NotFound"));
  const auto api = Start(FindEventApi(client_));
  ASSERT_EQ(*api, EventRecorder::Api::kCore);
  AnswerAll();
  EventRecorder& recorder = Recorder(EventRecorder::Api::kCore);
  recorder.Record(Failed("x"));
  RunReady();
  EXPECT_EQ(last_seen().target, "/api/v1/namespaces/ns/events");
  const auto event = Posted<api::CoreEvent>(1);
  EXPECT_EQ(event.message, "x");
  EXPECT_EQ(event.count, 1);
  EXPECT_EQ(event.source.component, "default-scheduler");
}

// Case 58 of the operations chapter, in the recorder itself: what is recorded at the start is not lost.
TEST_F(EventRecorderTest, WhatIsRecordedWaitsUntilTheServerHasSaidWhichEventsItHas) {
  AddReply(Broken(net::ErrorKind::kRefused));
  AddReply(Failure(404, "NotFound"));
  AnswerAll();
  auto& recorder =
      Make<EventRecorder>(client_, EventRecorder::Options{.api = std::nullopt, .hostname = "host"});
  StartForGood(recorder.Run());
  recorder.Record(Failed("x"));
  Advance(1min);
  ASSERT_EQ(server_.seen.size(), 3U);
  EXPECT_EQ(server_.seen[0].target, "/apis/events.k8s.io/v1");
  EXPECT_EQ(server_.seen[1].target, "/apis/events.k8s.io/v1");
  EXPECT_EQ(last_seen().method + " " + last_seen().target, "POST /api/v1/namespaces/ns/events");
}

TEST_F(EventRecorderTest, ANameThatIsNoSubdomainGetsAUuid) {
  AnswerAll();
  EventRecorder& recorder = Recorder();
  EventNote note = Failed("x");
  note.regarding.name = "host_name";
  recorder.Record(note);
  RunReady();
  EXPECT_THAT(Posted(0).metadata.name,
              MatchesRegex("[0-9a-f]+-[0-9a-f]+-4[0-9a-f][0-9a-f][0-9a-f]-[89ab][0-9a-f]+-[0-9a-f]+"));
}

}  // namespace
}  // namespace berth::client
