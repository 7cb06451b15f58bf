#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "net/event_loop.h"
#include "net/http_message.h"
#include "net/net_error.h"
#include "net/tls.h"
#include "net/url.h"

namespace berth::net {

struct HttpClientOptions {
  Url base;                               // its path goes before every target
  std::shared_ptr<const TlsContext> tls;  // needed for https
  std::optional<Url> proxy;               // an http proxy: CONNECT for https, whole URLs for http
  std::size_t connections_max = 0;        // 0: no limit. Of HTTP/1.1, each open stream holds one.
  // Of a response, in small letters; others may be left out. Empty: all.
  std::vector<std::string> wanted_headers = {};
  std::size_t header_bytes_max = std::size_t{1} << 20;
  base::Duration dial_timeout = std::chrono::seconds(30);
  base::Duration handshake_timeout = std::chrono::seconds(10);
  base::Duration idle_timeout = std::chrono::seconds(90);
  base::Duration keep_alive = std::chrono::seconds(30);
  // Of HTTP/2: a server that is silent for so long while it owes an answer is asked whether it is there, and
  // left if it does not say so in time. Zero: never.
  base::Duration ping_after = std::chrono::seconds(30);
  base::Duration ping_timeout = std::chrono::seconds(15);
};

struct ClientRequest {
  std::string method = "GET";
  std::string target = "/";  // path and query, already encoded
  Headers headers = {};      // without Host and Content-Length
  // Sent before them: what many requests have in common, and share.
  std::shared_ptr<const Headers> common_headers = {};
  Body body = {};
  std::optional<base::Duration> timeout = {};  // from now to the last byte, waiting for a connection included
  std::size_t response_bytes_max = std::size_t{512} << 20;  // of a whole response

  // As they are sent.
  Headers AllHeaders() const {
    Headers all = common_headers ? *common_headers : Headers();
    for (const Headers::Field& field : headers.fields()) all.Add(field.name, field.value);
    return all;
  }
};

struct ClientResponse {
  int status = 0;
  Headers headers;
  std::string body;
};

// Callbacks of a response that is handed on as it arrives. `on_end` is called once, last, and says why if the
// body is not whole.
struct StreamCallbacks {
  std::function<void(int status, Headers headers)> on_headers;
  std::function<void(std::string_view data)> on_data;
  std::move_only_function<void(std::optional<NetError> error)> on_end;
};

// HTTP to one server: 1.1 through a pool of connections, or 2, if TLS offers it and the server takes it,
// with as many calls on one connection as the server allows.
//
// No callback runs inside a call of this class. A callback may start and cancel calls and may destroy the
// client. A call that finds its pooled connection closed by the server is sent once more on a new one, if no
// byte of a response came and either nothing was sent or sending it twice does no harm (GET, HEAD, OPTIONS,
// PUT, DELETE).
class HttpClient {
 public:
  using CallId = std::uint64_t;
  using ResponseCallback = std::move_only_function<void(NetResult<ClientResponse>)>;

  struct Counts {
    std::size_t open = 0;
    std::size_t idle = 0;
    std::size_t waiting_calls = 0;
    std::size_t calls = 0;     // that have not ended
    std::uint64_t ended = 0;   // calls, since the client was made
    std::uint64_t dialed = 0;  // since the client was made
  };

  HttpClient(EventLoop& loop, HttpClientOptions options);
  // Drops all calls without calling anybody.
  ~HttpClient();

  CallId Send(ClientRequest request, ResponseCallback done);
  CallId Stream(ClientRequest request, StreamCallbacks callbacks);
  // The call ends with kCancelled, soon; nothing if it has ended.
  void Cancel(CallId id);

  // For new connections. Those that are idle are closed, those in use are closed after their call, or at once
  // (their calls then end with kReset), as a new client certificate demands.
  void ReplaceTls(std::shared_ptr<const TlsContext> tls, bool close_active);
  // Connections that no call uses are not used again, nor do those that many calls share take another:
  // whoever calls has reason to think that they are dead.
  void CloseIdle();

  Counts counts() const;

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace berth::net
