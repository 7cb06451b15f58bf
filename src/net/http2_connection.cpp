#include "net/http2_connection.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::net {
namespace {

// One TLS record holds as much.
constexpr std::size_t kRecordBytes = 16 * 1024;

}  // namespace

Http2Connection::Http2Connection(EventLoop& loop, const HttpClientOptions& options, Owner& owner,
                                 std::unique_ptr<Transport> transport)
    : SocketConnection(loop, std::move(transport), kManyReads),
      options_(options),
      owner_(owner),
      session_({.on_headers =
                    [this](Http2Session::StreamId stream, int status, Headers headers) {
                      const auto call = CallOf(stream);
                      if (!call) return;
                      answered_ = call->answered = true;
                      call->callbacks.on_headers(status, std::move(headers));
                    },
                .on_data =
                    [this](Http2Session::StreamId stream, std::string_view data) {
                      const auto call = CallOf(stream);
                      if (call) call->callbacks.on_data(data);
                    },
                .on_end = [this](Http2Session::StreamId stream, std::optional<NetError> error,
                                 bool untouched) { OnStreamEnd(stream, std::move(error), untouched); }},
               options.wanted_headers) {}

void Http2Connection::Start() {
  SetDeadline(options_.idle_timeout);
  WaitReadable();
}

void Http2Connection::SetDeadline(base::Duration after) {
  deadline_ = loop_.Now() + after;
  owner_.on_deadline(deadline_);
}

void Http2Connection::ExpectBytes() {
  deadline_ = options_.ping_after == base::Duration::zero() ? DeadlineSweep::kNever
                                                            : loop_.Now() + options_.ping_after;
}

std::shared_ptr<ClientCall> Http2Connection::CallOf(Http2Session::StreamId stream) const {
  const auto found = calls_.find(stream);
  return found == calls_.end() || found->second->ended ? nullptr : found->second;
}

void Http2Connection::Carry(std::shared_ptr<ClientCall> call) {
  const Http2Session::StreamId stream = session_.Submit(call->request, options_.base);
  BERTH_CHECK(stream != 0);  // there was room
  if (calls_.empty()) {
    ExpectBytes();
    owner_.on_deadline(deadline_);
  }
  call->carrier = weak_from_this();
  call->stream = stream;
  call->answered = false;
  calls_[stream] = std::move(call);
}

void Http2Connection::Drop(const ClientCall& call) {
  const Http2Session::StreamId stream = call.stream;
  if (closed_ || calls_.erase(stream) == 0) return;
  if (calls_.empty()) SetDeadline(options_.idle_timeout);
  session_.Cancel(stream);
  owner_.on_room();
}

void Http2Connection::OnStreamEnd(Http2Session::StreamId stream, std::optional<NetError> error,
                                  bool untouched) {
  const auto found = calls_.find(stream);
  if (closed_ || found == calls_.end()) return;
  auto call = std::move(found->second);
  calls_.erase(found);
  if (calls_.empty()) SetDeadline(options_.idle_timeout);
  owner_.on_room();
  if (error) {
    owner_.on_lost({std::move(call), untouched}, std::move(*error));
  } else {
    owner_.on_ended(std::move(call));
  }
}

void Http2Connection::Flush() {
  const auto self = shared_from_this();  // an answer to what is sent may end a call, and that the client
  if (!closed_ && !is_blocked()) {
    auto io = output_.Flush(*transport_, [this](std::string& frames) {
      auto taken = session_.TakeOutput(frames, kRecordBytes);
      if (closed_) frames.clear();  // by whoever was told of a stream
      return taken;
    });
    if (!io) {
      Fail(std::move(io.error()));
      return;
    }
    if (!IsFlushed(*io)) return;
  }
  CloseIfDone();
}

void Http2Connection::OnBytes(std::string_view bytes) {
  pinged_ = false;
  if (!calls_.empty()) ExpectBytes();
  auto received = session_.Receive(bytes);
  if (!closed_ && !received) Fail(std::move(received.error()));
}

void Http2Connection::OnTurnRead() {
  if (!is_new() && !std::exchange(told_settings_, true)) owner_.on_room();
  Flush();
}

void Http2Connection::CloseIfDone() {
  if (closed_) return;
  if (session_.is_over()) {
    Fail({ErrorKind::kProtocol, "HTTP/2: the server broke the protocol"});
  } else if (calls_.empty() && (draining_ || session_.is_leaving())) {
    Fail({ErrorKind::kReset, "the server closed the connection"});
  }
}

bool Http2Connection::MayResend(const ClientCall& call) const {
  return answered_ && !call.answered && MayRepeat(call.request.method);
}

std::vector<Http2Connection::Lost> Http2Connection::Close() {
  closed_ = true;
  deadline_ = DeadlineSweep::kNever;
  transport_->Close();
  std::vector<Lost> lost;
  for (auto& [stream, call] : std::exchange(calls_, {})) {
    const bool may_resend = MayResend(*call);
    lost.push_back({std::move(call), may_resend});
  }
  std::ranges::sort(lost, {}, [](const Lost& one) { return one.call->id; });
  return lost;
}

void Http2Connection::Fail(NetError error) {
  auto lost = Close();
  owner_.on_closed(*this, std::move(lost), std::move(error));
}

void Http2Connection::CloseAfterCalls() {
  draining_ = true;
  CloseIfDone();
}

void Http2Connection::TimeOut() {
  if (calls_.empty()) {
    Fail({ErrorKind::kTimeout, "idle"});
  } else if (std::exchange(pinged_, true)) {
    Fail({ErrorKind::kReset, "the server is silent, and does not answer a ping"});
  } else {
    session_.Ping();
    SetDeadline(options_.ping_timeout);
    Flush();
  }
}

}  // namespace berth::net
