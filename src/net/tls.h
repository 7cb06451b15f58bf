#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/certificates.h"
#include "net/client_trust.h"
#include "net/named_identities.h"

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
  std::vector<NamedKeyPair> named = {};  // shown instead, to clients that ask for their names
  // Groups of authorities. Given: clients are asked for a certificate; the request says whose it is and which
  // of the groups vouch for it.
  std::vector<PemSource> client_authorities = {};
  bool offer_http2 = false;  // to clients that can; otherwise HTTP/1.1
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
  // Null: clients are not asked for certificates.
  const ClientTrust* client_trust() const { return client_trust_.get(); }
  bool offers_http2() const { return offers_http2_; }

 private:
  explicit TlsContext(ssl_ctx_st* native) : native_(native) {}

  ssl_ctx_st* native_;
  std::string server_name_;
  bool insecure_ = false;
  std::unique_ptr<NamedIdentities> named_;
  std::unique_ptr<ClientTrust> client_trust_;
  bool offers_http2_ = false;
};

}  // namespace berth::net
