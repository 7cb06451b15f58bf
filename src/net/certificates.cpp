#include "net/certificates.h"

#include <arpa/inet.h>
#include <array>
#include <ctime>
#include <memory>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "net/openssl_error.h"

namespace berth::net {
namespace {

template <auto kFree>
struct Deleter {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using BioPtr = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using KeyPtr = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using CertificatePtr = std::unique_ptr<X509, Deleter<X509_free>>;
using NumberPtr = std::unique_ptr<BIGNUM, Deleter<BN_free>>;
using NamesPtr = std::unique_ptr<GENERAL_NAMES, Deleter<GENERAL_NAMES_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;

constexpr int kSerialBits = 127;
constexpr long kVersion3 = 2;

base::Result<KeyPair> Failed(std::string_view what) {
  return base::Fail(std::string(what) + ": " + TakeOpenSslError());
}

BioPtr ReadOnly(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string Text(BIO* bio) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio, &data);
  return std::string(data, static_cast<std::size_t>(size));
}

std::string EntryText(const X509_NAME_ENTRY* entry) {
  unsigned char* utf8 = nullptr;
  const int size = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(entry));
  if (size < 0) return "";
  std::string text(reinterpret_cast<char*>(utf8), static_cast<std::size_t>(size));
  OPENSSL_free(utf8);
  return text;
}

bool AddEntry(X509_NAME* name, int nid, const std::string& value) {
  return X509_NAME_add_entry_by_NID(name, nid, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

// Through the values, not through OpenSSL's text syntax, in which a comma in a name would add another name.
bool AddAlternativeName(GENERAL_NAMES* names, const std::string& name) {
  std::array<unsigned char, sizeof(in6_addr)> address;
  int address_size = 0;
  if (inet_pton(AF_INET, name.c_str(), address.data()) == 1) address_size = sizeof(in_addr);
  if (inet_pton(AF_INET6, name.c_str(), address.data()) == 1) address_size = sizeof(in6_addr);
  ASN1_STRING* value = ASN1_STRING_type_new(address_size != 0 ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);
  GENERAL_NAME* entry = GENERAL_NAME_new();
  if (value == nullptr || entry == nullptr) return false;
  const bool set = address_size != 0
                       ? ASN1_STRING_set(value, address.data(), address_size) == 1
                       : ASN1_STRING_set(value, name.data(), static_cast<int>(name.size())) == 1;
  GENERAL_NAME_set0_value(entry, address_size != 0 ? GEN_IPADD : GEN_DNS, value);
  return set && sk_GENERAL_NAME_push(names, entry) > 0;
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool SetSerial(X509* certificate) {
  const NumberPtr number(BN_new());
  return number && BN_rand(number.get(), kSerialBits, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
         BN_to_ASN1_INTEGER(number.get(), X509_get_serialNumber(certificate)) != nullptr;
}

bool SetTimes(X509* certificate, base::WallPoint now, base::Duration validity) {
  const auto seconds = [](base::WallPoint time) {
    return static_cast<std::time_t>(
        std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count());
  };
  return ASN1_TIME_set(X509_getm_notBefore(certificate), seconds(now - std::chrono::hours(24))) != nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), seconds(now + validity)) != nullptr;
}

struct Draft {
  CertificatePtr certificate{X509_new()};
  KeyPtr key{EVP_EC_gen("P-256")};
};

bool FillIn(const Draft& draft, const CertificateSubject& subject, base::WallPoint now,
            base::Duration validity) {
  X509* certificate = draft.certificate.get();
  if (certificate == nullptr || draft.key == nullptr) return false;
  X509_NAME* name = X509_get_subject_name(certificate);
  for (const std::string& organization : subject.organizations) {
    if (!AddEntry(name, NID_organizationName, organization)) return false;
  }
  return X509_set_version(certificate, kVersion3) == 1 && SetSerial(certificate) &&
         SetTimes(certificate, now, validity) && AddEntry(name, NID_commonName, subject.common_name) &&
         X509_set_pubkey(certificate, draft.key.get()) == 1;
}

base::Result<KeyPair> Sign(const Draft& draft, EVP_PKEY* signer) {
  if (X509_sign(draft.certificate.get(), signer, EVP_sha256()) == 0) return Failed("sign the certificate");
  const BioPtr certificate(BIO_new(BIO_s_mem()));
  const BioPtr key(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(certificate.get(), draft.certificate.get()) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(key.get(), draft.key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1) {
    return Failed("write the certificate as PEM");
  }
  return KeyPair{.certificate_pem = Text(certificate.get()), .key_pem = Text(key.get())};
}

bool AddNames(X509* certificate, const std::vector<std::string>& names) {
  if (names.empty()) return true;
  const NamesPtr list(GENERAL_NAMES_new());
  for (const std::string& name : names) {
    if (!list || !AddAlternativeName(list.get(), name)) return false;
  }
  return X509_add1_ext_i2d(certificate, NID_subject_alt_name, list.get(), 0, X509V3_ADD_DEFAULT) == 1;
}

CertificatePtr ParseCertificate(std::string_view pem) {
  return CertificatePtr(PEM_read_bio_X509(ReadOnly(pem).get(), nullptr, nullptr, nullptr));
}

}  // namespace

std::string TakeOpenSslError() {
  const unsigned long code = ERR_peek_last_error();
  ERR_clear_error();
  if (code == 0) return "unknown error";
  const char* reason = ERR_reason_error_string(code);
  if (reason != nullptr) return reason;
  std::array<char, 256> text;
  ERR_error_string_n(code, text.data(), text.size());
  return text.data();
}

base::Result<KeyPair> MakeAuthority(const std::string& common_name, base::WallPoint now,
                                    base::Duration validity) {
  const Draft draft;
  if (!FillIn(draft, {.common_name = common_name, .organizations = {}}, now, validity)) {
    return Failed("make an authority");
  }
  X509* certificate = draft.certificate.get();
  if (X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) != 1 ||
      !AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE") ||
      !AddExtension(certificate, certificate, NID_key_usage,
                    "critical,keyCertSign,cRLSign,digitalSignature") ||
      !AddExtension(certificate, certificate, NID_subject_key_identifier, "hash")) {
    return Failed("make an authority");
  }
  return Sign(draft, draft.key.get());
}

base::Result<KeyPair> IssueCertificate(const KeyPair& authority, const CertificateWish& wish,
                                       base::WallPoint now) {
  const CertificatePtr issuer = ParseCertificate(authority.certificate_pem);
  if (!issuer) return Failed("read the authority's certificate");
  const KeyPtr issuer_key(
      PEM_read_bio_PrivateKey(ReadOnly(authority.key_pem).get(), nullptr, nullptr, nullptr));
  if (!issuer_key) return Failed("read the authority's key");
  const Draft draft;
  X509* certificate = draft.certificate.get();
  const bool server = wish.use == CertificateUse::kServer;
  if (!FillIn(draft, wish.subject, now, wish.validity) ||
      X509_set_issuer_name(certificate, X509_get_subject_name(issuer.get())) != 1 ||
      !AddExtension(certificate, issuer.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !AddExtension(certificate, issuer.get(), NID_key_usage, "critical,digitalSignature") ||
      !AddExtension(certificate, issuer.get(), NID_ext_key_usage, server ? "serverAuth" : "clientAuth") ||
      !AddExtension(certificate, issuer.get(), NID_authority_key_identifier, "keyid") ||
      !AddNames(certificate, wish.names)) {
    return Failed("issue a certificate for " + wish.subject.common_name);
  }
  if (X509_NAME_cmp(X509_get_subject_name(certificate), X509_get_subject_name(issuer.get())) == 0) {
    return base::Fail("issue a certificate for " + wish.subject.common_name +
                      ": under the name of its authority it would be taken for self-signed");
  }
  return Sign(draft, issuer_key.get());
}

CertificateSubject SubjectOf(const X509& certificate) {
  CertificateSubject subject;
  const X509_NAME* name = X509_get_subject_name(&certificate);
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    const int nid = OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry));
    if (nid == NID_commonName) subject.common_name = EntryText(entry);
    if (nid == NID_organizationName) subject.organizations.push_back(EntryText(entry));
  }
  return subject;
}

base::Result<CertificateSubject> SubjectOf(std::string_view certificate_pem) {
  const CertificatePtr certificate = ParseCertificate(certificate_pem);
  if (!certificate) return base::Fail("read the certificate: " + TakeOpenSslError());
  return SubjectOf(*certificate);
}

}  // namespace berth::net
