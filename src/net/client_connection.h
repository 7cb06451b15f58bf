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
#include "net/transport.h"

namespace berth::net {

// One connection of a client's pool: it is dialed for a call, carries one call at a time, and is idle
// between. If the server wants to speak HTTP/2, the pool takes socket and call away again.
class ClientConnection : public std::enable_shared_from_this<ClientConnection> {
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

  void OnDialed(std::unique_ptr<Transport> transport);
  void AskProxy();
  void OnProxyBytes();
  void StartTls();
  void Handshake();
  void OnReady(bool is_http2);
  void SendRequest();
  void Flush();
  void WaitReadable();
  void WaitWritable();
  void OnReadable();
  void OnBytes(std::string_view bytes);
  bool ReadHeader();
  void OnEnd();
  void FinishCall();
  void Fail(NetError error);
  void SetDeadline(base::Duration after);

  EventLoop& loop_;
  const HttpClientOptions& options_;
  Owner& owner_;
  std::optional<Dial> dial_;
  std::unique_ptr<Transport> transport_;
  std::shared_ptr<ClientCall> call_;
  std::unique_ptr<ResponseParser> parser_;
  std::string input_;
  OutputQueue output_;
  std::size_t sent_before_ = 0;  // bytes that earlier calls sent
  base::TimePoint deadline_ = DeadlineSweep::kNever;
  Phase phase_ = Phase::kDialing;
  bool waiting_readable_ = false;
  bool waiting_writable_ = false;
  bool is_made_ = false;
  bool reused_ = false;
  bool response_started_ = false;
  bool headers_told_ = false;
  bool write_failed_ = false;
  bool keep_alive_ = true;
};

}  // namespace berth::net
