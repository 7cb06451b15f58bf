#include "net/client_connection.h"

#include <iterator>
#include <utility>

#include "fmt/format.h"

namespace berth::net {

ClientConnection::ClientConnection(EventLoop& loop, const HttpClientOptions& options, Owner& owner)
    : SocketConnection(loop, nullptr), options_(options), owner_(owner) {}

void ClientConnection::SetDeadline(base::Duration after) {
  deadline_ = loop_.Now() + after;
  owner_.on_deadline(*this, deadline_);
}

void ClientConnection::DialFor(std::shared_ptr<ClientCall> call) {
  call_ = std::move(call);
  SetDeadline(options_.dial_timeout);
  const Url& to = options_.proxy ? *options_.proxy : options_.base;
  dial_.emplace(loop_, to.host, to.port, options_.keep_alive,
                [weak = weak_from_this()](NetResult<std::unique_ptr<Transport>> transport) {
                  const auto self = weak.lock();
                  if (!self || self->phase_ == Phase::kClosed) return;
                  if (transport) {
                    self->OnDialed(std::move(*transport));
                  } else {
                    self->Fail({transport.error().kind, "dial: " + transport.error().message});
                  }
                });
}

void ClientConnection::OnDialed(std::unique_ptr<Transport> transport) {
  transport_ = std::move(transport);
  if (options_.proxy && options_.base.is_https()) {
    AskProxy();
  } else {
    StartTls();
  }
}

void ClientConnection::AskProxy() {
  phase_ = Phase::kProxy;
  // The answer to CONNECT has no body, whatever its header says, as the answer to HEAD.
  parser_ = std::make_unique<ResponseParser>(options_.header_bytes_max, true);
  const std::string to = options_.base.HostPort();
  output_.PushText(fmt::format("CONNECT {} HTTP/1.1\r\nHost: {}\r\n\r\n", to, to));
  WaitReadable();
  Flush();
}

void ClientConnection::OnProxyBytes() {
  input_.erase(0, parser_->Feed(input_, [](std::string_view) {}));
  if (parser_->state() == ParseState::kHeader) return;
  if (parser_->state() == ParseState::kFailed) {
    Fail({ErrorKind::kProtocol, "proxy: " + parser_->failure()});
  } else if (parser_->status() != 200) {
    Fail({ErrorKind::kProtocol, fmt::format("proxy: CONNECT was answered with {}", parser_->status())});
  } else if (!input_.empty()) {
    Fail({ErrorKind::kProtocol, "proxy: spoke before the server could"});
  } else {
    StartTls();
  }
}

void ClientConnection::StartTls() {
  if (!options_.base.is_https()) {
    OnReady(false);
    return;
  }
  if (!options_.tls) {
    Fail({ErrorKind::kTls, "tls: not configured"});
    return;
  }
  phase_ = Phase::kHandshake;
  SetDeadline(options_.handshake_timeout);
  transport_->StartTlsClient(options_.tls, options_.base.host);
  Handshake();
}

void ClientConnection::OnReady(bool is_http2) {
  is_made_ = true;
  owner_.on_made(*this, is_http2);
  if (is_dialing()) SendRequest();
}

void ClientConnection::Carry(std::shared_ptr<ClientCall> call) {
  call_ = std::move(call);
  reused_ = true;
  SendRequest();
}

void ClientConnection::SendRequest() {
  phase_ = Phase::kCarrying;
  deadline_ = DeadlineSweep::kNever;
  response_started_ = headers_told_ = false;
  sent_before_ = output_.sent();
  const ClientRequest& request = call_->request;
  parser_ = std::make_unique<ResponseParser>(options_.header_bytes_max, request.method == "HEAD");
  const std::size_t size = SizeOf(request.body);
  std::string head = request.method + " ";
  if (options_.proxy && !options_.base.is_https()) head += "http://" + options_.base.Authority();
  head += JoinPath(options_.base.path, request.target);
  fmt::format_to(std::back_inserter(head), " HTTP/1.1\r\nHost: {}\r\n", options_.base.Authority());
  if (request.common_headers) AppendFields(*request.common_headers, head);
  AppendFields(request.headers, head);
  if (size != 0 || UsuallyHasBody(request.method)) {
    fmt::format_to(std::back_inserter(head), "Content-Length: {}\r\n", size);
  }
  head += "\r\n";
  output_.PushMessage(std::move(head), request.body);
  WaitReadable();
  Flush();
}

void ClientConnection::Flush() {
  if (!is_blocked() && !write_failed_) IsFlushed(output_.Flush(*transport_));
}

void ClientConnection::OnBytes(std::string_view bytes) {
  input_.append(bytes);
  if (phase_ == Phase::kProxy) {
    OnProxyBytes();
    return;
  }
  if (phase_ != Phase::kCarrying) {
    Fail({ErrorKind::kProtocol, "the server spoke without being asked"});
    return;
  }
  response_started_ = true;
  const auto call = call_;
  const ResponseParser::DataCallback on_data = [&call](std::string_view data) {
    if (!call->ended) call->callbacks.on_data(data);
  };
  while (phase_ == Phase::kCarrying && call_ == call) {
    const std::size_t taken = parser_->Feed(input_, on_data);
    if (phase_ != Phase::kCarrying) return;  // a callback cancelled the call
    input_.erase(0, taken);
    if (parser_->state() == ParseState::kFailed) {
      Fail({ErrorKind::kProtocol, "malformed response: " + parser_->failure()});
      return;
    }
    if (parser_->state() != ParseState::kHeader && !headers_told_ && ReadHeader()) continue;
    if (phase_ != Phase::kCarrying) return;
    if (parser_->state() == ParseState::kComplete) {
      FinishCall();
      return;
    }
    if (taken == 0 || input_.empty()) return;
  }
}

// True if it was an interim response, after which the real one follows.
bool ClientConnection::ReadHeader() {
  const int status = parser_->status();
  if (status >= 100 && status < 200 && status != 101) {
    parser_ = std::make_unique<ResponseParser>(options_.header_bytes_max, call_->request.method == "HEAD");
    return true;
  }
  headers_told_ = true;
  const auto call = call_;
  call->callbacks.on_headers(status, parser_->headers());
  return false;
}

void ClientConnection::OnEnd() {
  if (phase_ == Phase::kCarrying && response_started_) {
    parser_->FeedEnd();
    if (parser_->state() == ParseState::kComplete) {
      keep_alive_ = false;
      if (!headers_told_) ReadHeader();
      if (phase_ == Phase::kCarrying) FinishCall();
      return;
    }
  }
  Fail({ErrorKind::kReset, "unexpected EOF"});
}

void ClientConnection::FinishCall() {
  const bool reusable = keep_alive_ && parser_->keep_alive() && input_.empty() && output_.empty();
  auto call = std::exchange(call_, nullptr);
  parser_.reset();
  if (reusable) {
    phase_ = Phase::kIdle;
    input_ = std::string();
    SetDeadline(options_.idle_timeout);
  } else {
    Close();
  }
  owner_.on_idle(*this, std::move(call));
}

std::shared_ptr<ClientCall> ClientConnection::Close() {
  phase_ = Phase::kClosed;
  deadline_ = DeadlineSweep::kNever;
  dial_.reset();
  if (transport_) transport_->Close();
  return std::exchange(call_, nullptr);
}

ClientConnection::Released ClientConnection::Release() {
  Released released{std::move(transport_), nullptr};
  released.call = Close();
  return released;
}

void ClientConnection::Fail(NetError error) {
  const bool untouched = phase_ == Phase::kCarrying && output_.sent() == sent_before_;
  const bool stale = reused_ && phase_ == Phase::kCarrying && !response_started_ &&
                     (untouched || MayRepeat(call_->request.method));
  auto call = Close();
  owner_.on_failed(*this, std::move(call), std::move(error), stale);
}

void ClientConnection::TimeOut() {
  switch (phase_) {
    case Phase::kDialing:
      Fail({ErrorKind::kTimeout, "dial: timed out"});
      return;
    case Phase::kProxy:
      Fail({ErrorKind::kTimeout, "proxy: timed out"});
      return;
    case Phase::kHandshake:
      Fail({ErrorKind::kTimeout, "tls: the handshake timed out"});
      return;
    default:
      Fail({ErrorKind::kTimeout, "idle"});
      return;
  }
}

}  // namespace berth::net
