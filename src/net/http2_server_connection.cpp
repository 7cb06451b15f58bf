#include "net/http2_server_connection.h"

#include <span>
#include <vector>

namespace berth::net {
namespace {

// What is put into frames at a time.
constexpr std::size_t kFramedBytes = 64 * 1024;
constexpr std::int64_t kPatiencePerSecond = 100;

}  // namespace

Http2ServerConnection::Http2ServerConnection(ServerState& server, std::unique_ptr<Transport> transport,
                                             std::shared_ptr<const PeerCertificate> peer)
    : ServerConnection(server, std::move(transport), kManyReads),
      session_({.limits = server.options.limits,
                .requests_bytes_max = server.options.requests_bytes_max,
                .streams_max = server.options.streams_max}),
      remote_address_(transport_->remote_address()),
      patience_filled_(server.loop.Now()) {
  peer_ = std::move(peer);
}

void Http2ServerConnection::Start(std::string_view bytes) {
  SetDeadline(read_deadline_, server_.options.header_timeout);
  if (server_.draining) CloseWhenAnswered();
  FlushSoon();
  if (!bytes.empty()) OnBytes(bytes);
  WaitReadable();
}

void Http2ServerConnection::OnBytes(std::string_view bytes) {
  if (phase_ == Phase::kLingering) return;
  const auto keep = server_.shared_from_this();  // a handler may destroy the server
  const base::TimePoint now = server_.loop.Now();
  if (const auto seconds = std::chrono::floor<std::chrono::seconds>(now - patience_filled_);
      seconds.count() > 0) {
    session_.AddPatience(seconds.count() * kPatiencePerSecond);
    patience_filled_ += seconds;
  }
  if (!session_.Receive(bytes)) {
    CutOff();
    return;
  }
  Dispatch();
  TellGone();
  if (phase_ != Phase::kOpen) return;
  SetReadDeadline();
  FlushSoon();
}

void Http2ServerConnection::Dispatch() {
  for (Http2ServerSession::Request& request : session_.TakeRequests()) {
    if (!session_.IsOpen(request.stream)) continue;
    server_.handler({.method = std::move(request.method),
                     .target = std::move(request.target),
                     .headers = std::move(request.headers),
                     .body = std::move(request.body),
                     .remote_address = remote_address_,
                     .peer = peer_,
                     .is_http2 = true},
                    Responder(weak_from_this(), static_cast<std::uint64_t>(request.stream)));
    if (phase_ == Phase::kClosed) return;
  }
}

void Http2ServerConnection::TellGone() {
  for (const StreamId stream : session_.TakeGone()) {
    auto callback = on_gone_.extract(stream);
    if (callback && callback.mapped()) callback.mapped()();
  }
}

// Pings keep no idle connection, and a request that does not go on is given up.
void Http2ServerConnection::SetReadDeadline() {
  if (!session_.is_greeted()) return;
  if (!std::exchange(was_greeted_, true)) read_deadline_ = DeadlineSweep::kNever;  // that of the greeting
  const bool is_idle = session_.streams() == 0;
  if (!is_idle && session_.asking() == 0) {
    read_deadline_ = DeadlineSweep::kNever;
  } else if (read_deadline_ == DeadlineSweep::kNever || is_idle != was_idle_) {
    SetDeadline(read_deadline_, server_.options.idle_timeout);
  }
  was_idle_ = is_idle;
}

void Http2ServerConnection::OnLate(base::TimePoint now) {
  if (phase_ == Phase::kLingering || write_deadline_ <= now || !session_.is_greeted()) {
    CutOff();
    return;
  }
  if (stall_deadline_ <= now) {
    stall_deadline_ = DeadlineSweep::kNever;
    session_.ResetStalledAnswers();
    FlushSoon();
    TellGone();
    if (phase_ != Phase::kOpen) return;
  }
  if (read_deadline_ > now) return;
  read_deadline_ = DeadlineSweep::kNever;
  if (session_.streams() == 0) {
    CloseWhenAnswered();
  } else {
    session_.ResetStalledRequests();
    SetReadDeadline();
    FlushSoon();
  }
}

std::pair<ServerConnection::Claim, base::TimePoint> Http2ServerConnection::claim() const {
  if (phase_ == Phase::kLingering || !session_.is_greeted()) return {Claim::kGreeting, read_deadline_};
  if (session_.streams() == 0) return {Claim::kIdle, read_deadline_};
  if (session_.streams() == session_.asking()) return {Claim::kAsking, read_deadline_};
  return {Claim::kAnswered, read_deadline_};
}

void Http2ServerConnection::CloseWhenAnswered() {
  if (phase_ != Phase::kOpen || std::exchange(leaving_, true)) return;
  session_.GoAway();
  FlushSoon();
}

void Http2ServerConnection::Close() {
  if (phase_ == Phase::kClosed) return;
  if (phase_ == Phase::kOpen && !is_blocked() && !leaving_) {
    // Whoever closes does not wait, but a client that hears of it need not guess what became of its requests.
    session_.GoAway();
    if (FrameMore()) {
      const std::string_view rest = output_.unsent();
      if (!rest.empty()) transport_->Write(std::span(&rest, 1));
    }
  }
  phase_ = Phase::kClosed;
  read_deadline_ = write_deadline_ = stall_deadline_ = DeadlineSweep::kNever;
  on_gone_.clear();
  transport_->Close();
  server_.Remove(*this);
}

void Http2ServerConnection::CutOff() {
  auto on_gone = std::exchange(on_gone_, {});
  Close();
  for (auto& [stream, callback] : on_gone) {
    if (callback) callback();
  }
}

// At least one frame, if there is any.
NetResult<void> Http2ServerConnection::FrameMore() {
  return session_.TakeOutput(output_.frames(), output_.frames().size() + 1);
}

bool Http2ServerConnection::IsCurrent(std::uint64_t exchange) const {
  return phase_ == Phase::kOpen && session_.IsOpen(StreamOf(exchange));
}

void Http2ServerConnection::Send(std::uint64_t exchange, int status, const Headers& headers,
                                 const Body& body) {
  on_gone_.erase(StreamOf(exchange));
  session_.Answer(StreamOf(exchange), status, headers, body);
  FlushSoon();
}

void Http2ServerConnection::StartStream(std::uint64_t exchange, int status, const Headers& headers) {
  session_.Begin(StreamOf(exchange), status, headers);
  FlushSoon();
}

bool Http2ServerConnection::WriteStream(std::uint64_t exchange, Buffer data) {
  session_.Write(StreamOf(exchange), std::move(data));
  FlushSoon();
  return session_.queued(StreamOf(exchange)) < server_.options.high_water_bytes;
}

void Http2ServerConnection::FinishStream(std::uint64_t exchange) {
  on_gone_.erase(StreamOf(exchange));
  session_.Finish(StreamOf(exchange));
  FlushSoon();
}

void Http2ServerConnection::AbortStream(std::uint64_t exchange) {
  on_gone_.erase(StreamOf(exchange));
  session_.Abort(StreamOf(exchange));
  FlushSoon();
}

void Http2ServerConnection::Sever() {
  severed_ = true;
  FlushSoon();
}

void Http2ServerConnection::OnGone(std::uint64_t exchange, Callback callback) {
  on_gone_[StreamOf(exchange)] = std::move(callback);
}

std::size_t Http2ServerConnection::queued_bytes(std::uint64_t exchange) const {
  return session_.queued(StreamOf(exchange));
}

void Http2ServerConnection::Flush() {
  flush_queued_ = false;
  if (phase_ != Phase::kOpen) return;
  if (severed_) {
    WriteHalf();
    return;
  }
  if (is_blocked()) return;
  const auto io = output_.Flush(
      *transport_, [this](std::string& frames) { return session_.TakeOutput(frames, kFramedBytes); });
  if (!io) {
    CutOff();
    return;
  }
  if (!IsFlushed(*io)) return;
  output_ = {};  // an idle connection holds no buffers
  if (session_.is_over()) {
    Linger();
    return;
  }
  SetReadDeadline();
  if (!session_.has_queued()) {
    stall_deadline_ = DeadlineSweep::kNever;
  } else if (stall_deadline_ == DeadlineSweep::kNever) {
    SetDeadline(stall_deadline_, server_.options.write_timeout);
  }
}

// The first half of what would be sent next, or of a frame.
void Http2ServerConnection::WriteHalf() {
  const bool framed = FrameMore().has_value();
  std::string_view rest = output_.unsent();
  if (!framed || rest.size() < 2) rest = std::string_view("\0\1\0\0", 4);
  rest = rest.substr(0, rest.size() / 2);
  transport_->Write(std::span(&rest, 1));
  leaving_ = true;  // and nothing after it
  CutOff();
}

// Everything has been said, and the client may still have to read it.
void Http2ServerConnection::Linger() {
  phase_ = Phase::kLingering;
  transport_->ShutdownSend();
  stall_deadline_ = DeadlineSweep::kNever;
  SetDeadline(read_deadline_, kLingerTime);
  // There are open streams if the client broke the rules.
  for (auto& [stream, callback] : std::exchange(on_gone_, {})) {
    if (callback) callback();
  }
}

}  // namespace berth::net
