#include "server/serving_certificate.h"

#include <algorithm>
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
#include "net/http_message.h"

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

net::TlsServerConfig ServerConfig(const net::KeyPair& pair) {
  net::TlsServerConfig config;
  config.certificate.text = pair.certificate_pem;
  config.key.text = pair.key_pem;
  return config;
}

// What is wrong with a pair, as Go says it; nothing if it can be used.
base::Result<void> CheckPair(const net::KeyPair& pair) {
  const auto has_pem = [](const std::string& text) { return text.find("-----BEGIN ") != std::string::npos; };
  if (!has_pem(pair.certificate_pem)) {
    return base::Fail("tls: failed to find any PEM data in certificate input");
  }
  if (!has_pem(pair.key_pem)) return base::Fail("tls: failed to find any PEM data in key input");
  const auto tls = net::TlsContext::ForServer(ServerConfig(pair));
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

bool ReloadPair(const std::string& cert_file, const std::string& key_file, net::KeyPair& pair) {
  auto read = ReadPair(cert_file, key_file);
  if (!read) return false;
  const bool same = read->certificate_pem == pair.certificate_pem && read->key_pem == pair.key_pem;
  if (same || !CheckPair(*read)) return false;
  pair = *std::move(read);
  return true;
}

std::string Trimmed(std::string_view text) { return std::string(net::TrimBlanks(text)); }

}  // namespace

NamedPairFiles ReadNamedPair(std::string_view text) {
  NamedPairFiles files;
  const std::size_t colon = text.find(':');
  const std::string_view pair = text.substr(0, colon);
  const std::size_t comma = pair.find(',');
  files.cert_file = Trimmed(pair.substr(0, comma));
  if (comma != std::string_view::npos) files.key_file = Trimmed(pair.substr(comma + 1));
  if (colon == std::string_view::npos) return files;
  for (std::string_view names = text.substr(colon + 1);;) {
    const std::size_t end = names.find(',');
    files.names.push_back(Trimmed(names.substr(0, end)));
    if (end == std::string_view::npos) return files;
    names.remove_prefix(end + 1);
  }
}

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
  certificate.named_files_ = options.named;
  for (const NamedPairFiles& files : options.named) {
    auto named = ReadPair(files.cert_file, files.key_file);
    auto checked = named ? CheckPair(*named) : base::Result<void>();
    if (!named || !checked) {
      const base::Error& error = named ? checked.error() : named.error();
      return base::Fail("failed to load SNI cert and key: " + error.message);
    }
    certificate.named_.push_back({*std::move(named), files.names});
  }
  return certificate;
}

base::Result<std::shared_ptr<const net::TlsContext>> ServingCertificate::MakeTls(
    const std::vector<std::string>& client_authorities) const {
  net::TlsServerConfig config = ServerConfig(pair_);
  config.named = named_;
  config.offer_http2 = MayOfferHttp2(tls_);
  if (std::ranges::any_of(client_authorities, [](const std::string& text) { return !text.empty(); })) {
    for (const std::string& text : client_authorities) config.client_authorities.push_back({.text = text});
  }
  auto context = net::TlsContext::ForServer(config);
  if (context) ApplyTlsWishes(tls_, **context);
  return context;
}

bool ServingCertificate::Reload() {
  bool changed = !cert_file_.empty() && ReloadPair(cert_file_, key_file_, pair_);
  for (std::size_t i = 0; i < named_.size(); ++i) {
    changed |= ReloadPair(named_files_[i].cert_file, named_files_[i].key_file, named_[i].pair);
  }
  return changed;
}

}  // namespace berth::server
