#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/deadline_sweep.h"
#include "net/endpoints.h"
#include "net/http_server.h"
#include "net/output_queue.h"
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
  void Remove(ServerConnection& connection);
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

// One client's connection, from accept to close.
//
// 1. At most one request is in the handler's hands (kAnswering, kStreaming); `exchange_` numbers it, so that
//    a late call through an old Responder finds that it is no longer meant.
// 2. A wait for readability is pending in every phase, unless too much unasked input is already kept: this is
//    how a vanished peer is noticed.
// 3. No callback of the user runs inside a call that the user makes; writes happen at the end of the turn.
// 4. After Close() nothing is called any more.
class ServerConnection : public std::enable_shared_from_this<ServerConnection> {
 public:
  ServerConnection(ServerState& server, std::unique_ptr<Transport> transport);

  void Start();
  void Flush();
  void Close();
  // Close, and tell the handler that its peer is gone.
  void CutOff() { OnPeerGone(); }
  // The last request has been answered or none has begun: nobody waits for anything on this connection.
  bool is_idle() const;
  // Answers what is in hand, then closes.
  void CloseWhenAnswered();
  base::TimePoint deadline() const { return std::min(read_deadline_, write_deadline_); }
  // How much it deserves its place, and since when; the least of all goes first.
  enum class Claim { kGreeting, kIdle, kAsking, kAnswered };
  std::pair<Claim, base::TimePoint> claim() const;

  bool IsCurrent(std::uint64_t exchange) const { return phase_ != Phase::kClosed && exchange == exchange_; }
  void Send(int status, const Headers& headers, const Body& body);
  void StartStream(int status, const Headers& headers);
  bool WriteStream(Buffer data);
  void FinishStream();
  void OnGone(Callback callback) { on_gone_ = std::move(callback); }
  std::size_t queued_bytes() const { return output_.bytes(); }

  std::size_t index = 0;  // in ServerState::connections

 private:
  enum class Phase { kHandshake, kReading, kAnswering, kStreaming, kLingering, kClosed };

  void Handshake();
  void WaitReadable();
  void WaitWritable();
  void OnReadable();
  void OnBytes(std::string_view bytes);
  void OnPeerEnd();
  void OnPeerGone();
  void ReadRequests();
  std::size_t FeedParser(std::string_view bytes);
  void Dispatch();
  void Refuse();
  void FinishExchange();
  void FlushSoon();
  void Linger();
  std::string Head(int status, const Headers& headers) const;
  void SetDeadline(base::TimePoint& deadline, base::Duration after);

  ServerState& server_;
  std::unique_ptr<Transport> transport_;
  std::shared_ptr<const PeerCertificate> peer_;
  std::unique_ptr<RequestParser> parser_;  // only while a request is coming in
  std::string input_;                      // bytes that the parser has not taken yet
  OutputQueue output_;
  Callback on_gone_;
  std::uint64_t exchange_ = 0;
  // Two, because a client that takes no answer must not gain time by sending, nor the other way round.
  base::TimePoint read_deadline_ = DeadlineSweep::kNever;
  base::TimePoint write_deadline_ = DeadlineSweep::kNever;
  Phase phase_ = Phase::kReading;
  bool speaks_tls_ = false;
  bool waiting_readable_ = false;
  bool waiting_writable_ = false;
  bool flush_queued_ = false;
  bool reading_requests_ = false;
  bool continue_sent_ = false;
  bool keep_alive_ = true;
  bool is_head_ = false;
  bool is_http_1_0_ = false;
  bool peer_ended_ = false;
  bool close_when_flushed_ = false;
};

}  // namespace berth::net
