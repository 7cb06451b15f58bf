#include "sandbox/watch_stream.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <limits>

#include "base/check.h"
#include "sandbox/document.h"
#include "sandbox/representation.h"
#include "sandbox/table.h"
#include "wire/json_document.h"
#include "wire/transcode.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr base::Duration kLastBookmarkBefore = std::chrono::seconds(2);

WatchEncoding EncodingOf(MediaType media) {
  return media == MediaType::kProtobuf ? WatchEncoding::kProtobuf : WatchEncoding::kJson;
}

net::Buffer FrameOf(wire::WatchType type, const json::object& document, MediaType media) {
  const auto [made, bytes] = EncodeDocument(document, media);
  if (made == MediaType::kProtobuf) return net::MakeBuffer(wire::WriteWatchFrame(type, bytes));
  return net::MakeBuffer(wire::WriteWatchLine(type, wire::WriteJson(document)));
}

}  // namespace

WatchStream::WatchStream(Store& store, const base::Clock& clock, base::TimerQueue& timers, Settings settings,
                         std::unique_ptr<StreamSink> sink, std::function<void()> ended)
    : store_(store),
      clock_(clock),
      timers_(timers),
      settings_(std::move(settings)),
      sink_(std::move(sink)),
      ended_(std::move(ended)) {}

WatchStream::~WatchStream() {
  if (subscription_) store_.Unsubscribe(*subscription_);
  if (wait_) store_.CancelWait(*wait_);
  timers_.Cancel(deadline_timer_);
  timers_.Cancel(bookmark_timer_);
  timers_.Cancel(end_timer_);
}

void WatchStream::Start() {
  sink_->OnGone([this] { End(false); });
  deadline_ = clock_.Now() + settings_.lifetime;
  deadline_timer_ = timers_.Schedule(deadline_, [this] { End(true); });
  const std::uint64_t wanted = settings_.options.version.value_or(0);
  if (settings_.options.send_initial_events && wanted > store_.version()) {
    wait_ = store_.WhenReached(wanted, [this] {
      wait_.reset();
      Begin();
    });
    return;
  }
  Begin();
}

void WatchStream::Begin() {
  const ListOptions& options = settings_.options;
  backlog_allowed_ = std::numeric_limits<std::size_t>::max();
  if (options.send_initial_events) {
    SendInitialEvents();
  } else {
    const std::uint64_t from = options.version.value_or(0);
    const std::uint64_t oldest = store_.compacted(*settings_.served);
    if (from < oldest) {
      SendExpired(oldest);
      return;
    }
    sent_version_ = from;
    Replay();
  }
  if (sink_ == nullptr) return;
  backlog_allowed_ = sink_->queued_bytes() + settings_.backlog_max;
  subscription_ = store_.Subscribe(options.selection, *this);
  if (options.allow_bookmarks) ArmBookmark();
}

void WatchStream::SendInitialEvents() {
  const auto page = store_.List(settings_.options.selection);
  sent_version_ = store_.version();
  for (const RevisionPtr& object : page->items) {
    SendObject(wire::WatchType::kAdded, *object);
    if (sink_ == nullptr) return;
  }
  if (settings_.options.allow_bookmarks) SendBookmark(true);
}

void WatchStream::Replay() {
  store_.ForEachChangeSince(*settings_.served, sent_version_, [&](const Change& change) {
    ChangeFrames frames(change);
    if (sink_ != nullptr) SendChange(change, frames);
  });
}

void WatchStream::OnChange(const Change& change, ChangeFrames& frames) {
  if (sink_ != nullptr) SendChange(change, frames);
}

void WatchStream::SendChange(const Change& change, ChangeFrames& frames) {
  // A change that is announced late may already have been part of the initial events or of the replay.
  if (change.version <= sent_version_) return;
  sent_version_ = change.version;
  const std::optional<wire::WatchType> type =
      EventFor(change, [&](const Revision& object) { return settings_.options.selection.Matches(object); });
  if (!type) return;
  if (settings_.form.shape != Shape::kObject) {
    SendObject(*type, *frames.Object(*type));
    return;
  }
  Write(frames.Frame(*settings_.served, *type, EncodingOf(settings_.form.media)));
}

void WatchStream::SendObject(wire::WatchType type, const Revision& object) {
  const Resource& served = *settings_.served;
  switch (settings_.form.shape) {
    case Shape::kObject:
      Write(MakeFrame(served, type, object, EncodingOf(settings_.form.media)));
      return;
    case Shape::kMetadata:
      Write(FrameOf(type, MetadataOnly(served, object), settings_.form.media));
      return;
    case Shape::kTable:
      const RevisionPtr borrowed(RevisionPtr(), &object);
      TableOptions options{.include_object = settings_.include_object,
                           .now = clock_.WallNow(),
                           .with_columns = !table_header_sent_};
      table_header_sent_ = true;
      Write(FrameOf(type, MakeTable(served, {&borrowed, 1}, {.version = object.version()}, options),
                    MediaType::kJson));
      return;
  }
}

void WatchStream::SendBookmark(bool ends_initial_events) {
  const Resource& served = *settings_.served;
  json::object document;
  document["kind"] = served.kind;
  document["apiVersion"] = served.api_version;
  json::object& metadata = ObjectAt(document, {"metadata"});
  metadata["resourceVersion"] = std::to_string(std::max(sent_version_, store_.version()));
  if (ends_initial_events) metadata["annotations"] = json::object({{"k8s.io/initial-events-end", "true"}});
  if (settings_.form.shape == Shape::kTable) {
    Write(FrameOf(wire::WatchType::kBookmark,
                  MakeTable(served, {}, {.version = store_.version()},
                            {.now = clock_.WallNow(), .with_columns = !table_header_sent_}),
                  MediaType::kJson));
    return;
  }
  if (settings_.form.shape == Shape::kMetadata) {
    document["kind"] = "PartialObjectMetadata";
    document["apiVersion"] = "meta.k8s.io/v1";
  } else if (base::Result<json::object> whole = Normalize(served, document)) {
    document = std::move(*whole);  // an empty object, with the fields that even an empty one has
  }
  Write(FrameOf(wire::WatchType::kBookmark, document, settings_.form.media));
}

void WatchStream::SendExpired(std::uint64_t oldest) {
  const StatusError error = Expired(
      fmt::format("too old resource version: {} ({})", settings_.options.version.value_or(0), oldest));
  Write(FrameOf(wire::WatchType::kError, StatusDocument(error), settings_.form.media));
  End(true);
}

// Every minute, and once more shortly before the end, so that the next watch can begin late.
void WatchStream::ArmBookmark() {
  const base::TimePoint regular = clock_.Now() + settings_.bookmark_interval;
  const base::TimePoint last = deadline_ - kLastBookmarkBefore;
  const base::TimePoint next = last > clock_.Now() ? std::min(regular, last) : regular;
  if (next >= deadline_) return;
  bookmark_timer_ = timers_.Schedule(next, [this] {
    if (sink_ == nullptr) return;
    SendBookmark(false);
    if (sink_ != nullptr) ArmBookmark();
  });
}

void WatchStream::Write(net::Buffer frame) {
  if (sink_ == nullptr) return;
  sink_->Write(std::move(frame));
  if (sink_->queued_bytes() > backlog_allowed_) End(false);
}

void WatchStream::End(bool finish) {
  if (sink_ == nullptr) return;
  if (finish) sink_->Finish();
  sink_.reset();
  if (subscription_) store_.Unsubscribe(*subscription_);
  subscription_.reset();
  timers_.Cancel(deadline_timer_);
  timers_.Cancel(bookmark_timer_);
  end_timer_ = timers_.Schedule(clock_.Now(), [this] { ended_(); });
}

}  // namespace berth::sandbox
