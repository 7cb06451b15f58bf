#include "net/named_identities.h"

#include <algorithm>
#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include "net/openssl_error.h"

namespace berth::net {

struct NamedIdentities::Identity {
  ~Identity() {
    X509_free(certificate);
    EVP_PKEY_free(key);
    sk_X509_pop_free(chain, X509_free);
  }

  X509* certificate = nullptr;
  EVP_PKEY* key = nullptr;
  STACK_OF(X509) * chain = sk_X509_new_null();
};

namespace {

constexpr std::size_t kDnsNameMax = 253;

std::string Lowered(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

bool IsAddressText(const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  return inet_pton(AF_INET, text.c_str(), bytes.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), bytes.data()) == 1;
}

// Lower-case labels of letters, digits and inner dashes.
bool IsDnsName(std::string_view name) {
  if (name.empty() || name.size() > kDnsNameMax) return false;
  const auto is_plain = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  char before = '.';
  for (const char c : name) {
    if (!is_plain(c) && c != '-' && c != '.') return false;
    if (!is_plain(c) && !is_plain(before) && (c == '.' || before == '.')) return false;
    before = c;
  }
  return is_plain(before);
}

// A common name that is an address is none of them: it would be shown to whoever reached that address.
bool CanBeAsked(const std::string& common_name) {
  if (common_name == "*") return true;
  if (IsAddressText(common_name)) return false;
  const std::string_view name = common_name;
  return IsDnsName(name.starts_with("*.") ? name.substr(2) : name);
}

std::vector<std::string> NamesOf(X509& certificate) {
  std::vector<std::string> names;
  if (const std::string common_name = SubjectOf(certificate).common_name; CanBeAsked(common_name)) {
    names.push_back(common_name);
  }
  auto* const others =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; i < sk_GENERAL_NAME_num(others); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(others, i);
    if (name->type != GEN_DNS) continue;
    names.emplace_back(reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
                       static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName)));
  }
  GENERAL_NAMES_free(others);
  return names;
}

// The address of this side of the connection; empty if it cannot be told.
std::string LocalAddress(const SSL* connection) {
  sockaddr_storage address{};
  socklen_t size = sizeof(address);
  if (getsockname(SSL_get_fd(connection), reinterpret_cast<sockaddr*>(&address), &size) != 0) return "";
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* const bytes =
      address.ss_family == AF_INET6
          ? static_cast<const void*>(&reinterpret_cast<const sockaddr_in6&>(address).sin6_addr)
          : static_cast<const void*>(&reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  return inet_ntop(address.ss_family, bytes, text.data(), text.size()) == nullptr ? "" : text.data();
}

BIO* TextOf(const std::string& pem) { return BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())); }

}  // namespace

NamedIdentities::NamedIdentities() = default;
NamedIdentities::~NamedIdentities() = default;

base::Result<std::unique_ptr<NamedIdentities>> NamedIdentities::Make(const std::vector<NamedKeyPair>& pairs) {
  std::unique_ptr<NamedIdentities> made(new NamedIdentities());
  std::vector<std::pair<std::string, const Identity*>> of_certificates;
  for (const NamedKeyPair& named : pairs) {
    auto identity = std::make_unique<Identity>();
    BIO* bio = TextOf(named.pair.certificate_pem);
    identity->certificate = PEM_read_bio_X509_AUX(bio, nullptr, nullptr, nullptr);
    while (X509* const next = PEM_read_bio_X509(bio, nullptr, nullptr, nullptr)) {
      sk_X509_push(identity->chain, next);
    }
    BIO_free(bio);
    if (identity->certificate == nullptr) return base::Fail("certificate: " + TakeOpenSslError());
    TakeOpenSslError();  // the end of the text is noted as an error
    bio = TextOf(named.pair.key_pem);
    identity->key = PEM_read_bio_PrivateKey(bio, nullptr, nullptr, nullptr);
    BIO_free(bio);
    if (identity->key == nullptr || X509_check_private_key(identity->certificate, identity->key) != 1) {
      return base::Fail("key: " + TakeOpenSslError());
    }
    for (const std::string& name : named.names) made->by_name_.emplace_back(Lowered(name), identity.get());
    if (named.names.empty()) {
      for (std::string& name : NamesOf(*identity->certificate)) {
        of_certificates.emplace_back(Lowered(std::move(name)), identity.get());
      }
    }
    made->identities_.push_back(std::move(identity));
  }
  made->by_name_.insert(made->by_name_.end(), of_certificates.begin(), of_certificates.end());
  return made;
}

const NamedIdentities::Identity* NamedIdentities::Find(std::string name) const {
  const auto exact = [this](std::string_view wanted) {
    return std::ranges::find(by_name_, wanted,
                             [](const auto& entry) -> std::string_view { return entry.first; });
  };
  name = Lowered(std::move(name));
  while (name.ends_with('.')) name.pop_back();
  if (const auto found = exact(name); found != by_name_.end()) return found->second;
  const std::size_t dot = name.find('.');
  const std::string pattern = dot == std::string::npos ? "*" : "*" + name.substr(dot);
  const auto found = exact(pattern);
  return found == by_name_.end() ? nullptr : found->second;
}

bool NamedIdentities::Choose(SSL* connection) const {
  const char* const asked = SSL_get_servername(connection, TLSEXT_NAMETYPE_host_name);
  const Identity* const identity = Find(asked != nullptr ? asked : LocalAddress(connection));
  if (identity == nullptr) return true;
  // The server's own may have a key of another kind, which the client would be free to prefer.
  SSL_certs_clear(connection);
  return SSL_use_cert_and_key(connection, identity->certificate, identity->key, identity->chain, 1) == 1;
}

void NamedIdentities::Attach(SSL_CTX* context) {
  if (by_name_.empty()) return;
  SSL_CTX_set_cert_cb(
      context,
      [](SSL* connection, void* self) {
        return static_cast<const NamedIdentities*>(self)->Choose(connection) ? 1 : 0;
      },
      this);
}

}  // namespace berth::net
