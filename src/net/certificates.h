#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

struct x509_st;

namespace berth::net {

// A certificate and its private key, both PEM.
struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;
};

// Whom a certificate speaks for: to Kubernetes, the user and the groups.
struct CertificateSubject {
  std::string common_name;
  std::vector<std::string> organizations = {};

  bool operator==(const CertificateSubject&) const = default;
};

enum class CertificateUse { kServer, kClient };

struct CertificateWish {
  CertificateSubject subject;
  std::vector<std::string> names = {};  // host names and addresses that a server answers to
  CertificateUse use = CertificateUse::kServer;
  base::Duration validity = std::chrono::hours(24 * 365);
};

// A private authority that signs itself (EC P-256, valid from a day before `now`: clocks differ).
base::Result<KeyPair> MakeAuthority(const std::string& common_name, base::WallPoint now,
                                    base::Duration validity = std::chrono::hours(24 * 3650));

base::Result<KeyPair> IssueCertificate(const KeyPair& authority, const CertificateWish& wish,
                                       base::WallPoint now);

// Of the first certificate in the text.
base::Result<CertificateSubject> SubjectOf(std::string_view certificate_pem);
CertificateSubject SubjectOf(const x509_st& certificate);

}  // namespace berth::net
