#include "net/http1_server_connection.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "fmt/format.h"

#include "base/check.h"
#include "net/http2_server_connection.h"

namespace berth::net {
namespace {

// A client may send requests ahead; beyond this much we stop reading until it has its answers.
constexpr std::size_t kAheadBytesMax = 64 * 1024;

}  // namespace

void Http1ServerConnection::Start() {
  const HttpServerOptions& options = server_.options;
  if (options.tls) phase_ = Phase::kHandshake;
  SetDeadline(read_deadline_, options.tls ? options.handshake_timeout : options.header_timeout);
  WaitReadable();
}

void Http1ServerConnection::Handshake() {
  // Not before the client has spoken: what TLS keeps for a connection is forty times the rest.
  if (!std::exchange(speaks_tls_, true)) transport_->StartTlsServer(server_.options.tls);
  ServerConnection::Handshake();
}

void Http1ServerConnection::OnHandshakeDone() {
  if (auto peer = transport_->PeerShown()) {
    peer_ = std::make_shared<const PeerCertificate>(std::move(*peer));
  }
  if (transport_->protocol() == kHttp2Protocol) {
    SwitchToHttp2({});
    return;
  }
  phase_ = Phase::kReading;
  SetDeadline(read_deadline_, server_.options.header_timeout);
  WaitReadable();
}

// A client of a plain port that knows what the server speaks begins with a text that is no request.
bool Http1ServerConnection::MayBeHttp2(std::string_view bytes) {
  if (!std::exchange(is_new_, false) || speaks_tls_) return false;
  const std::string_view missing = kHttp2Preface.substr(input_.size());
  const std::size_t common = std::min(missing.size(), bytes.size());
  if (missing.substr(0, common) != bytes.substr(0, common)) return false;
  input_.append(bytes);
  is_new_ = common < missing.size();
  if (!is_new_) SwitchToHttp2(std::exchange(input_, {}));
  return true;
}

void Http1ServerConnection::SwitchToHttp2(std::string_view bytes) {
  phase_ = Phase::kClosed;
  const auto next = std::make_shared<Http2ServerConnection>(server_, std::move(transport_), std::move(peer_));
  server_.Replace(*this, next);
  next->Start(bytes);
}

bool Http1ServerConnection::is_idle() const {
  return phase_ == Phase::kHandshake || phase_ == Phase::kLingering ||
         (phase_ == Phase::kReading && !parser_ && input_.empty() && output_.empty());
}

std::pair<Http1ServerConnection::Claim, base::TimePoint> Http1ServerConnection::claim() const {
  // Deadlines of one phase are equally long: the earliest belongs to the one that came first.
  if (phase_ == Phase::kHandshake || phase_ == Phase::kLingering) return {Claim::kGreeting, read_deadline_};
  if (is_idle()) return {Claim::kIdle, read_deadline_};
  if (phase_ == Phase::kReading && output_.empty()) return {Claim::kAsking, read_deadline_};
  return {Claim::kAnswered, read_deadline_};
}

void Http1ServerConnection::CloseWhenAnswered() {
  if (is_idle()) {
    Close();
  } else {
    keep_alive_ = false;
  }
}

void Http1ServerConnection::Close() {
  if (phase_ == Phase::kClosed) return;
  phase_ = Phase::kClosed;
  read_deadline_ = write_deadline_ = DeadlineSweep::kNever;
  on_gone_ = nullptr;
  transport_->Close();
  server_.Remove(*this);
}

bool Http1ServerConnection::wants_bytes() const {
  if (peer_ended_) return false;
  const bool taken_in = phase_ == Phase::kReading && output_.bytes() <= server_.options.high_water_bytes;
  return taken_in || input_.size() <= kAheadBytesMax;
}

void Http1ServerConnection::OnBytes(std::string_view bytes) {
  if (phase_ == Phase::kLingering || MayBeHttp2(bytes)) return;
  if (phase_ == Phase::kReading && input_.empty()) {
    bytes.remove_prefix(FeedParser(bytes));
  }
  input_.append(bytes);
  ReadRequests();
}

// The peer will send no more. One that still waits for an answer may get it; a stream's reader is gone.
void Http1ServerConnection::OnEnd() {
  peer_ended_ = true;
  if (phase_ != Phase::kAnswering && (phase_ == Phase::kStreaming || output_.empty())) {
    CutOff();
    return;
  }
  keep_alive_ = false;
  close_when_flushed_ = phase_ != Phase::kAnswering;
  if (on_gone_) std::exchange(on_gone_, nullptr)();
}

void Http1ServerConnection::CutOff() {
  Callback on_gone = std::exchange(on_gone_, nullptr);
  Close();
  if (on_gone) on_gone();
}

std::size_t Http1ServerConnection::FeedParser(std::string_view bytes) {
  if (!parser_) {
    parser_ = std::make_unique<RequestParser>(server_.options.limits);
    continue_sent_ = false;
    SetDeadline(read_deadline_, server_.options.header_timeout);
  }
  const std::size_t taken = parser_->Feed(bytes);
  if (parser_->state() != ParseState::kBody) return taken;
  SetDeadline(read_deadline_, server_.options.idle_timeout);
  if (!continue_sent_ && parser_->headers().HasToken("Expect", "100-continue")) {
    continue_sent_ = true;
    output_.PushText("HTTP/1.1 100 Continue\r\n\r\n");
    FlushSoon();
  }
  return taken;
}

// A handler may answer at once, which makes room for the next request: hence a loop, and no recursion.
void Http1ServerConnection::ReadRequests() {
  if (reading_requests_) return;
  reading_requests_ = true;
  while (phase_ == Phase::kReading && !close_when_flushed_) {
    if (!parser_ || parser_->state() == ParseState::kHeader || parser_->state() == ParseState::kBody) {
      if (input_.empty() || output_.bytes() > server_.options.high_water_bytes) break;
      const std::size_t taken = FeedParser(input_);
      input_.erase(0, taken);
    }
    if (parser_->state() == ParseState::kComplete) {
      Dispatch();
    } else if (parser_->state() == ParseState::kFailed) {
      Refuse();
    } else {
      break;
    }
  }
  if (input_.empty()) input_ = std::string();
  reading_requests_ = false;
}

void Http1ServerConnection::Dispatch() {
  const std::unique_ptr<RequestParser> parser = std::move(parser_);
  Request request{.method = std::move(parser->method()),
                  .target = std::move(parser->target()),
                  .headers = std::move(parser->headers()),
                  .body = std::move(parser->body()),
                  .remote_address = transport_->remote_address(),
                  .peer = peer_};
  keep_alive_ = parser->keep_alive() && !server_.draining && !peer_ended_;
  is_head_ = request.method == "HEAD";
  is_http_1_0_ = parser->is_http_1_0();
  phase_ = Phase::kAnswering;
  read_deadline_ = DeadlineSweep::kNever;
  const auto keep = server_.shared_from_this();  // the handler may destroy the server
  server_.handler(std::move(request), Responder(weak_from_this(), exchange_));
}

void Http1ServerConnection::Refuse() {
  const int status = parser_->failure_status();
  keep_alive_ = false;
  is_head_ = false;
  phase_ = Phase::kAnswering;
  Send(exchange_, status, {{"Content-Type", "text/plain; charset=utf-8"}},
       MakeBody(fmt::format("{}: {}\n", ReasonPhrase(status), parser_->failure())));
}

std::string Http1ServerConnection::Head(int status, const Headers& headers) const {
  std::string head = fmt::format("HTTP/1.1 {} {}\r\n", status, ReasonPhrase(status));
  AppendFields(headers, head);
  if (!keep_alive_) {
    head += "Connection: close\r\n";
  } else if (is_http_1_0_) {
    head += "Connection: keep-alive\r\n";
  }
  return head;
}

void Http1ServerConnection::Send(std::uint64_t, int status, const Headers& headers, const Body& body) {
  BERTH_CHECK(phase_ == Phase::kAnswering);
  std::string head = Head(status, headers);
  if (!HasNoBody(status)) fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", SizeOf(body));
  head += "\r\n";
  output_.PushMessage(std::move(head), is_head_ || HasNoBody(status) ? Body() : body);
  FinishExchange();
}

void Http1ServerConnection::StartStream(std::uint64_t, int status, const Headers& headers) {
  BERTH_CHECK(phase_ == Phase::kAnswering);
  if (is_http_1_0_) keep_alive_ = false;  // without chunks only the end of the connection ends the body
  phase_ = Phase::kStreaming;
  output_.PushText(Head(status, headers) + (is_http_1_0_ ? "\r\n" : "Transfer-Encoding: chunked\r\n\r\n"));
  FlushSoon();
}

bool Http1ServerConnection::WriteStream(std::uint64_t, Buffer data) {
  BERTH_CHECK(phase_ == Phase::kStreaming);
  if (!is_head_) {
    if (is_http_1_0_) {
      output_.PushRaw(std::move(data));
    } else {
      output_.PushChunk(std::move(data));
    }
    FlushSoon();
  }
  return output_.bytes() < server_.options.high_water_bytes;
}

void Http1ServerConnection::FinishStream(std::uint64_t) {
  if (!is_http_1_0_ && !is_head_) output_.PushLastChunk();
  FinishExchange();
}

void Http1ServerConnection::FinishExchange() {
  ++exchange_;
  on_gone_ = nullptr;
  phase_ = Phase::kReading;
  if (!keep_alive_) close_when_flushed_ = true;
  SetDeadline(read_deadline_, server_.options.idle_timeout);
  FlushSoon();
}

void Http1ServerConnection::Sever() {
  severed_ = true;
  output_.PushText("40\r\n{");  // the beginning of a chunk
  FlushSoon();
}

void Http1ServerConnection::Flush() {
  flush_queued_ = false;
  if (phase_ == Phase::kClosed || phase_ == Phase::kHandshake || (is_blocked() && !severed_)) return;
  const Transport::Io io = output_.Flush(*transport_);
  if (severed_) {
    CutOff();
    return;
  }
  if (!IsFlushed(io)) return;
  if (close_when_flushed_) {
    Linger();
    return;
  }
  ReadRequests();
  WaitReadable();
}

void Http1ServerConnection::Linger() {
  if (phase_ == Phase::kLingering) return;
  if (peer_ended_) {
    Close();
    return;
  }
  phase_ = Phase::kLingering;
  input_ = std::string();
  parser_.reset();
  transport_->ShutdownSend();
  SetDeadline(read_deadline_, kLingerTime);
  WaitReadable();
}

}  // namespace berth::net
