#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/certificates.h"
#include "net/event_loop.h"
#include "net/net_error.h"
#include "net/tls.h"

namespace berth::net {

// What TLS calls HTTP/2.
inline constexpr std::string_view kHttp2Protocol = "h2";

// One TCP connection, plain or TLS, that never blocks.
//
// Reads and writes are tried; when they want the socket to become ready, the caller waits for that and tries
// again. So a connection that waits holds no buffer: what arrives is read into the loop's scratch memory.
class Transport {
 public:
  enum class Io {
    kDone,       // some bytes (or the handshake) went through
    kWantRead,   // try again when readable
    kWantWrite,  // try again when writable
    kEnd,        // the peer has ended its side in order
    kFailed,     // error() says why
  };
  struct Outcome {
    Io io;
    std::size_t bytes = 0;
  };

  // Takes over a connected socket.
  Transport(EventLoop& loop, int native_socket, bool is_ipv6);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  // Before any byte; Handshake is then tried until done. A client checks the peer's certificate against
  // `host` unless the context names another server.
  void StartTlsServer(std::shared_ptr<const TlsContext> context);
  void StartTlsClient(std::shared_ptr<const TlsContext> context, const std::string& host);
  Io Handshake();

  Outcome Read(std::span<char> into);
  // Whether a read now would find something without asking the socket.
  bool holds_bytes() const;
  // A prefix of the pieces, joined. After kWantWrite the same bytes must be tried first.
  Outcome Write(std::span<const std::string_view> pieces);

  // One wait of each kind at a time. A callback is dropped, not called, when the transport closes.
  void WaitReadable(Callback callback);
  void WaitWritable(Callback callback);

  // No more bytes from here; the peer can still send.
  void ShutdownSend();
  void Close();

  const NetError& error() const;
  std::string remote_address() const;
  // On a server's side, after the handshake: what the client showed.
  std::optional<PeerCertificate> PeerShown() const;
  // What both sides agreed on in the handshake, as ALPN names it; empty if nothing.
  std::string_view protocol() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace berth::net
