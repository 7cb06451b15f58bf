#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "net/certificates.h"
#include "net/tls.h"
#include "server/tls_wishes.h"

namespace berth::server {

// A pair for clients that ask for some names.
struct NamedPairFiles {
  std::string cert_file;
  std::string key_file;
  std::vector<std::string> names;  // empty: those of the certificate

  bool operator==(const NamedPairFiles&) const = default;
};
// Of "CERT,KEY" or "CERT,KEY:NAME,NAME", the form of --tls-sni-cert-key.
NamedPairFiles ReadNamedPair(std::string_view text);

struct CertificateOptions {
  std::string cert_file;  // with key_file; both empty: see cert_dir
  std::string key_file;
  std::string cert_dir;      // for kube-scheduler.crt and .key, read or made; empty: a pair in memory
  std::string bind_address;  // one of the names of a pair that is made here
  std::vector<NamedPairFiles> named;
  TlsWishes tls;
};

// The certificates to serve with, and the files that they came from, to look at again.
class ServingCertificate {
 public:
  static base::Result<ServingCertificate> Load(const CertificateOptions& options, base::WallPoint now);

  // With these groups of authorities of client certificates (PEM; all empty: clients are not asked for one).
  base::Result<std::shared_ptr<const net::TlsContext>> MakeTls(
      const std::vector<std::string>& client_authorities) const;
  // Reads the files again. True if some hold another pair, which is then in use; a pair that does not fit
  // together changes nothing.
  bool Reload();

 private:
  net::KeyPair pair_;
  std::vector<net::NamedKeyPair> named_;
  std::vector<NamedPairFiles> named_files_;  // of each in named_
  TlsWishes tls_;
  std::string cert_file_;  // empty: only in memory
  std::string key_file_;
};

}  // namespace berth::server
