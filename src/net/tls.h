#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "net/certificates.h"

struct ssl_ctx_st;

namespace berth::net {

// PEM text, or the file that holds it. Both empty: not given.
struct PemSource {
  std::string text = {};
  std::string file = {};

  bool empty() const { return text.empty() && file.empty(); }
};

struct TlsServerConfig {
  PemSource certificate = {};  // with its chain
  PemSource key = {};
  // Given: clients are asked for a certificate; one that this authority did not sign fails the handshake,
  // none at all does not (the request then has no peer subject).
  PemSource client_authority = {};
};

struct TlsClientConfig {
  PemSource authority = {};  // not given: the system's
  PemSource certificate = {};
  PemSource key = {};
  std::string server_name = {};  // empty: the host of the URL
  bool insecure = false;         // takes any certificate
  bool offer_http2 = false;      // before HTTP/1.1
};

// Keys and trust, read and checked: at least TLS 1.2, the protocol by ALPN. Immutable and shared by
// connections. To rotate, make a new one and hand it to the server or the client; open connections keep what
// they have.
class TlsContext {
 public:
  static base::Result<std::shared_ptr<const TlsContext>> ForServer(const TlsServerConfig& config);
  static base::Result<std::shared_ptr<const TlsContext>> ForClient(const TlsClientConfig& config);
  ~TlsContext();
  TlsContext(const TlsContext&) = delete;
  TlsContext& operator=(const TlsContext&) = delete;

  ssl_ctx_st* native() const { return native_; }
  const std::string& server_name() const { return server_name_; }
  bool insecure() const { return insecure_; }
  bool offers_http2() const { return offers_http2_; }

 private:
  explicit TlsContext(ssl_ctx_st* native) : native_(native) {}

  ssl_ctx_st* native_;
  std::string server_name_;
  bool insecure_ = false;
  bool offers_http2_ = false;
};

}  // namespace berth::net
