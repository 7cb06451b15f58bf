#include "client/event_recorder.h"

#include <chrono>
#include <utility>

#include "absl/hash/hash.h"
#include "client/uuid.h"
#include "fmt/format.h"

#include "api/validation.h"
#include "base/check.h"
#include "base/log.h"
#include "wire/codec.h"

namespace berth::client {
namespace {

constexpr std::size_t kNoteBytesMax = 1024;
constexpr std::string_view kCutMark = " ...";
constexpr int kTriesMax = 12;
constexpr double kTryPauseSeconds = 10;
constexpr double kTryPauseJitter = 0.25;
constexpr auto kCloseAfter = std::chrono::minutes(6);
constexpr int kClosesPerRefresh = 5;  // 30 minutes
constexpr auto kAskAgain = std::chrono::seconds(5);

void CutNote(std::string& note) {
  if (note.size() <= kNoteBytesMax) return;
  std::size_t size = kNoteBytesMax - kCutMark.size();
  // Not inside a character: its bytes but the first start with the bits 10.
  while (size > 0 && (static_cast<unsigned char>(note[size]) & 0xc0) == 0x80) --size;
  note.resize(size);
  note += kCutMark;
}

std::uint64_t HashOf(std::uint64_t salt, const api::ObjectReference& reference) {
  return absl::HashOf(salt, reference.kind, reference.namespace_, reference.name, reference.uid,
                      reference.api_version, reference.resource_version);
}

std::uint64_t HashOf(std::uint64_t salt, const EventNote& note) {
  return absl::HashOf(salt, note.type, note.action, note.reason, note.reporting_controller,
                      HashOf(salt, note.regarding), note.related ? HashOf(salt, *note.related) : 0);
}

api::MicroTime MicroTimeOf(std::int64_t unix_nanos) { return {.unix_micros = unix_nanos / 1000}; }

api::Time ToSeconds(api::MicroTime time) { return {.unix_seconds = time.unix_micros / 1'000'000}; }

api::CoreEvent ToCore(const api::Event& event) {
  api::CoreEvent core;
  core.metadata = event.metadata;
  core.involved_object = event.regarding;
  core.reason = event.reason;
  core.message = event.note;
  core.source.component = event.reporting_controller;
  core.first_timestamp = ToSeconds(event.event_time);
  core.last_timestamp = ToSeconds(event.series ? event.series->last_observed_time : event.event_time);
  core.count = event.series ? event.series->count : 1;
  core.type = event.type;
  core.reporting_component = event.reporting_controller;
  core.reporting_instance = event.reporting_instance;
  return core;
}

// What was encoded here.
api::Event Decoded(const std::string& encoded) {
  auto event = wire::DecodeProtobuf<api::Event>(encoded);
  BERTH_CHECK(event.has_value());
  return *std::move(event);
}

}  // namespace

base::Task<EventRecorder::Api> FindEventApi(ApiClient& client) {
  for (;;) {
    ApiRequest request;
    request.path = "/apis/events.k8s.io/v1";
    const auto response = co_await client.Send(std::move(request));
    if (response) co_return EventRecorder::Api::kNew;
    if (response.error().status) co_return EventRecorder::Api::kCore;
    co_await client.executor().SleepFor(kAskAgain);
  }
}

EventRecorder::EventRecorder(ApiClient& client, Options options)
    : client_(client),
      executor_(client.executor()),
      options_(std::move(options)),
      random_(options_.seed),
      api_(options_.api.value_or(Api::kNew)),
      api_known_(executor_),
      writes_(executor_) {
  if (options_.api) api_known_.Set();
}

std::int64_t EventRecorder::NowNanos() const {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(executor_.clock().WallNow().time_since_epoch())
      .count();
}

EventRecorder::Key EventRecorder::KeyOf(const EventNote& note) { return {HashOf(0, note), HashOf(1, note)}; }

api::Event EventRecorder::MakeEvent(EventNote note, std::int64_t created_nanos) const {
  api::Event event;
  event.metadata.name = fmt::format("{}.{:x}", note.regarding.name, created_nanos);
  if (!api::SubdomainProblems(event.metadata.name).empty()) {
    // The same whenever it is asked for.
    base::Random random(options_.seed ^ HashOf(static_cast<std::uint64_t>(created_nanos), note.regarding));
    event.metadata.name = MakeUuid(random);
  }
  event.metadata.namespace_ = note.regarding.namespace_.empty() ? "default" : note.regarding.namespace_;
  event.event_time = MicroTimeOf(created_nanos);
  event.reporting_instance = note.reporting_controller + "-" + options_.hostname;
  event.reporting_controller = std::move(note.reporting_controller);
  event.action = std::move(note.action);
  event.reason = std::move(note.reason);
  event.regarding = std::move(note.regarding);
  event.related = std::move(note.related);
  event.note = std::move(note.note);
  event.type = std::move(note.type);
  return event;
}

void EventRecorder::Record(EventNote note) {
  CutNote(note.note);
  const std::int64_t now = NowNanos();
  const auto [entry, is_new] = known_.try_emplace(KeyOf(note));
  Known& known = entry->second;
  if (is_new) {
    known.created_nanos = now;
    known.note = note.note;
    known_in_order_.push_back(entry->first);
    Enqueue(MakeEvent(std::move(note), now));
    return;
  }
  const bool was_series = known.series != nullptr;
  if (!was_series) {
    note.note = std::exchange(known.note, {});
    known.series = std::make_unique<api::Event>(MakeEvent(std::move(note), known.created_nanos));
    known.series->series.emplace().count = 1;
  }
  api::EventSeries& series = *known.series->series;
  ++series.count;
  series.last_observed_time = MicroTimeOf(now);
  if (!was_series) Enqueue(*known.series);
}

void EventRecorder::Enqueue(const api::Event& event) {
  if (pending_ >= options_.pending_max) {
    ++dropped_;
    return;
  }
  ++pending_;
  waiting_.push_back({.namespace_ = event.metadata.namespace_,
                      .event = wire::EncodeProtobuf(event),
                      .is_series = event.series.has_value(),
                      .tries = 0});
  StartWriting();
}

void EventRecorder::StartWriting() {
  if (writers_ >= options_.requests_max) return;
  ++writers_;
  writes_.Spawn(WriteWaiting());
}

ApiRequest EventRecorder::CreateRequest(const Waiting& waiting) const {
  const ResourceInfo& info = api_ == Api::kNew ? kEvents : kCoreEvents;
  ApiRequest request{.method = "POST",
                     .path = CollectionPath(info, waiting.namespace_),
                     .subject = {.method = "", .resource = QualifiedName(info), .name = ""}};
  if (api_ == Api::kNew) {
    SetEncodedBody(request, wire::KindOf<api::Event>(), waiting.event);
  } else {
    SetBody(request, ToCore(Decoded(waiting.event)));
  }
  return request;
}

ApiRequest EventRecorder::PatchRequest(const api::Event& event) const {
  const ResourceInfo& info = api_ == Api::kNew ? kEvents : kCoreEvents;
  std::string body;
  if (api_ == Api::kNew) {
    body = fmt::format(R"({{"series":{{"count":{},"lastObservedTime":"{}"}}}})", event.series->count,
                       api::FormatMicroTime(event.series->last_observed_time));
  } else {
    body = fmt::format(R"({{"count":{},"lastTimestamp":"{}"}})", event.series->count,
                       api::FormatTime(ToSeconds(event.series->last_observed_time)));
  }
  return {.method = "PATCH",
          .path = ObjectPath(info, event.metadata.namespace_, event.metadata.name),
          .content_type = std::string(kStrategicMergePatch),
          .body = std::move(body),
          .subject = {.method = "", .resource = QualifiedName(info), .name = event.metadata.name}};
}

base::Task<void> EventRecorder::FindApi() {
  if (options_.api) co_return;
  api_ = co_await FindEventApi(client_);
  api_known_.Set();
}

base::Task<void> EventRecorder::WriteWaiting() {
  co_await api_known_.WaitFor();
  while (!waiting_.empty()) {
    Waiting next = std::move(waiting_.front());
    waiting_.pop_front();
    const Attempt attempt = co_await WriteOnce(next);
    if (attempt == Attempt::kAgain && ++next.tries < kTriesMax) {
      writes_.Spawn(WriteLater(std::move(next)));
      continue;
    }
    if (attempt == Attempt::kAgain) {
      BERTH_LOG_ERROR(nullptr, "Unable to write event (retry limit exceeded!)",
                      {"event", Decoded(next.event).metadata.name});
    }
    --pending_;
  }
  --writers_;
}

base::Task<void> EventRecorder::WriteLater(Waiting waiting) {
  const double seconds = kTryPauseSeconds * (1 + kTryPauseJitter * random_.UniformReal());
  co_await executor_.SleepFor(base::Duration(static_cast<std::int64_t>(seconds * 1e9)));
  waiting_.push_back(std::move(waiting));
  StartWriting();
}

base::Task<EventRecorder::Attempt> EventRecorder::WriteOnce(const Waiting& waiting) {
  const bool is_series = waiting.is_series;
  std::optional<ApiError> error;
  if (is_series) {
    ApiRequest request = PatchRequest(Decoded(waiting.event));
    const auto patched = co_await client_.Send(std::move(request));
    if (patched) co_return Attempt::kDone;
    error = patched.error();
  }
  // The event may be gone: servers keep them for an hour or so.
  if (!is_series || IsNotFound(*error)) {
    ApiRequest request = CreateRequest(waiting);
    const auto created = co_await client_.Send(std::move(request));
    if (created) co_return Attempt::kDone;
    error = created.error();
  }
  // The event of a series exists after all: its creation was still on the way.
  if (is_series && IsAlreadyExists(*error)) co_return Attempt::kAgain;
  if (!error->status) {
    BERTH_LOG_ERROR(error->message, "Unable to write event (may retry after sleeping)");
    co_return Attempt::kAgain;
  }
  BERTH_LOG_ERROR(error->message, "Server rejected event (will not retry!)",
                  {"event", Decoded(waiting.event).metadata.name});
  co_return Attempt::kDone;
}

void EventRecorder::CloseIdle() {
  const std::int64_t limit = NowNanos() - std::chrono::nanoseconds(kCloseAfter).count();
  std::erase_if(known_in_order_, [&](const Key& key) {
    const auto entry = known_.find(key);
    std::unique_ptr<api::Event>& series = entry->second.series;
    const std::int64_t last =
        series ? series->series->last_observed_time.unix_micros * 1000 : entry->second.created_nanos;
    if (last >= limit) return false;
    if (series) Enqueue(*series);
    known_.erase(entry);
    return true;
  });
  // After a burst there are few left.
  known_in_order_.shrink_to_fit();
  known_.rehash(0);
}

base::Task<void> EventRecorder::Run() {
  co_await FindApi();
  for (int closes = 1;; ++closes) {
    co_await executor_.SleepFor(kCloseAfter);
    CloseIdle();
    if (closes % kClosesPerRefresh != 0) continue;
    for (const Key& key : known_in_order_) {
      if (const auto& series = known_.find(key)->second.series) Enqueue(*series);
    }
  }
}

}  // namespace berth::client
