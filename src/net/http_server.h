#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"
#include "net/event_loop.h"
#include "net/http_message.h"
#include "net/http_parser.h"
#include "net/tls.h"

namespace berth::net {

class ServerConnection;
struct ServerState;

struct Request {
  std::string method;
  std::string target;  // as the client wrote it
  Headers headers;
  std::string body;
  std::string remote_address;
  std::shared_ptr<const PeerCertificate> peer;  // null if the client showed no certificate
  bool is_http2 = false;

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  std::string_view query() const {
    const std::size_t mark = target.find('?');
    return mark == std::string::npos ? std::string_view() : std::string_view(target).substr(mark + 1);
  }
};

// A response whose body is written bit by bit. Dropping it unfinished aborts it, so that the client cannot
// take a part for the whole.
class ResponseStream {
 public:
  ResponseStream() = default;
  ~ResponseStream() { Abort(); }
  ResponseStream(ResponseStream&&) = default;
  ResponseStream& operator=(ResponseStream&& other) noexcept;

  // Queues the bytes; what is queued in one turn of the loop goes out together. False if the peer is gone, or
  // is behind by more than the high-water mark: the caller decides whether to cut it off.
  bool Write(Buffer data);
  void Finish();
  void Abort();
  // Breaks the connection off in the middle of what is being sent, as a failing network would, with
  // everything else that it carries.
  void Sever();

  bool is_open() const;
  std::size_t queued_bytes() const;
  // Called once when the peer goes away before Finish or Abort, never inside a call of this class.
  void OnGone(Callback callback);

 private:
  friend class Responder;
  std::weak_ptr<ServerConnection> connection_;
  std::uint64_t exchange_ = 0;
};

// The one answer to a request, now or later, from the loop's thread. Dropping it unanswered answers 500.
// Answering a peer that is gone does nothing.
class Responder {
 public:
  Responder(std::weak_ptr<ServerConnection> connection, std::uint64_t exchange)
      : connection_(std::move(connection)), exchange_(exchange) {}
  ~Responder();
  Responder(Responder&&) = default;
  Responder& operator=(Responder&&) = delete;

  void Send(int status, const Headers& headers, const Body& body = {});
  ResponseStream StartStream(int status, const Headers& headers);
  void OnGone(Callback callback);
  // The connection takes no more requests, and ends when all that it has taken are answered.
  void EndConnection();

 private:
  std::weak_ptr<ServerConnection> connection_;
  std::uint64_t exchange_;
};

struct HttpServerOptions {
  std::string host = "127.0.0.1";         // empty: all addresses
  std::uint16_t port = 0;                 // 0: any free one
  std::shared_ptr<const TlsContext> tls;  // null: plain
  ParserLimits limits;
  bool shares_port = false;         // other processes may listen on the port too
  std::size_t connections_max = 0;  // 0: as many as there are descriptors
  base::Duration handshake_timeout = std::chrono::seconds(10);
  base::Duration header_timeout =
      std::chrono::seconds(32);  // from the first byte (or the connection) to the header
  base::Duration idle_timeout = std::chrono::seconds(90);  // between requests, and between parts of a body
  base::Duration write_timeout =
      std::chrono::seconds(60);  // a reader that takes nothing for so long is cut off
  std::size_t high_water_bytes = std::size_t{1} << 20;
  std::uint32_t streams_max = 250;  // requests at a time on a connection of HTTP/2; kube-apiserver's number
  // What all requests of a connection of HTTP/2 may hold together until they are answered. 0: each may be as
  // large as `limits` allow.
  std::size_t requests_bytes_max = 0;
};

// HTTP on one port: HTTP/2 with clients that agree on it in the TLS handshake or, on a plain port, begin with
// it; HTTP/1.1 with all others.
//
// Over HTTP/1.1 the requests of one connection are handed to the handler one after the other, in order; those
// that a client sends ahead wait. Over HTTP/2 up to `streams_max` of them are in its hands at a time, and
// what one stream's reader does not take holds up no other. Malformed and oversized requests are answered
// here and never reach the handler.
//
// Where connections are limited, a newcomer takes the place of whoever has kept one longest without using it:
// first those that have not finished their handshake, then those that have asked for nothing since their last
// answer, then those that are slow to ask. Only if all of them wait for answers is the newcomer turned away.
// So strangers who hold many connections cannot lock anybody out.
class HttpServer {
 public:
  using Handler = std::function<void(Request request, Responder responder)>;

  static base::Result<std::unique_ptr<HttpServer>> Listen(EventLoop& loop, HttpServerOptions options,
                                                          Handler handler);
  // Closes everything at once, without calling anybody.
  ~HttpServer();

  std::uint16_t port() const;
  std::size_t connection_count() const;
  // How many connections were closed for lack of room.
  std::uint64_t dropped_count() const;

  // For connections that begin to speak from now on.
  void ReplaceTls(std::shared_ptr<const TlsContext> tls);

  // Stops listening, lets requests and streams finish, closes what is idle. Calls `drained` when no
  // connection is left; what is still there after `grace` is closed.
  void Drain(base::Duration grace, Callback drained);

 private:
  explicit HttpServer(std::shared_ptr<ServerState> state);
  std::shared_ptr<ServerState> state_;
};

}  // namespace berth::net
