#include "server/serving_certificate.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <system_error>
#include <unistd.h>
#include <utility>
#include <vector>

#include "base/errno_text.h"
#include "base/files.h"

namespace berth::server {
namespace {

namespace fs = std::filesystem;

// A private key must never be readable by others, not even for a moment.
base::Result<void> WritePrivate(const std::string& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return base::Fail(fmt::format("open {}: {}", path, std::strerror(errno)));
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const bool closed = ::close(file) == 0;
  if (!written || !closed) return base::Fail(fmt::format("write {}: {}", path, std::strerror(errno)));
  return {};
}

base::Result<net::KeyPair> MakePair(const std::string& bind_address, base::WallPoint now) {
  auto authority = net::MakeAuthority("kube-scheduler-ca", now);
  if (!authority) return authority;
  net::CertificateWish wish;
  wish.subject.common_name = "localhost";
  wish.names = {"localhost", "127.0.0.1"};
  if (bind_address != "127.0.0.1" && !bind_address.empty()) wish.names.push_back(bind_address);
  auto pair = net::IssueCertificate(*authority, wish, now);
  if (pair) pair->certificate_pem += authority->certificate_pem;
  return pair;
}

base::Result<std::shared_ptr<const net::TlsContext>> TlsOf(const net::KeyPair& pair,
                                                           const std::string& client_authorities,
                                                           const TlsWishes& wishes) {
  net::TlsServerConfig config;
  config.certificate.text = pair.certificate_pem;
  config.key.text = pair.key_pem;
  config.client_authority.text = client_authorities;
  auto context = net::TlsContext::ForServer(config);
  if (context) ApplyTlsWishes(wishes, **context);
  return context;
}

// What is wrong with a pair, as Go says it; nothing if it can be used.
base::Result<void> CheckPair(const net::KeyPair& pair) {
  const auto has_pem = [](const std::string& text) { return text.find("-----BEGIN ") != std::string::npos; };
  if (!has_pem(pair.certificate_pem)) {
    return base::Fail("tls: failed to find any PEM data in certificate input");
  }
  if (!has_pem(pair.key_pem)) return base::Fail("tls: failed to find any PEM data in key input");
  const auto tls = TlsOf(pair, "", {});
  if (tls) return {};
  if (tls.error().message.find("mismatch") == std::string::npos) return std::unexpected(tls.error());
  return base::Fail("tls: private key does not match public key");
}

base::Result<net::KeyPair> ReadPair(const std::string& cert_file, const std::string& key_file) {
  auto certificate = base::ReadFile(cert_file);
  if (!certificate) return std::unexpected(std::move(certificate.error()));
  auto key = base::ReadFile(key_file);
  if (!key) return std::unexpected(std::move(key.error()));
  return net::KeyPair{*std::move(certificate), *std::move(key)};
}

}  // namespace

base::Result<ServingCertificate> ServingCertificate::Load(const CertificateOptions& options,
                                                          base::WallPoint now) {
  if (auto checked = CheckTlsWishes(options.tls); !checked) return std::unexpected(checked.error());
  if (options.cert_file.empty() != options.key_file.empty()) {
    return base::Fail("missing filename for serving cert");
  }
  ServingCertificate certificate;
  certificate.tls_ = options.tls;
  certificate.cert_file_ = options.cert_file;
  certificate.key_file_ = options.key_file;
  if (options.cert_file.empty() && !options.cert_dir.empty()) {
    certificate.cert_file_ = (fs::path(options.cert_dir) / "kube-scheduler.crt").string();
    certificate.key_file_ = (fs::path(options.cert_dir) / "kube-scheduler.key").string();
    if (!fs::exists(certificate.cert_file_) || !fs::exists(certificate.key_file_)) {
      std::error_code error;
      fs::create_directories(options.cert_dir, error);
      if (error) {
        return base::Fail(fmt::format("error creating self-signed certificates: mkdir {}: {}",
                                      options.cert_dir, base::ErrnoText(error.value())));
      }
      const auto made = MakePair(options.bind_address, now);
      if (!made) return std::unexpected(made.error());
      if (auto done = WritePrivate(certificate.key_file_, made->key_pem); !done)
        return std::unexpected(done.error());
      if (auto done = WritePrivate(certificate.cert_file_, made->certificate_pem); !done) {
        return std::unexpected(done.error());
      }
    }
  }
  auto pair = certificate.cert_file_.empty() ? MakePair(options.bind_address, now)
                                             : ReadPair(certificate.cert_file_, certificate.key_file_);
  if (!pair) return std::unexpected(std::move(pair.error()));
  if (auto checked = CheckPair(*pair); !checked) return std::unexpected(checked.error());
  certificate.pair_ = *std::move(pair);
  return certificate;
}

base::Result<std::shared_ptr<const net::TlsContext>> ServingCertificate::MakeTls(
    const std::string& client_authorities) const {
  return TlsOf(pair_, client_authorities, tls_);
}

bool ServingCertificate::Reload() {
  if (cert_file_.empty()) return false;
  auto pair = ReadPair(cert_file_, key_file_);
  if (!pair) return false;
  const bool same = pair->certificate_pem == pair_.certificate_pem && pair->key_pem == pair_.key_pem;
  if (same || !CheckPair(*pair)) return false;
  pair_ = *std::move(pair);
  return true;
}

}  // namespace berth::server
