#include "net/authorities.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <utility>

#include "net/openssl_error.h"

namespace berth::net {

base::Result<void> AddAuthorities(x509_store_st* store, const std::string& pem) {
  BIO* const bio = BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size()));
  bool found = false;
  while (X509* const authority = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
    X509_STORE_add_cert(store, authority);
    X509_free(authority);
    found = true;
  }
  BIO_free(bio);
  std::string error = TakeOpenSslError();  // the end of the text is noted as one
  if (!found) return base::Fail(std::move(error));
  return {};
}

}  // namespace berth::net
