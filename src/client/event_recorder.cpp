#include "client/event_recorder.h"

#include <utility>
#include <vector>

#include "client/uuid.h"
#include "fmt/format.h"

#include "api/validation.h"
#include "base/log.h"

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

std::string Text(const api::ObjectReference& reference) {
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}", reference.kind, reference.namespace_, reference.name,
                     reference.uid, reference.api_version, reference.resource_version);
}

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

api::MicroTime EventRecorder::Now() const {
  return {.unix_micros = std::chrono::duration_cast<std::chrono::microseconds>(
                             executor_.clock().WallNow().time_since_epoch())
                             .count()};
}

EventRecorder::Key EventRecorder::KeyOf(const api::Event& event) {
  return {event.type,
          event.action,
          event.reason,
          event.reporting_controller,
          Text(event.regarding),
          event.related ? Text(*event.related) : std::string()};
}

api::Event EventRecorder::MakeEvent(EventNote note) {
  CutNote(note.note);
  api::Event event;
  event.metadata.name =
      fmt::format("{}.{:x}", note.regarding.name, executor_.clock().WallNow().time_since_epoch().count());
  if (!api::SubdomainProblems(event.metadata.name).empty()) event.metadata.name = MakeUuid(random_);
  event.metadata.namespace_ = note.regarding.namespace_.empty() ? "default" : note.regarding.namespace_;
  event.event_time = Now();
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
  api::Event event = MakeEvent(std::move(note));
  const auto [entry, is_new] = series_.try_emplace(KeyOf(event), event);
  api::Event& known = entry->second;
  if (is_new) {
    Spawn(known);
    return;
  }
  const bool was_series = known.series.has_value();
  if (!was_series) known.series.emplace().count = 1;
  ++known.series->count;
  known.series->last_observed_time = event.event_time;
  if (!was_series) Spawn(known);
}

void EventRecorder::Spawn(const api::Event& event) {
  if (writes_.size() >= options_.pending_max) {
    ++dropped_;
    return;
  }
  writes_.Spawn(Write(event));
}

ApiRequest EventRecorder::CreateRequest(const api::Event& event) const {
  const ResourceInfo& info = api_ == Api::kNew ? kEvents : kCoreEvents;
  ApiRequest request{.method = "POST",
                     .path = CollectionPath(info, event.metadata.namespace_),
                     .subject = {.method = "", .resource = QualifiedName(info), .name = ""}};
  if (api_ == Api::kNew) {
    SetBody(request, event);
  } else {
    SetBody(request, ToCore(event));
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

base::Task<void> EventRecorder::Write(api::Event event) {
  co_await api_known_.WaitFor();
  for (int tries = 1;; ++tries) {
    const Attempt attempt = co_await WriteOnce(event);
    if (attempt == Attempt::kDone) co_return;
    if (tries == kTriesMax) {
      BERTH_LOG_ERROR(nullptr, "Unable to write event (retry limit exceeded!)",
                      {"event", event.metadata.name});
      co_return;
    }
    const double seconds = kTryPauseSeconds * (1 + kTryPauseJitter * random_.UniformReal());
    co_await executor_.SleepFor(base::Duration(static_cast<std::int64_t>(seconds * 1e9)));
  }
}

base::Task<EventRecorder::Attempt> EventRecorder::WriteOnce(const api::Event& event) {
  const bool is_series = event.series.has_value();
  std::optional<ApiError> error;
  if (is_series) {
    const auto patched = co_await client_.Send(PatchRequest(event));
    if (patched) co_return Attempt::kDone;
    error = patched.error();
  }
  // The event may be gone: servers keep them for an hour or so.
  if (!is_series || IsNotFound(*error)) {
    const auto created = co_await client_.Send(CreateRequest(event));
    if (created) co_return Attempt::kDone;
    error = created.error();
  }
  // The event of a series exists after all: its creation was still on the way.
  if (is_series && IsAlreadyExists(*error)) co_return Attempt::kAgain;
  if (!error->status) {
    BERTH_LOG_ERROR(error->message, "Unable to write event (may retry after sleeping)");
    co_return Attempt::kAgain;
  }
  BERTH_LOG_ERROR(error->message, "Server rejected event (will not retry!)", {"event", event.metadata.name});
  co_return Attempt::kDone;
}

void EventRecorder::CloseIdle() {
  const std::int64_t limit = Now().unix_micros - std::chrono::microseconds(kCloseAfter).count();
  std::erase_if(series_, [&](const auto& entry) {
    const api::Event& event = entry.second;
    const api::MicroTime last = event.series ? event.series->last_observed_time : event.event_time;
    if (last.unix_micros >= limit) return false;
    if (event.series) Spawn(event);
    return true;
  });
}

base::Task<void> EventRecorder::Run() {
  co_await FindApi();
  for (int closes = 1;; ++closes) {
    co_await executor_.SleepFor(kCloseAfter);
    CloseIdle();
    if (closes % kClosesPerRefresh != 0) continue;
    for (const auto& [key, event] : series_) {
      if (event.series) Spawn(event);
    }
  }
}

}  // namespace berth::client
