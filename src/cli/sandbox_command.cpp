#include "cli/sandbox_command.h"

#include <absl/strings/escaping.h>
#include <array>
#include <boost/json.hpp>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <iostream>
#include <random>
#include <unistd.h>

#include "cli/embedded_scheduler.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/files.h"
#include "net/certificates.h"
#include "net/event_loop.h"
#include "net/tls.h"
#include "net/url.h"
#include "sandbox/audit_log.h"
#include "sandbox/control_plane.h"
#include "sandbox/controllers/controllers.h"
#include "sandbox/controllers/event_expiry.h"
#include "sandbox/document.h"
#include "sandbox/fake_kubelet.h"
#include "sandbox/fault_injector.h"
#include "sandbox/file_journal.h"
#include "sandbox/http_front.h"
#include "sandbox/users.h"

namespace berth::cli {
namespace {

struct Address {
  std::string host;
  std::uint16_t port = 0;
};

base::Result<Address> ParseAddress(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return base::Fail("--listen wants HOST:PORT, not \"" + text + "\"");
  Address address{text.substr(0, colon)};
  if (address.host.starts_with('[') && address.host.ends_with(']')) {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  const std::string_view port = std::string_view(text).substr(colon + 1);
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), address.port);
  if (port.empty() || error != std::errc() || end != port.data() + port.size()) {
    return base::Fail("--listen wants HOST:PORT, not \"" + text + "\"");
  }
  return address;
}

sandbox::Controllers::Options ControllerOptions(const SandboxOptions& options) {
  return {.disabled = {options.disabled_controllers.begin(), options.disabled_controllers.end()}};
}

base::Result<void> CheckFlags(const SandboxOptions& options) {
  if (options.nodes < 0) return base::Fail("--nodes wants a number of nodes");
  return sandbox::Controllers::Check(ControllerOptions(options));
}

// Tells what happens in the cluster, a line for each new event.
class Narrator final : public sandbox::ChangeReceiver {
 public:
  Narrator(sandbox::ControlPlane& plane, std::ostream& out)
      : plane_(plane),
        out_(out),
        subscription_(
            plane.store().Subscribe(sandbox::Selection(sandbox::ResourceOf("v1", "Event")), *this)) {}
  ~Narrator() override { plane_.store().Unsubscribe(subscription_); }
  Narrator(const Narrator&) = delete;
  Narrator& operator=(const Narrator&) = delete;

  void OnChange(const sandbox::Change& change, sandbox::ChangeFrames&) override {
    if (change.type != wire::WatchType::kAdded) return;
    const boost::json::object event = change.object->Document();
    out_ << fmt::format("{:<20} {:<40} {}\n", sandbox::TextAt(event, {"reason"}),
                        fmt::format("{} {}", sandbox::TextAt(event, {"involvedObject", "kind"}),
                                    sandbox::TextAt(event, {"involvedObject", "name"})),
                        sandbox::TextAt(event, {"message"}))
         << std::flush;
  }

 private:
  sandbox::ControlPlane& plane_;
  std::ostream& out_;
  sandbox::SubscriptionId subscription_;
};

// Nothing may be answered any more that could not be kept.
void EndForLackOfDisk(const std::string& why) {
  std::cerr << "berth sandbox: the data directory cannot be written: " << why << std::endl;
  std::_Exit(74);
}

base::Result<sandbox::Users> ReadUsers(const SandboxOptions& options, const std::string& admin_token) {
  sandbox::Users users;
  if (!options.token_auth_file.empty()) {
    const base::Result<std::string> text = base::ReadFile(options.token_auth_file);
    if (!text) return std::unexpected(text.error());
    const base::Result<void> added = users.AddFile(*text);
    if (!added) return base::Fail(options.token_auth_file + ": " + added.error().message);
  }
  users.Add(admin_token, sandbox::Administrator());
  return users;
}

// Owner only: the bodies of writes are in it.
base::Result<std::unique_ptr<sandbox::AuditLog>> OpenAuditLog(const std::string& path,
                                                              const base::Clock& clock) {
  if (path.empty()) return nullptr;
  std::ofstream file(path, std::ios::app);
  if (!file) return base::Fail(path + ": " + std::strerror(errno));
  std::error_code ignored;  // a pipe or a terminal has no owner to speak of
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write,
                               ignored);
  auto write = [file = std::move(file)](std::string_view line) mutable {
    if (file << line << std::flush) return;
    std::cerr << "berth sandbox: the audit log cannot be written" << std::endl;
    std::_Exit(74);
  };
  return std::make_unique<sandbox::AuditLog>(clock, std::random_device()(), std::move(write));
}

std::string RandomToken() {
  std::random_device source;
  std::string token;
  for (int i = 0; i < 8; ++i) token += fmt::format("{:08x}", source());
  return token;
}

std::string Base64(const std::string& text) { return absl::Base64Escape(text); }

std::string Kubeconfig(const std::string& server, const std::string& authority_pem,
                       const std::string& token) {
  return fmt::format(
      "apiVersion: v1\n"
      "kind: Config\n"
      "current-context: sandbox\n"
      "clusters:\n"
      "- name: sandbox\n"
      "  cluster:\n"
      "    server: {}\n"
      "    certificate-authority-data: {}\n"
      "users:\n"
      "- name: sandbox\n"
      "  user:\n"
      "    token: {}\n"
      "contexts:\n"
      "- name: sandbox\n"
      "  context:\n"
      "    cluster: sandbox\n"
      "    user: sandbox\n"
      "    namespace: default\n",
      server, Base64(authority_pem), token);
}

// Readable by its owner alone from the first byte on, and complete or not there at all.
base::Result<void> WriteSecret(const std::string& path, const std::string& text) {
  const std::string draft = path + ".tmp";
  ::unlink(draft.c_str());
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return base::Fail(draft + ": " + std::strerror(errno));
  const bool written = ::write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int write_error = errno;
  ::close(file);
  if (!written) return base::Fail(draft + ": " + std::strerror(write_error));
  if (::rename(draft.c_str(), path.c_str()) != 0) return base::Fail(path + ": " + std::strerror(errno));
  return {};
}

struct Credentials {
  net::KeyPair authority;
  std::shared_ptr<const net::TlsContext> tls;
  std::string token;
};

base::Result<Credentials> MakeCredentials(const std::string& host, base::WallPoint now) {
  Credentials credentials;
  base::Result<net::KeyPair> authority = net::MakeAuthority("berth-sandbox-ca", now);
  if (!authority) return base::Fail(authority.error().message);
  credentials.authority = std::move(*authority);
  net::CertificateWish wish{.subject = {.common_name = "berth-sandbox"}};
  wish.names = {"localhost",  "127.0.0.1",          "::1",
                "kubernetes", "kubernetes.default", "kubernetes.default.svc"};
  if (!host.empty() && host != "localhost" && host != "127.0.0.1" && host != "::1")
    wish.names.push_back(host);
  const base::Result<net::KeyPair> server = net::IssueCertificate(credentials.authority, wish, now);
  if (!server) return base::Fail(server.error().message);
  base::Result<std::shared_ptr<const net::TlsContext>> tls =
      net::TlsContext::ForServer({.certificate = {.text = server->certificate_pem},
                                  .key = {.text = server->key_pem},
                                  .offer_http2 = true});
  if (!tls) return base::Fail(tls.error().message);
  credentials.tls = std::move(*tls);
  credentials.token = RandomToken();
  return credentials;
}

base::Result<void> LoadManifests(sandbox::ControlPlane& plane, const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    const base::Result<std::string> text = base::ReadFile(file);
    if (!text) return std::unexpected(text.error());
    const base::Result<std::size_t> loaded = plane.Load(*text);
    if (!loaded) return base::Fail(file + ": " + loaded.error().message);
  }
  return {};
}

base::Result<void> Serve(const SandboxOptions& options, std::ostream& out) {
  base::Result<void> good = CheckFlags(options);
  if (!good) return good;
  const base::Result<Address> address = ParseAddress(options.listen);
  if (!address) return base::Fail(address.error().message);
  const base::RealClock clock;
  const base::Result<Credentials> credentials = MakeCredentials(address->host, clock.WallNow());
  if (!credentials) return base::Fail(credentials.error().message);

  base::Result<sandbox::Users> users = ReadUsers(options, credentials->token);
  if (!users) return base::Fail(users.error().message);
  // Before whoever answers: it is told of the end of every watch.
  const base::Result<std::unique_ptr<sandbox::AuditLog>> audit = OpenAuditLog(options.audit_log, clock);
  if (!audit) return base::Fail(audit.error().message);

  std::random_device entropy;
  sandbox::ControlPlane plane(clock, {.api = {.users = std::move(*users), .seed = entropy()},
                                      .seed = std::uint64_t{entropy()} << 32 | entropy()});
  // Before anything acts on the store: what was kept is there when they look.
  std::optional<sandbox::FileJournal::Opened> kept;
  if (!options.data_dir.empty()) {
    base::Result<sandbox::FileJournal::Opened> opened =
        sandbox::FileJournal::Open(options.data_dir, plane.store(), clock, {.on_failure = EndForLackOfDisk});
    if (!opened) return base::Fail(opened.error().message);
    kept = std::move(*opened);
    if (!kept->message.empty()) out << kept->message << std::endl;
  }
  const bool is_new = !kept || kept->is_new;
  std::optional<sandbox::FakeKubelet> kubelet;
  if (!options.no_kubelet) kubelet.emplace(plane);
  std::optional<sandbox::Controllers> controllers;
  if (!options.no_controllers) controllers.emplace(plane, ControllerOptions(options));
  const sandbox::EventExpiry event_expiry(plane);
  if (is_new) good = sandbox::AddNodes(plane.writer(), options.nodes);
  if (is_new && good) good = LoadManifests(plane, options.manifests);
  if (!good) return good;

  const base::Result<sandbox::FaultPlan> plan = sandbox::ParseFaults(options.faults);
  if (!plan) return base::Fail(plan.error().message);
  std::optional<sandbox::FaultInjector> faults;
  if (!plan->empty()) faults.emplace(plane, *plan);
  net::EventLoop loop;
  const base::Result<std::unique_ptr<sandbox::HttpFront>> front =
      sandbox::HttpFront::Listen(loop, plane,
                                 {.host = address->host,
                                  .port = address->port,
                                  .tls = credentials->tls,
                                  .insecure_port = options.insecure_port,
                                  .faults = faults ? &*faults : nullptr,
                                  .audit = audit->get()});
  if (!front) return base::Fail(front.error().message);
  const std::string reached =
      address->host.empty() || address->host == "0.0.0.0" ? "127.0.0.1" : address->host;
  const std::string server = "https://" + net::JoinHostPort(reached, (*front)->port());
  const std::string kubeconfig =
      Kubeconfig(server, credentials->authority.certificate_pem, credentials->token);
  good = WriteSecret(options.kubeconfig_out, kubeconfig);
  if (!good) return good;
  base::Result<std::unique_ptr<EmbeddedScheduler>> scheduler = nullptr;
  if (!options.no_scheduler) scheduler = EmbeddedScheduler::Start(kubeconfig, entropy());
  if (!scheduler) return base::Fail(scheduler.error().message);
  constexpr std::array kSignals = {SIGTERM, SIGINT};
  loop.OnSignals(kSignals, [&loop](int) { loop.Stop(); });
  out << "ready " << std::filesystem::absolute(options.kubeconfig_out).string() << std::endl;
  std::optional<Narrator> narrator;
  if (options.narrate) narrator.emplace(plane, out);
  loop.Run();
  if (options.narrate) out << "stopped" << std::endl;
  return {};
}

}  // namespace

int RunSandbox(const SandboxOptions& options, std::ostream& out, std::ostream& errors) {
  const base::Result<void> served = Serve(options, out);
  if (served) return 0;
  errors << "berth sandbox: " << served.error().message << '\n';
  return 1;
}

}  // namespace berth::cli
