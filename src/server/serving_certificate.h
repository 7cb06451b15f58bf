#pragma once

#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "net/certificates.h"
#include "net/tls.h"
#include "server/tls_wishes.h"

namespace berth::server {

struct CertificateOptions {
  std::string cert_file;  // with key_file; both empty: see cert_dir
  std::string key_file;
  std::string cert_dir;      // for kube-scheduler.crt and .key, read or made; empty: a pair in memory
  std::string bind_address;  // one of the names of a pair that is made here
  TlsWishes tls;
};

// The certificate to serve with, and the files that it came from, to look at again.
class ServingCertificate {
 public:
  static base::Result<ServingCertificate> Load(const CertificateOptions& options, base::WallPoint now);

  // With these authorities of client certificates (PEM; empty: clients are not asked for one).
  base::Result<std::shared_ptr<const net::TlsContext>> MakeTls(const std::string& client_authorities) const;
  // Reads the files again. True if they hold another pair, which is then in use; a pair that does not fit
  // together changes nothing.
  bool Reload();

 private:
  net::KeyPair pair_;
  TlsWishes tls_;
  std::string cert_file_;  // empty: only in memory
  std::string key_file_;
};

}  // namespace berth::server
