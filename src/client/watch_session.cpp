#include "client/watch_session.h"

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "client/deadline.h"
#include "fmt/format.h"

#include "base/log.h"
#include "wire/codec.h"
#include "wire/json_document.h"

namespace berth::client {
namespace {

Encoding EncodingOf(const OpenResponse* response) {
  const std::string* type = response == nullptr ? nullptr : response->headers.Find("Content-Type");
  return type != nullptr && IsProtobuf(*type) ? Encoding::kProtobuf : Encoding::kJson;
}

std::string JsonKind(std::string_view text) {
  const auto document = wire::ParseJson(text);
  if (!document || !document->is_object()) return "";
  const auto* kind = document->get_object().if_contains("kind");
  return kind != nullptr && kind->is_string() ? std::string(kind->get_string()) : "";
}

}  // namespace

WatchSession::WatchSession(base::Executor& executor, std::unique_ptr<OpenResponse> response,
                           ObjectReader& reader, const ResourceInfo& resource, base::TimePoint opened)
    : executor_(executor),
      response_(std::move(response)),
      reader_(reader),
      resource_(resource),
      opened_(opened),
      encoding_(EncodingOf(response_.get())),
      splitter_(encoding_ == Encoding::kProtobuf ? wire::FrameSplitter::Framing::kLength
                                                 : wire::FrameSplitter::Framing::kLine) {}

WatchSession::Event WatchSession::Broken(const std::string& why) {
  broken_ = true;
  api::Status status;
  status.status = "Failure";
  status.reason = "InternalError";
  status.code = 500;
  status.message = "unable to decode an event from the watch stream: " + why;
  return {.type = wire::WatchType::kError, .object = {}, .error = ApiError::FromStatus(std::move(status))};
}

std::optional<WatchSession::Event> WatchSession::Next() {
  while (!broken_) {
    const auto frame = splitter_.Next();
    if (!frame) return Broken(frame.error().message);
    if (!*frame) return std::nullopt;
    if (auto event = ReadFrame(**frame)) {
      ++event_count_;
      return event;
    }
  }
  return std::nullopt;
}

std::optional<WatchSession::Event> WatchSession::ReadFrame(std::string_view frame) {
  wire::WatchType type;
  std::string_view bytes;
  std::string kind;
  if (encoding_ == Encoding::kProtobuf) {
    const auto parsed = wire::ParseWatchFrame(frame);
    if (!parsed) return Broken(parsed.error().message);
    type = parsed->type;
    bytes = parsed->object.raw;
    kind = parsed->object.kind;
    if (type == wire::WatchType::kError) {
      auto status = wire::DecodeProtobuf<api::Status>(bytes);
      if (!status) return Broken(status.error().message);
      return Event{.type = type, .object = {}, .error = ApiError::FromStatus(std::move(*status))};
    }
  } else {
    const auto parsed = wire::ParseWatchLine(frame);
    if (!parsed) return Broken(parsed.error().message);
    type = parsed->type;
    bytes = parsed->object;
    if (type == wire::WatchType::kError) {
      auto status = DecodeStatus("application/json", bytes);
      if (!status) return Broken("no Status in an ERROR event");
      return Event{.type = type, .object = {}, .error = ApiError::FromStatus(std::move(*status))};
    }
    kind = JsonKind(bytes);
  }
  if (kind != resource_.kind) {
    BERTH_LOG_WARNING("An unexpected type was sent on the watch", {"resource", resource_.plural},
                      {"kind", kind});
    return std::nullopt;
  }
  auto object = reader_.Read(encoding_, bytes);
  if (!object) return Broken(object.error().message);
  return Event{.type = type, .object = std::move(*object), .error = {}};
}

base::Task<WatchSession::Filled> WatchSession::Fill(base::CancellationToken token) {
  if (broken_ || !response_) co_return Filled::kEnd;
  const Deadline silence(executor_, kSilenceMax, token);
  auto chunk = co_await response_->Read(silence.token());
  if (!chunk) {
    if (chunk.error().kind == net::ErrorKind::kCancelled) {
      if (token.IsCancelled()) co_return Filled::kCancelled;
      BERTH_LOG(4, "Watch is silent, opening a new one", {"resource", resource_.plural});
      co_return Filled::kSilent;
    }
    BERTH_LOG(2, "Watch ended", {"resource", resource_.plural}, {"err", chunk.error().message});
    co_return Filled::kEnd;
  }
  if (!*chunk) {
    if (const auto end = splitter_.Finish(); !end) {
      BERTH_LOG(2, "Watch ended", {"resource", resource_.plural}, {"err", end.error().message});
    }
    co_return Filled::kEnd;
  }
  chunk_ = std::move(**chunk);
  splitter_.Feed(chunk_);
  co_return Filled::kData;
}

}  // namespace berth::client
