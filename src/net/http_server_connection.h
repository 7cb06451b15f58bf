#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "net/deadline_sweep.h"
#include "net/endpoints.h"
#include "net/http_server.h"
#include "net/socket_connection.h"
#include "net/transport.h"

namespace berth::net {

// What the connections of one server share.
struct ServerState : std::enable_shared_from_this<ServerState> {
  ServerState(EventLoop& owner, HttpServerOptions wanted, HttpServer::Handler on_request);

  void Accept(std::unique_ptr<Transport> transport);
  // Whether there is a place for one more, if need be because another connection was closed for it.
  bool MakeRoom();
  // Flushes the connection at the end of this turn of the loop, together with all others that ask for it.
  void FlushSoon(std::shared_ptr<ServerConnection> connection);
  // The place of a connection that turned out to speak another protocol.
  void Replace(const ServerConnection& connection, std::shared_ptr<ServerConnection> by);
  void Remove(const ServerConnection& connection);
  base::TimePoint CloseLate(base::TimePoint now);

  EventLoop& loop;
  HttpServerOptions options;
  HttpServer::Handler handler;
  std::unique_ptr<Listener> listener;
  std::vector<std::shared_ptr<ServerConnection>> connections;
  std::vector<std::shared_ptr<ServerConnection>> to_flush;
  DeadlineSweep deadlines;
  Timer grace;
  bool draining = false;
  Callback drained;
  std::uint64_t dropped = 0;
};

// One client's connection, from accept to close, whatever it speaks. An exchange is a request that is in the
// handler's hands; its number tells a late call through an old Responder from one that is meant.
//
// No callback of the user runs inside a call that the user makes; writes happen at the end of the turn. After
// Close() nothing is called any more.
class ServerConnection : public SocketConnection, public std::enable_shared_from_this<ServerConnection> {
 public:
  void Flush() override = 0;
  virtual void Close() = 0;
  // Close, and tell the handler that its peer is gone.
  virtual void CutOff() = 0;
  // Answers what is in hand, then closes.
  virtual void CloseWhenAnswered() = 0;
  // When `deadline` has come.
  virtual void OnLate(base::TimePoint now) = 0;
  virtual base::TimePoint deadline() const { return std::min(read_deadline_, write_deadline_); }
  // How much it deserves its place, and since when; the least of all goes first.
  enum class Claim { kGreeting, kIdle, kAsking, kAnswered };
  virtual std::pair<Claim, base::TimePoint> claim() const = 0;

  virtual bool IsCurrent(std::uint64_t exchange) const = 0;
  // These only if it is.
  virtual void Send(std::uint64_t exchange, int status, const Headers& headers, const Body& body) = 0;
  virtual void StartStream(std::uint64_t exchange, int status, const Headers& headers) = 0;
  virtual bool WriteStream(std::uint64_t exchange, Buffer data) = 0;
  virtual void FinishStream(std::uint64_t exchange) = 0;
  virtual void AbortStream(std::uint64_t exchange) = 0;
  // Closes the connection after half of what it has to send next.
  virtual void Sever() = 0;
  virtual void OnGone(std::uint64_t exchange, Callback callback) = 0;
  virtual std::size_t queued_bytes(std::uint64_t exchange) const = 0;

  std::size_t index = 0;  // in ServerState::connections

 protected:
  ServerConnection(ServerState& server, std::unique_ptr<Transport> transport, int reads_in_turn = 1)
      : SocketConnection(server.loop, std::move(transport), reads_in_turn), server_(server) {}

  std::shared_ptr<SocketConnection> Keep() final { return shared_from_this(); }
  void OnBlocked() final { SetDeadline(write_deadline_, server_.options.write_timeout); }
  void OnUnblocked() final { write_deadline_ = DeadlineSweep::kNever; }
  void OnBroken() final { CutOff(); }

  void FlushSoon() {
    if (!std::exchange(flush_queued_, true)) server_.FlushSoon(shared_from_this());
  }
  void SetDeadline(base::TimePoint& deadline, base::Duration after) {
    deadline = loop_.Now() + after;
    server_.deadlines.Note(deadline);
  }

  ServerState& server_;
  std::shared_ptr<const PeerCertificate> peer_;
  // Two, because a client that takes no answer must not gain time by sending, nor the other way round.
  base::TimePoint read_deadline_ = DeadlineSweep::kNever;
  base::TimePoint write_deadline_ = DeadlineSweep::kNever;
  bool flush_queued_ = false;
};

// Closing with unread input would reset the connection and destroy the answer on its way.
inline constexpr auto kLingerTime = std::chrono::seconds(2);

}  // namespace berth::net
