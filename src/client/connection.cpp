#include "client/connection.h"

#include <charconv>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

#include "base/log.h"

namespace berth::client {
namespace {

constexpr auto kReloadPeriod = std::chrono::minutes(5);
// Over HTTP/1.1 each watch holds one for as long as it lasts; the rest is for writes, which wait for their
// turn.
constexpr std::size_t kConnectionsMax = 128;

base::Result<std::string> Load(const net::PemSource& source, const Surroundings& surroundings) {
  return source.file.empty() ? base::Result<std::string>(source.text) : surroundings.read_file(source.file);
}

// What the environment says, if it is a number of seconds.
base::Duration SecondsFrom(const std::string& name, const Surroundings& surroundings,
                           base::Duration otherwise) {
  const std::string text = surroundings.environment(name).value_or("");
  std::uint32_t seconds = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool is_number = error == std::errc() && rest == text.data() + text.size();
  if (!is_number && !text.empty()) {
    BERTH_LOG_WARNING("Not a number of seconds", {"variable", name}, {"value", text});
  }
  return is_number ? std::chrono::seconds(seconds) : otherwise;
}

}  // namespace

Connection::Connection(LoopExecutor& executor, ConnectionConfig config, Surroundings surroundings)
    : executor_(executor),
      config_(std::move(config)),
      surroundings_(std::move(surroundings)),
      processes_(executor) {}

base::Result<std::unique_ptr<Connection>> Connection::Make(LoopExecutor& executor, ConnectionConfig config,
                                                           Surroundings surroundings) {
  std::unique_ptr<Connection> made(new Connection(executor, std::move(config), std::move(surroundings)));
  net::HttpClientOptions options;
  options.base = made->config_.server;
  options.proxy = made->config_.proxy;
  options.connections_max = kConnectionsMax;
  options.wanted_headers = {"content-type", "retry-after", "warning"};
  options.ping_after =
      SecondsFrom("HTTP2_READ_IDLE_TIMEOUT_SECONDS", made->surroundings_, options.ping_after);
  options.ping_timeout = SecondsFrom("HTTP2_PING_TIMEOUT_SECONDS", made->surroundings_, options.ping_timeout);
  if (options.base.is_https()) {
    auto pems = made->ReadPems();
    if (!pems) return std::unexpected(std::move(pems.error()));
    auto tls = made->MakeTls(*pems);
    if (!tls) return std::unexpected(std::move(tls.error()));
    made->pems_ = std::move(*pems);
    options.tls = std::move(*tls);
  }
  made->transport_ = std::make_unique<HttpTransport>(executor, std::move(options));
  made->credentials_ = std::make_unique<UserCredentials>(
      executor.executor(), made->config_, made->surroundings_, &made->processes_,
      [connection = made.get()](const net::KeyPair& pair) { connection->OnExecCertificate(pair); });
  return made;
}

base::Result<Connection::Pems> Connection::ReadPems() const {
  Pems pems;
  const std::pair<const net::PemSource*, std::string*> wanted[] = {
      {&config_.tls.authority, &pems.authority},
      {&config_.tls.certificate, &pems.certificate},
      {&config_.tls.key, &pems.key}};
  for (const auto& [source, text] : wanted) {
    auto loaded = Load(*source, surroundings_);
    if (!loaded) return std::unexpected(std::move(loaded.error()));
    *text = std::move(*loaded);
  }
  return pems;
}

base::Result<std::shared_ptr<const net::TlsContext>> Connection::MakeTls(const Pems& pems) const {
  net::TlsClientConfig tls = config_.tls;
  tls.authority = {.text = pems.authority};
  tls.certificate = {.text = pems.certificate};
  tls.key = {.text = pems.key};
  tls.offer_http2 = surroundings_.environment("DISABLE_HTTP2").value_or("").empty();
  return net::TlsContext::ForClient(tls);
}

void Connection::Reload() {
  if (!config_.server.is_https()) return;
  auto pems = ReadPems();
  if (!pems) {
    BERTH_LOG_ERROR(pems.error(), "Could not read the client's certificates again");
    return;
  }
  // What an exec command handed out is in no file.
  if (config_.exec) {
    pems->certificate = pems_.certificate;
    pems->key = pems_.key;
  }
  if (*pems == pems_) return;
  auto tls = MakeTls(*pems);
  if (!tls) {
    BERTH_LOG_ERROR(tls.error(), "The client's new certificates cannot be used");
    return;
  }
  const bool is_other_client = pems->certificate != pems_.certificate || pems->key != pems_.key;
  pems_ = std::move(*pems);
  transport_->http().ReplaceTls(std::move(*tls), is_other_client);
}

void Connection::OnExecCertificate(const net::KeyPair& pair) {
  Pems pems = pems_;
  pems.certificate = pair.certificate_pem;
  pems.key = pair.key_pem;
  auto tls = MakeTls(pems);
  if (!tls) {
    BERTH_LOG_ERROR(tls.error(), "failed parsing client key/certificate");
    return;
  }
  pems_ = std::move(pems);
  transport_->http().ReplaceTls(std::move(*tls), true);
}

base::Task<void> Connection::Run() {
  while (true) {
    co_await executor_.executor().SleepFor(kReloadPeriod);
    Reload();
  }
}

}  // namespace berth::client
