#include "net/client_trust.h"

#include <array>
#include <fmt/format.h>
#include <iterator>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>

#include "net/authorities.h"
#include "net/openssl_error.h"

namespace berth::net {
namespace {

// As "ssl_client" the chain must be good for proving who a client is.
bool Vouches(X509_STORE* store, X509* certificate, STACK_OF(X509) * chain) {
  X509_STORE_CTX* const check = X509_STORE_CTX_new();
  const bool good = check != nullptr && X509_STORE_CTX_init(check, store, certificate, chain) == 1 &&
                    X509_STORE_CTX_set_default(check, "ssl_client") == 1 && X509_verify_cert(check) == 1;
  X509_STORE_CTX_free(check);
  if (!good) TakeOpenSslError();
  return good;
}

std::string Fingerprint(const X509* certificate) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  if (X509_digest(certificate, EVP_sha256(), digest.data(), &size) != 1) return "";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) fmt::format_to(std::back_inserter(text), "{:02x}", digest[i]);
  return text;
}

// Who signed is seen after the handshake.
int TakeAny(X509_STORE_CTX*, void*) { return 1; }

}  // namespace

base::Result<std::unique_ptr<ClientTrust>> ClientTrust::Make(const std::vector<std::string>& authorities) {
  std::unique_ptr<ClientTrust> trust(new ClientTrust());
  for (const std::string& text : authorities) {
    X509_STORE* const store = X509_STORE_new();
    trust->stores_.push_back(store);
    if (text.empty()) continue;
    if (auto added = AddAuthorities(store, text); !added) {
      return base::Fail("certificate authority: " + added.error().message);
    }
  }
  return trust;
}

ClientTrust::~ClientTrust() {
  for (X509_STORE* const store : stores_) X509_STORE_free(store);
}

void ClientTrust::Attach(SSL_CTX* context) const {
  for (X509_STORE* const store : stores_) {
    STACK_OF(X509_OBJECT)* const objects = X509_STORE_get0_objects(store);
    for (int i = 0; i < sk_X509_OBJECT_num(objects); ++i) {
      SSL_CTX_add_client_CA(context, X509_OBJECT_get0_X509(sk_X509_OBJECT_value(objects, i)));
    }
  }
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_cert_verify_callback(context, TakeAny, nullptr);
  // A session that is taken up again would bring the certificate, and not the chain that proves it.
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

std::optional<PeerCertificate> ClientTrust::PeerOf(const SSL* connection) const {
  X509* const certificate = SSL_get0_peer_certificate(connection);
  if (certificate == nullptr) return std::nullopt;
  PeerCertificate peer{.subject = SubjectOf(*certificate), .fingerprint = Fingerprint(certificate)};
  STACK_OF(X509)* const chain = SSL_get_peer_cert_chain(connection);
  for (X509_STORE* const store : stores_) peer.vouched_for.push_back(Vouches(store, certificate, chain));
  return peer;
}

}  // namespace berth::net
