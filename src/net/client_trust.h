#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/certificates.h"

struct ssl_ctx_st;
struct ssl_st;
struct x509_store_st;

namespace berth::net {

// A certificate that a client showed, and which of the server's authorities vouch for it.
struct PeerCertificate {
  CertificateSubject subject;
  std::string fingerprint = {};        // SHA-256 of the certificate, in hexadecimal
  std::vector<bool> vouched_for = {};  // by each of TlsServerConfig::client_authorities

  bool is_vouched_for(std::size_t authority = 0) const {
    return authority < vouched_for.size() && vouched_for[authority];
  }
};

// Groups of authorities that sign for clients, each with a meaning of its own to whoever asks.
//
// The handshake does not fail for a certificate that nobody signed: the request arrives, and its handler
// decides what such a client is worth.
class ClientTrust {
 public:
  // Each text is PEM with one authority or more.
  static base::Result<std::unique_ptr<ClientTrust>> Make(const std::vector<std::string>& authorities);
  ~ClientTrust();
  ClientTrust(const ClientTrust&) = delete;
  ClientTrust& operator=(const ClientTrust&) = delete;

  // From now on clients of the context are asked for certificates, with the names of all authorities as a
  // hint.
  void Attach(ssl_ctx_st* context) const;
  // After the handshake; nothing if the client showed no certificate.
  std::optional<PeerCertificate> PeerOf(const ssl_st* connection) const;

 private:
  ClientTrust() = default;
  std::vector<x509_store_st*> stores_;
};

}  // namespace berth::net
