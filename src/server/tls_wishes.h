#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/tls.h"

namespace berth::server {

// What an operator wants of TLS on the port, in the words of Go, in which kube-scheduler's flags are.
struct TlsWishes {
  std::string min_version = {};                 // VersionTLS10 to VersionTLS13; empty: TLS 1.2
  std::vector<std::string> cipher_suites = {};  // of TLS 1.2 and before; empty: OpenSSL's choice
  std::vector<std::int32_t> curves = {};        // Go's CurveIDs; empty: OpenSSL's choice
  bool http2 = true;                            // beside HTTP/1.1

  bool operator==(const TlsWishes&) const = default;
};

// The first thing that cannot be had, as kube-scheduler says it.
base::Result<void> CheckTlsWishes(const TlsWishes& wishes);

// Whether HTTP/2 is wished for and may be spoken: of the suites of TLS 1.2 it demands one.
bool MayOfferHttp2(const TlsWishes& wishes);

// For wishes that passed the check, before the first connection.
void ApplyTlsWishes(const TlsWishes& wishes, const net::TlsContext& context);

}  // namespace berth::server
