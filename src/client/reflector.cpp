#include "client/reflector.h"

#include <utility>

#include "client/whole_object.h"

#include "base/go_duration.h"
#include "base/log.h"

namespace berth::client {
namespace {

constexpr std::size_t kPageSize = 500;
// A watch that ends this soon with nothing in it is a server in trouble, not an end.
constexpr auto kShortWatch = std::chrono::seconds(1);
constexpr std::uint64_t kWatchSecondsMin = 300;

// Requests are put together outside the tasks: g++ 12 destroys the arrays behind initializer lists twice when
// they are in the frame of a coroutine.
ApiRequest ListRequest(const ResourceInfo& info, net::QueryPairs query) {
  if (!info.field_selector.empty()) query.emplace_back("fieldSelector", info.field_selector);
  return {.path = CollectionPath(info),
          .query = std::move(query),
          .subject = {.method = "", .resource = QualifiedName(info), .name = ""}};
}

ApiRequest WatchRequest(const ResourceInfo& info, const std::string& resource_version,
                        bool wants_initial_state, std::chrono::seconds timeout) {
  net::QueryPairs query = {{"allowWatchBookmarks", "true"},
                           {"timeout", base::FormatGoDuration(timeout)},
                           {"timeoutSeconds", std::to_string(timeout.count())},
                           {"watch", "true"}};
  if (wants_initial_state) {
    query.emplace_back("resourceVersionMatch", "NotOlderThan");
    query.emplace_back("sendInitialEvents", "true");
  }
  if (!resource_version.empty()) query.emplace_back("resourceVersion", resource_version);
  ApiRequest request = ListRequest(info, std::move(query));
  // Up to the header of the answer, which comes at once.
  request.timeout = WatchSession::kSilenceMax;
  return request;
}

std::unique_ptr<ObjectReader> ReaderFor(const Reflector::Options& options, api::SharedParts& shared) {
  auto reader = MakeObjectReader(options.resource, shared);
  return options.keep_whole ? MakeWholeReader(std::move(reader)) : std::move(reader);
}

ApiError Interrupted() { return {.message = "interrupted"}; }

// With what a reader needs to find out why: errors of the network name the address, those of the server do
// not.
void LogFailure(std::string_view what, const ResourceInfo& info, const ApiError& error) {
  if (error.status) {
    BERTH_LOG_ERROR(error.message, what, {"resource", info.plural}, {"path", CollectionPath(info)},
                    {"code", error.status->code});
  } else {
    BERTH_LOG_ERROR(error.message, what, {"resource", info.plural});
  }
}

}  // namespace

bool IsResourceVersionAtLeast(const std::string& version, const std::string& wanted) {
  return version.size() != wanted.size() ? version.size() > wanted.size() : version >= wanted;
}

Reflector::Reflector(ApiClient& client, api::SharedParts& shared, Options options, Sink sink)
    : client_(client),
      executor_(client.executor()),
      options_(std::move(options)),
      info_(InfoOf(options_.resource)),
      sink_(std::move(sink)),
      reader_(ReaderFor(options_, shared)),
      random_(options_.seed),
      backoff_(kReflectorBackoff, random_.Split()),
      refreshed_(executor_) {}

base::Task<void> Reflector::Run() {
  while (true) {
    interrupt_ = base::CancellationSource();
    refresh_running_ = refresh_wanted_;
    if (refresh_running_ != refresh_done_)
      unavailable_ = true;  // makes the next read one at the newest version
    co_await RunOnce();
    if (!IsInterrupted()) co_await Pause();
  }
}

base::Task<void> Reflector::Pause() {
  co_await executor_.SleepFor(backoff_.Next(executor_.clock().Now()), interrupt_.token());
}

// A server that is not there or has too much to do: no reason to read everything anew, but worth knowing.
base::Task<void> Reflector::PauseBecause(ApiError error) {
  was_refused_ = IsConnectionRefused(error);
  LogFailure("Failed to watch, trying again later", info_, error);
  co_await Pause();
}

base::Task<void> Reflector::Refresh() {
  const std::uint64_t wanted = ++refresh_wanted_;
  interrupt_.Cancel();
  while (refresh_done_ < wanted) {
    refreshed_.Reset();
    co_await refreshed_.WaitFor();
  }
}

base::Task<void> Reflector::RunOnce() {
  Session session;
  if (options_.use_watch_list) {
    auto listed = co_await WatchList();
    if (IsInterrupted()) co_return;
    if (listed) {
      session = std::move(*listed);
    } else {
      BERTH_LOG(2, "The watch-list stream could not be had, listing instead", {"resource", info_.plural},
                {"err", listed.error().message});
    }
  }
  if (!session) {
    const auto listed = co_await List();
    if (IsInterrupted()) co_return;
    if (!listed) {
      LogFailure("Failed to list", info_, listed.error());
      co_return;
    }
  }
  const auto watched = co_await Watch(std::move(session));
  if (!watched && !IsInterrupted()) {
    BERTH_LOG(1, "Watch closed", {"resource", info_.plural}, {"err", watched.error().message});
  }
}

void Reflector::Replace(std::vector<ReadObject> items, std::string resource_version) {
  unavailable_ = false;
  last_ = std::move(resource_version);
  has_synced_ = true;
  store_.Replace(std::move(items),
                 [this](std::vector<ObjectEvent> events) { Deliver(true, std::move(events)); });
  refresh_done_ = refresh_running_;
  refreshed_.Set();
}

void Reflector::Deliver(bool is_replace, std::vector<ObjectEvent> events) {
  sink_({.resource = options_.resource,
         .is_replace = is_replace,
         .resource_version = last_,
         .events = std::move(events)});
}

base::Task<ApiResult<void>> Reflector::List() {
  while (true) {
    const bool newest = unavailable_;
    const std::string version = newest ? "" : last_.empty() ? "0" : last_;
    std::vector<ReadObject> items;
    auto listed = co_await ReadPages(version, items);
    if (IsInterrupted()) co_return std::unexpected(Interrupted());
    if (listed) {
      Replace(std::move(items), std::move(*listed));
      co_return ApiResult<void>();
    }
    if (!newest && (IsExpired(listed.error()) || IsTooLargeResourceVersion(listed.error()))) {
      unavailable_ = true;
      continue;
    }
    co_return std::unexpected(std::move(listed.error()));
  }
}

// All pages; returns the resource version of the list.
base::Task<ApiResult<std::string>> Reflector::ReadPages(std::string resource_version,
                                                        std::vector<ReadObject>& items) {
  const bool in_pages = resource_version.empty() || resource_version == "0" || was_paginated_;
  std::string token;
  while (true) {
    net::QueryPairs query;
    if (in_pages) query.emplace_back("limit", std::to_string(kPageSize));
    if (!token.empty()) {
      query.emplace_back("continue", token);
    } else if (!resource_version.empty()) {
      query.emplace_back("resourceVersion", resource_version);
    }
    auto page = co_await ReadPage(std::move(query), items);
    if (!page && !token.empty() && IsExpired(page.error())) {
      // The pages so far are of a state that the server has forgotten: everything once more, at one go.
      items.clear();
      query.clear();
      if (!resource_version.empty()) query.emplace_back("resourceVersion", resource_version);
      page = co_await ReadPage(std::move(query), items);
    }
    if (!page) co_return std::unexpected(std::move(page.error()));
    if (page->continue_.empty()) co_return std::move(page->resource_version);
    if (resource_version == "0") was_paginated_ = true;
    token = std::move(page->continue_);
  }
}

base::Task<ApiResult<api::ListMeta>> Reflector::ReadPage(net::QueryPairs query,
                                                         std::vector<ReadObject>& items) {
  ApiRequest request = ListRequest(info_, std::move(query));
  auto response = co_await client_.Send(std::move(request));
  if (!response) co_return std::unexpected(std::move(response.error()));
  const auto keep = [&](ReadObject&& item) { items.push_back(std::move(item)); };
  base::Result<api::ListMeta> meta = base::Fail("");
  if (IsProtobuf(response->content_type)) {
    const auto envelope = wire::ParseEnvelope(response->body);
    meta = envelope ? reader_->ReadList(Encoding::kProtobuf, envelope->raw, keep)
                    : base::Result<api::ListMeta>(std::unexpected(envelope.error()));
  } else {
    meta = reader_->ReadList(Encoding::kJson, response->body, keep);
  }
  if (!meta) co_return std::unexpected(ApiError{.message = "the list is malformed: " + meta.error().message});
  co_return std::move(*meta);
}

base::Task<ApiResult<Reflector::Session>> Reflector::OpenWatch(std::string resource_version,
                                                               bool wants_initial_state) {
  const auto timeout = std::chrono::seconds(kWatchSecondsMin + random_.Uniform(kWatchSecondsMin));
  ApiRequest request = WatchRequest(info_, resource_version, wants_initial_state, timeout);
  const base::TimePoint opened = executor_.clock().Now();
  auto response = co_await client_.Watch(std::move(request));
  if (!response) co_return std::unexpected(std::move(response.error()));
  // The waits grew because the server was away. It is back: what it says next is not to be waited for as
  // long.
  if (std::exchange(was_refused_, false)) backoff_.Reset();
  co_return std::make_unique<WatchSession>(executor_, std::move(*response), *reader_, info_, opened);
}

void Reflector::OnSilence() {
  client_.DropIdleConnections();
  if (options_.on_silence) options_.on_silence();
}

bool Reflector::EndedAtOnce(const WatchSession& session) const {
  return session.event_count() == 0 && executor_.clock().Now() - session.opened() < kShortWatch;
}

base::Task<ApiResult<Reflector::Session>> Reflector::WatchList() {
  while (true) {
    std::string version = unavailable_ ? std::string() : last_;
    auto session = co_await OpenWatch(std::move(version), true);
    if (IsInterrupted()) co_return std::unexpected(Interrupted());
    InitialState state;
    std::string marker;
    ApiResult<void> collected;
    if (session) {
      collected = co_await Collect(**session, state, marker);
    } else {
      collected = std::unexpected(std::move(session.error()));
    }
    if (IsInterrupted()) co_return std::unexpected(Interrupted());
    if (collected && !marker.empty()) {
      Replace(state.Take(), std::move(marker));
      co_return std::move(*session);
    }
    if (collected) continue;  // it ended before the marker
    if (IsConnectionRefused(collected.error()) || IsTooManyRequests(collected.error())) {
      co_await PauseBecause(std::move(collected.error()));
      if (IsInterrupted()) co_return std::unexpected(Interrupted());
    } else if (!unavailable_ &&
               (IsExpired(collected.error()) || IsTooLargeResourceVersion(collected.error()))) {
      unavailable_ = true;
    } else {
      co_return std::unexpected(std::move(collected.error()));
    }
  }
}

// Reads up to the marker; without one the stream ended early.
base::Task<ApiResult<void>> Reflector::Collect(WatchSession& session, InitialState& state,
                                               std::string& marker) {
  while (true) {
    while (auto event = session.Next()) {
      switch (event->type) {
        case wire::WatchType::kError:
          co_return std::unexpected(std::move(*event->error));
        case wire::WatchType::kBookmark:
          if (!event->object.ends_initial_events) break;
          marker = IdentityOf(event->object.object).resource_version;
          co_return ApiResult<void>();
        case wire::WatchType::kDeleted:
          state.Remove(std::move(event->object));
          break;
        case wire::WatchType::kAdded:
        case wire::WatchType::kModified:
          state.Set(std::move(event->object));
          break;
      }
    }
    const WatchSession::Filled filled = co_await session.Fill(interrupt_.token());
    if (filled == WatchSession::Filled::kData) continue;
    if (filled == WatchSession::Filled::kSilent) OnSilence();
    if (filled == WatchSession::Filled::kEnd && EndedAtOnce(session)) {
      co_return std::unexpected(ApiError{.message = "very short watch: it ended at once with no event"});
    }
    co_return ApiResult<void>();
  }
}

base::Task<ApiResult<void>> Reflector::Watch(Session session) {
  bool opened_anywhere = false;
  while (true) {
    if (session) {
      session->Restart(executor_.clock().Now());
    } else {
      opened_anywhere = last_.empty() || last_ == "0";
      auto opened = co_await OpenWatch(last_, false);
      if (IsInterrupted()) co_return std::unexpected(Interrupted());
      if (!opened) {
        if (!IsConnectionRefused(opened.error()) && !IsTooManyRequests(opened.error())) {
          co_return std::unexpected(std::move(opened.error()));
        }
        co_await PauseBecause(std::move(opened.error()));
        if (IsInterrupted()) co_return std::unexpected(Interrupted());
        continue;
      }
      session = std::move(*opened);
    }
    auto followed = co_await Follow(*session, opened_anywhere);
    const bool ended_at_once = EndedAtOnce(*session);
    session.reset();
    if (IsInterrupted()) co_return std::unexpected(Interrupted());
    if (!followed) {
      if (!IsTooManyRequests(followed.error())) co_return std::unexpected(std::move(followed.error()));
      co_await PauseBecause(std::move(followed.error()));
      if (IsInterrupted()) co_return std::unexpected(Interrupted());
    } else if (ended_at_once) {
      co_return std::unexpected(ApiError{.message = "very short watch: it ended at once with no event"});
    }
  }
}

// Hands on what arrives until the stream ends; an ERROR event is the error.
base::Task<ApiResult<void>> Reflector::Follow(WatchSession& session, bool opened_anywhere) {
  // A watch at any version first sends what exists, in no order: until that is over no event's version is one
  // to go on from.
  bool in_order = !opened_anywhere;
  while (true) {
    std::vector<ObjectEvent> events;
    std::optional<ApiError> error;
    while (auto event = session.Next()) {
      if (event->type == wire::WatchType::kError) {
        error = std::move(*event->error);
        break;
      }
      in_order = in_order || event->type != wire::WatchType::kAdded;
      if (in_order) last_ = IdentityOf(event->object.object).resource_version;
      if (event->type == wire::WatchType::kBookmark) continue;
      store_.Apply(event->type, std::move(event->object), events);
    }
    if (!events.empty()) Deliver(false, std::move(events));
    if (error) co_return std::unexpected(std::move(*error));
    const WatchSession::Filled filled = co_await session.Fill(interrupt_.token());
    if (filled == WatchSession::Filled::kSilent) OnSilence();
    if (filled != WatchSession::Filled::kData) co_return ApiResult<void>();
  }
}

}  // namespace berth::client
