#include "server/tls_wishes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <openssl/ssl.h>
#include <set>
#include <string>

#include "net/certificates.h"

namespace berth::server {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::string ErrorOf(const TlsWishes& wishes) {
  const auto checked = CheckTlsWishes(wishes);
  return checked ? "" : checked.error().message;
}

std::shared_ptr<const net::TlsContext> ContextWith(const TlsWishes& wishes) {
  const auto authority = net::MakeAuthority("test", base::RealClock().WallNow());
  EXPECT_TRUE(authority.has_value());
  net::TlsServerConfig config;
  config.certificate.text = authority->certificate_pem;
  config.key.text = authority->key_pem;
  auto context = net::TlsContext::ForServer(config);
  EXPECT_TRUE(context.has_value());
  ApplyTlsWishes(wishes, **context);
  return *context;
}

// The suites of TLS 1.2 that a server with these wishes has.
std::set<std::string> OldSuites(const TlsWishes& wishes) {
  const auto context = ContextWith(wishes);
  std::set<std::string> names;
  const auto* const ciphers = SSL_CTX_get_ciphers(context->native());
  for (int i = 0; i < sk_SSL_CIPHER_num(ciphers); ++i) {
    const std::string name = SSL_CIPHER_get_name(sk_SSL_CIPHER_value(ciphers, i));
    if (!name.starts_with("TLS_")) names.insert(name);
  }
  return names;
}

TEST(TlsWishes, WhatCannotBeHadIsNamedInGosWords) {
  EXPECT_EQ(ErrorOf({}), "");
  EXPECT_EQ(
      ErrorOf({.min_version = "VersionTLS13", .cipher_suites = {"TLS_AES_128_GCM_SHA256"}, .curves = {29}}),
      "");
  EXPECT_EQ(ErrorOf({.min_version = "VersionTLS9"}), "unknown tls version \"VersionTLS9\"");
  EXPECT_EQ(ErrorOf({.cipher_suites = {"ROT13"}}), "Cipher suite ROT13 not supported or doesn't exist");
  EXPECT_EQ(ErrorOf({.curves = {1}}), "curve preference 1 is not supported by the current Go version");
}

TEST(TlsWishes, TheOldestVersionIsKept) {
  EXPECT_EQ(SSL_CTX_get_min_proto_version(ContextWith({})->native()), TLS1_2_VERSION);
  EXPECT_EQ(SSL_CTX_get_min_proto_version(ContextWith({.min_version = "VersionTLS13"})->native()),
            TLS1_3_VERSION);
}

TEST(TlsWishes, OnlyTheChosenSuitesAreOffered) {
  EXPECT_GT(OldSuites({}).size(), 5u);
  EXPECT_THAT(
      OldSuites({.cipher_suites = {"TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_AES_128_GCM_SHA256"}}),
      ElementsAre("ECDHE-RSA-AES256-GCM-SHA384"));
}

TEST(TlsWishes, Http2IsOfferedWithTheSuiteThatItDemands) {
  EXPECT_TRUE(MayOfferHttp2({}));
  EXPECT_FALSE(MayOfferHttp2({.http2 = false}));
  EXPECT_TRUE(MayOfferHttp2({.cipher_suites = {"TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"}}));
  EXPECT_FALSE(MayOfferHttp2({.cipher_suites = {"TLS_RSA_WITH_AES_128_CBC_SHA"}}));
  EXPECT_TRUE(
      MayOfferHttp2({.min_version = "VersionTLS13", .cipher_suites = {"TLS_RSA_WITH_AES_128_CBC_SHA"}}));
}

TEST(TlsWishes, SuitesOfTls13AloneLeaveNothingOlder) {
  EXPECT_EQ(
      SSL_CTX_get_min_proto_version(ContextWith({.cipher_suites = {"TLS_AES_128_GCM_SHA256"}})->native()),
      TLS1_3_VERSION);
}

}  // namespace
}  // namespace berth::server
