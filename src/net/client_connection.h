#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "net/client_call.h"
#include "net/deadline_sweep.h"
#include "net/endpoints.h"
#include "net/http_client.h"
#include "net/http_parser.h"
#include "net/output_queue.h"
#include "net/socket_connection.h"
#include "net/transport.h"

namespace berth::net {

// One connection of a client's pool: it is dialed for a call, carries one call at a time, and is idle
// between. If the server wants to speak HTTP/2, the pool takes socket and call away again.
class ClientConnection final : public SocketConnection,
                               public std::enable_shared_from_this<ClientConnection> {
 public:
  // What the pool is told. The connection has let go of the call before each of these.
  struct Owner {
    std::function<void(ClientConnection&, std::shared_ptr<ClientCall>)> on_idle;  // the call ended well
    // The connection is closed. `stale`: it was used before, and the call may be sent again.
    std::function<void(ClientConnection&, std::shared_ptr<ClientCall>, NetError, bool stale)> on_failed;
    std::function<void(ClientConnection&, base::TimePoint)> on_deadline;
    // It is ready, and no request sent. For HTTP/2 the owner calls Release.
    std::function<void(ClientConnection&, bool is_http2)> on_made;
  };

  ClientConnection(EventLoop& loop, const HttpClientOptions& options, Owner& owner);

  void DialFor(std::shared_ptr<ClientCall> call);
  void Carry(std::shared_ptr<ClientCall> call);
  // Without telling the owner; returns the call it carried.
  std::shared_ptr<ClientCall> Close();
  void CloseAfterCall() { keep_alive_ = false; }
  struct Released {
    std::unique_ptr<Transport> transport;
    std::shared_ptr<ClientCall> call;
  };
  Released Release();
  void TimeOut();

  const std::shared_ptr<ClientCall>& call() const { return call_; }
  bool is_idle() const { return phase_ == Phase::kIdle; }
  bool is_dialing() const { return phase_ <= Phase::kHandshake; }
  // Whether it came as far as its first request.
  bool is_made() const { return is_made_; }
  base::TimePoint deadline() const { return deadline_; }

 private:
  enum class Phase { kDialing, kProxy, kHandshake, kIdle, kCarrying, kClosed };

  std::shared_ptr<SocketConnection> Keep() override { return shared_from_this(); }
  bool is_closed() const override { return phase_ == Phase::kClosed; }
  bool is_shaking_hands() const override { return phase_ == Phase::kHandshake; }
  void OnHandshakeDone() override { OnReady(transport_->protocol() == kHttp2Protocol); }
  void OnBytes(std::string_view bytes) override;
  void OnEnd() override;
  void OnBroken() override { Fail(transport_->error()); }
  // The server may have answered before it closed, as for a body it does not want: the reader decides.
  void OnWriteFailed() override { write_failed_ = true; }
  void Flush() override;

  void OnDialed(std::unique_ptr<Transport> transport);
  void AskProxy();
  void OnProxyBytes();
  void StartTls();
  void OnReady(bool is_http2);
  void SendRequest();
  bool ReadHeader();
  void FinishCall();
  void Fail(NetError error);
  void SetDeadline(base::Duration after);

  const HttpClientOptions& options_;
  Owner& owner_;
  std::optional<Dial> dial_;
  std::shared_ptr<ClientCall> call_;
  std::unique_ptr<ResponseParser> parser_;
  std::string input_;
  OutputQueue output_;
  std::size_t sent_before_ = 0;  // bytes that earlier calls sent
  base::TimePoint deadline_ = DeadlineSweep::kNever;
  Phase phase_ = Phase::kDialing;
  bool is_made_ = false;
  bool reused_ = false;
  bool response_started_ = false;
  bool headers_told_ = false;
  bool write_failed_ = false;
  bool keep_alive_ = true;
};

}  // namespace berth::net
