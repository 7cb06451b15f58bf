#include "net/tls.h"

#include <cstring>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"

#include "base/files.h"
#include "net/authorities.h"
#include "net/openssl_error.h"

namespace berth::net {
namespace {

// Length and name, as ALPN lists protocols.
constexpr unsigned char kAlpn[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
constexpr std::size_t kClientReadBytes = 64 * 1024;
constexpr unsigned char kAlpnWithHttp2[] = {2, 'h', '2', 8, 'h', 't', 't', 'p', '/', '1', '.', '1'};

std::string NameOf(const PemSource& source, std::string_view what) {
  return source.file.empty() ? std::string(what) : fmt::format("{} {}", what, source.file);
}

std::unexpected<base::Error> Failed(const PemSource& source, std::string_view what) {
  return base::Fail(fmt::format("{}: {}", NameOf(source, what), TakeOpenSslError()));
}

base::Result<std::string> Load(const PemSource& source, std::string_view what) {
  if (source.file.empty()) return source.text;
  auto text = base::ReadFile(source.file);
  if (!text) return base::Fail(fmt::format("{}: {}", what, text.error().message));
  return text;
}

BIO* ReadOnly(const std::string& text) { return BIO_new_mem_buf(text.data(), static_cast<int>(text.size())); }

// The certificate and whatever follows it: the chain up to the authority.
base::Result<void> UseCertificate(SSL_CTX* context, const PemSource& source) {
  const auto text = Load(source, "certificate");
  if (!text) return std::unexpected(text.error());
  BIO* bio = ReadOnly(*text);
  X509* certificate = PEM_read_bio_X509_AUX(bio, nullptr, nullptr, nullptr);
  bool used = certificate != nullptr && SSL_CTX_use_certificate(context, certificate) == 1;
  X509_free(certificate);
  while (used) {
    X509* next = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr);
    if (next == nullptr) break;
    used = SSL_CTX_add0_chain_cert(context, next) == 1;
  }
  BIO_free(bio);
  if (!used) return Failed(source, "certificate");
  TakeOpenSslError();  // the end of the text is noted as an error
  return {};
}

base::Result<void> UseKey(SSL_CTX* context, const PemSource& source) {
  const auto text = Load(source, "key");
  if (!text) return std::unexpected(text.error());
  BIO* bio = ReadOnly(*text);
  EVP_PKEY* key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
  BIO_free(bio);
  const bool used = key != nullptr && SSL_CTX_use_PrivateKey(context, key) == 1;
  EVP_PKEY_free(key);
  if (!used || SSL_CTX_check_private_key(context) != 1) return Failed(source, "key");
  return {};
}

base::Result<void> UseIdentity(SSL_CTX* context, const PemSource& certificate, const PemSource& key) {
  if (auto used = UseCertificate(context, certificate); !used) return used;
  return UseKey(context, key);
}

base::Result<void> Trust(SSL_CTX* context, const PemSource& source) {
  const auto text = Load(source, "certificate authority");
  if (!text) return std::unexpected(text.error());
  if (auto added = AddAuthorities(SSL_CTX_get_cert_store(context), *text); !added) {
    return base::Fail(fmt::format("{}: {}", NameOf(source, "certificate authority"), added.error().message));
  }
  return {};
}

int ChooseProtocol(SSL*, const unsigned char** out, unsigned char* out_size, const unsigned char* offered,
                   unsigned int offered_size, void* http2) {
  unsigned char* chosen = nullptr;
  const int result = http2 != nullptr ? SSL_select_next_proto(&chosen, out_size, kAlpnWithHttp2,
                                                              sizeof(kAlpnWithHttp2), offered, offered_size)
                                      : SSL_select_next_proto(&chosen, out_size, kAlpn, sizeof(kAlpn),
                                                              offered, offered_size);
  *out = chosen;
  // A client that offers only other protocols is told nothing, and may still speak HTTP/1.1.
  return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_NOACK;
}

void Configure(SSL_CTX* context) {
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  // Idle connections give their record buffers back; writes may be retried from another place in memory.
  SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  // Otherwise each record takes two reads of the socket, one for its length.
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
}

}  // namespace

TlsContext::~TlsContext() { SSL_CTX_free(native_); }

base::Result<std::shared_ptr<const TlsContext>> TlsContext::ForServer(const TlsServerConfig& config) {
  std::shared_ptr<TlsContext> context(new TlsContext(SSL_CTX_new(TLS_server_method())));
  SSL_CTX* native = context->native_;
  if (native == nullptr) return base::Fail("tls: " + TakeOpenSslError());
  Configure(native);
  context->offers_http2_ = config.offer_http2;
  SSL_CTX_set_alpn_select_cb(native, ChooseProtocol, config.offer_http2 ? context.get() : nullptr);
  SSL_CTX_set_session_id_context(native, kAlpn, sizeof(kAlpn));
  if (auto used = UseIdentity(native, config.certificate, config.key); !used)
    return std::unexpected(used.error());
  auto named = NamedIdentities::Make(config.named);
  if (!named) return std::unexpected(std::move(named.error()));
  context->named_ = *std::move(named);
  context->named_->Attach(native);
  if (config.client_authorities.empty()) return context;
  std::vector<std::string> authorities;
  for (const PemSource& source : config.client_authorities) {
    auto text = Load(source, "certificate authority");
    if (!text) return std::unexpected(std::move(text.error()));
    authorities.push_back(*std::move(text));
  }
  auto trust = ClientTrust::Make(authorities);
  if (!trust) return std::unexpected(std::move(trust.error()));
  context->client_trust_ = *std::move(trust);
  context->client_trust_->Attach(native);
  return context;
}

base::Result<std::shared_ptr<const TlsContext>> TlsContext::ForClient(const TlsClientConfig& config) {
  std::shared_ptr<TlsContext> context(new TlsContext(SSL_CTX_new(TLS_client_method())));
  SSL_CTX* native = context->native_;
  if (native == nullptr) return base::Fail("tls: " + TakeOpenSslError());
  Configure(native);
  // What a server sends in many small records is read at once.
  SSL_CTX_set_default_read_buffer_len(native, kClientReadBytes);
  if (config.offer_http2) {
    SSL_CTX_set_alpn_protos(native, kAlpnWithHttp2, sizeof(kAlpnWithHttp2));
  } else {
    SSL_CTX_set_alpn_protos(native, kAlpn, sizeof(kAlpn));
  }
  if (config.insecure) {
    SSL_CTX_set_verify(native, SSL_VERIFY_NONE, nullptr);
  } else {
    SSL_CTX_set_verify(native, SSL_VERIFY_PEER, nullptr);
    if (config.authority.empty()) {
      if (SSL_CTX_set_default_verify_paths(native) != 1)
        return base::Fail("system certificates: " + TakeOpenSslError());
    } else if (auto trusted = Trust(native, config.authority); !trusted) {
      return std::unexpected(trusted.error());
    }
  }
  if (config.certificate.empty() != config.key.empty()) {
    return base::Fail("tls: a client certificate needs its key, and a key its certificate");
  }
  if (!config.certificate.empty()) {
    if (auto used = UseIdentity(native, config.certificate, config.key); !used)
      return std::unexpected(used.error());
  }
  context->server_name_ = config.server_name;
  context->insecure_ = config.insecure;
  context->offers_http2_ = config.offer_http2;
  return context;
}

}  // namespace berth::net
