#include "server/tls_wishes.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <openssl/ssl.h>
#include <string_view>

#include "base/go_text.h"

namespace berth::server {
namespace {

struct Suite {
  std::string_view go;
  std::string_view openssl;  // empty: cannot be chosen there
};
// Those of TLS 1.3 are always offered; kube-scheduler takes their names without effect. RC4 is not built into
// OpenSSL any more.
constexpr Suite kSuites[] = {
    {"TLS_AES_128_GCM_SHA256", ""},
    {"TLS_AES_256_GCM_SHA384", ""},
    {"TLS_CHACHA20_POLY1305_SHA256", ""},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA", "ECDHE-ECDSA-AES128-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256", "ECDHE-ECDSA-AES128-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "ECDHE-ECDSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA", "ECDHE-ECDSA-AES256-SHA"},
    {"TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-ECDSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_ECDSA_WITH_RC4_128_SHA", ""},
    {"TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA", "ECDHE-RSA-DES-CBC3-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA", "ECDHE-RSA-AES128-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256", "ECDHE-RSA-AES128-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"},
    {"TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA", "ECDHE-RSA-AES256-SHA"},
    {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "ECDHE-RSA-AES256-GCM-SHA384"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"},
    {"TLS_ECDHE_RSA_WITH_RC4_128_SHA", ""},
    {"TLS_RSA_WITH_3DES_EDE_CBC_SHA", "DES-CBC3-SHA"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA", "AES128-SHA"},
    {"TLS_RSA_WITH_AES_128_CBC_SHA256", "AES128-SHA256"},
    {"TLS_RSA_WITH_AES_128_GCM_SHA256", "AES128-GCM-SHA256"},
    {"TLS_RSA_WITH_AES_256_CBC_SHA", "AES256-SHA"},
    {"TLS_RSA_WITH_AES_256_GCM_SHA384", "AES256-GCM-SHA384"},
    {"TLS_RSA_WITH_RC4_128_SHA", ""},
};

struct TlsVersion {
  std::string_view go;
  int openssl;
};
constexpr TlsVersion kVersions[] = {{"", TLS1_2_VERSION},
                                    {"VersionTLS10", TLS1_VERSION},
                                    {"VersionTLS11", TLS1_1_VERSION},
                                    {"VersionTLS12", TLS1_2_VERSION},
                                    {"VersionTLS13", TLS1_3_VERSION}};

struct Curve {
  std::int32_t go;
  std::string_view openssl;  // empty: OpenSSL does not have it
};
constexpr Curve kCurves[] = {{23, "P-256"}, {24, "P-384"}, {25, "P-521"}, {29, "X25519"},
                             {4587, ""},    {4588, ""},    {4589, ""}};

template <class Table, class Key>
auto* FindGo(const Table& table, const Key& key) {
  const auto found = std::ranges::find_if(table, [&](const auto& entry) { return entry.go == key; });
  return found == std::end(table) ? nullptr : &*found;
}

void AppendName(std::string& list, std::string_view name) {
  if (name.empty()) return;
  if (!list.empty()) list += ':';
  list += name;
}

}  // namespace

base::Result<void> CheckTlsWishes(const TlsWishes& wishes) {
  for (const std::string& suite : wishes.cipher_suites) {
    if (FindGo(kSuites, suite) == nullptr) {
      return base::Fail(fmt::format("Cipher suite {} not supported or doesn't exist", suite));
    }
  }
  if (FindGo(kVersions, wishes.min_version) == nullptr) {
    return base::Fail(fmt::format("unknown tls version {}", base::QuoteGo(wishes.min_version)));
  }
  for (const std::int32_t curve : wishes.curves) {
    if (FindGo(kCurves, curve) == nullptr) {
      return base::Fail(fmt::format("curve preference {} is not supported by the current Go version", curve));
    }
  }
  return {};
}

bool MayOfferHttp2(const TlsWishes& wishes) {
  const auto has = [&](std::string_view suite) {
    return std::ranges::find(wishes.cipher_suites, suite) != wishes.cipher_suites.end();
  };
  return wishes.http2 &&
         (wishes.cipher_suites.empty() || wishes.min_version == "VersionTLS13" ||
          has("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256") || has("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"));
}

void ApplyTlsWishes(const TlsWishes& wishes, const net::TlsContext& context) {
  SSL_CTX* const native = context.native();
  SSL_CTX_set_min_proto_version(native, FindGo(kVersions, wishes.min_version)->openssl);
  if (!wishes.cipher_suites.empty()) {
    std::string list;
    for (const std::string& suite : wishes.cipher_suites) AppendName(list, FindGo(kSuites, suite)->openssl);
    // None but those of TLS 1.3: nothing is left for the versions before it.
    if (list.empty()) {
      SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
    } else {
      SSL_CTX_set_cipher_list(native, list.c_str());
    }
  }
  std::string groups;
  for (const std::int32_t curve : wishes.curves) AppendName(groups, FindGo(kCurves, curve)->openssl);
  if (!groups.empty()) SSL_CTX_set1_groups_list(native, groups.c_str());
}

}  // namespace berth::server
