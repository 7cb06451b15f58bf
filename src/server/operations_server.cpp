#include "server/operations_server.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <limits>
#include <span>
#include <utility>

#include "base/files.h"
#include "base/go_text.h"
#include "base/log.h"
#include "net/url.h"
#include "server/cpu_profile.h"

namespace berth::server {
namespace {

constexpr base::Duration kFileCheck = std::chrono::minutes(1);
constexpr base::Duration kDrainGrace = std::chrono::seconds(5);
// How often the cluster is asked whose certificates it believes, and how soon again if it does not answer.
constexpr base::Duration kTrustCheck = std::chrono::minutes(1);
constexpr base::Duration kTrustRetry = std::chrono::seconds(1);
// Scrapers, probes and people are a few dozen. Strangers get the rest, and no more memory than this allows:
// a header and a body of them all stay below 64 MiB.
constexpr std::size_t kConnectionsMax = 512;
constexpr net::ParserLimits kRequestLimits{.header_bytes_max = 64 * 1024, .body_bytes_max = 64 * 1024};
// As long as a profile may take; the response waits meanwhile.
constexpr std::int64_t kProfileSecondsMax = 300;
constexpr std::int64_t kProfileSecondsDefault = 30;
constexpr std::string_view kProfilePath = "/debug/pprof/profile";
constexpr std::string_view kExposition = "text/plain; version=0.0.4; charset=utf-8; escaping=underscores";

std::string ReadOrEmpty(const std::string& path) { return base::ReadFile(path).value_or(std::string()); }

std::string HeaderOrEmpty(const net::Request& request, std::string_view name) {
  const std::string* const value = request.headers.Find(name);
  return value == nullptr ? std::string() : *value;
}

// What can be changed under this path, as kube-scheduler shows it.
Answer FlagsThatChange() {
  return {
      200,
      "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\nflags:<br>\n"
      "<table>\n<tr>v<br>\n</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n",
      "text/html; charset=utf-8"};
}

Answer NotFound() { return {404, "404 page not found\n"}; }

Answer Metrics(const net::Request& request, std::span<base::MetricRegistry* const> registries) {
  if (request.method == "DELETE") {
    for (base::MetricRegistry* const registry : registries) registry->Reset();
    return {200, "metrics reset\n"};
  }
  std::string text;
  for (base::MetricRegistry* const registry : registries) text += registry->Text();
  return {200, std::move(text), std::string(kExposition)};
}

std::int64_t SecondsOf(std::string_view query) {
  const net::QueryPairs pairs = net::ParseQuery(query).value_or(net::QueryPairs());
  const std::string* const text = net::FindQuery(pairs, "seconds");
  std::int64_t seconds = 0;
  if (text != nullptr) std::from_chars(text->data(), text->data() + text->size(), seconds);
  return seconds <= 0 ? kProfileSecondsDefault : std::min(seconds, kProfileSecondsMax);
}

// Built here and not in a coroutine, where g++ 12 destroys the strings of such a list twice.
net::Headers ResponseHeaders(const Answer& answer, net::Headers headers) {
  headers.Set("Cache-Control", "no-cache, private");
  headers.Set("Content-Type", answer.content_type);
  headers.Set("X-Content-Type-Options", "nosniff");
  return headers;
}

}  // namespace

OperationsServer::OperationsServer(net::EventLoop& loop, ServerOptions options, ServerContent content,
                                   ServingCertificate certificate)
    : options_(std::move(options)),
      content_(std::move(content)),
      certificate_(std::move(certificate)),
      executor_(loop),
      timer_(loop),
      access_metrics_(options_.metrics == nullptr ? nullptr
                                                  : std::make_unique<AccessMetrics>(*options_.metrics)),
      access_(options_.access, options_.authentication.get(), options_.authorization.get(), clock_,
              access_metrics_.get()),
      tasks_(std::make_unique<base::TaskSet>(executor_.executor())) {}

OperationsServer::~OperationsServer() = default;

base::Result<std::unique_ptr<OperationsServer>> OperationsServer::Listen(net::EventLoop& loop,
                                                                         ServerOptions options,
                                                                         ServerContent content) {
  auto certificate = ServingCertificate::Load(options.certificate, base::RealClock().WallNow());
  if (!certificate) return std::unexpected(std::move(certificate.error()));
  std::unique_ptr<OperationsServer> server(
      new OperationsServer(loop, std::move(options), std::move(content), *std::move(certificate)));
  if (auto started = server->Start(); !started) return std::unexpected(std::move(started.error()));
  return server;
}

base::Result<void> OperationsServer::Start() {
  if (auto read = ReadAuthorityFiles(); !read) return read;
  auto tls = MakeTls();
  if (!tls) return std::unexpected(std::move(tls.error()));
  net::HttpServerOptions http;
  http.host = options_.host;
  http.port = options_.port;
  http.tls = *std::move(tls);
  http.shares_port = options_.shares_port;
  http.connections_max = kConnectionsMax;
  http.limits = kRequestLimits;
  http.streams_max = options_.streams_max;
  http.requests_bytes_max = kRequestLimits.header_bytes_max + kRequestLimits.body_bytes_max;
  auto server = net::HttpServer::Listen(executor_.loop(), std::move(http),
                                        [this](net::Request request, net::Responder responder) {
                                          tasks_->Spawn(Serve(std::move(request), std::move(responder)));
                                          executor_.Wake();
                                        });
  if (!server) {
    return base::Fail(fmt::format("failed to create listener: failed to listen on {}: {}",
                                  net::JoinHostPort(options_.host, options_.port), server.error().message));
  }
  server_ = *std::move(server);
  if (options_.authentication != nullptr) tasks_->Spawn(options_.authentication->Run());
  if (options_.authorization != nullptr) tasks_->Spawn(options_.authorization->Run());
  CountConnections();
  if (AsksCluster()) {
    if (auto known = WaitForTrust(); !known) return known;
    tasks_->Spawn(FollowTrust());
  }
  executor_.Wake();
  WatchFiles();
  return {};
}

void OperationsServer::CountConnections() {
  if (options_.metrics == nullptr) return;
  base::Gauge& open = options_.metrics->AddGauge(
      {.name = "berth_serving_connections", .help = "Connections to the HTTPS port that are open."});
  base::Counter& dropped = options_.metrics->AddCounter(
      {.name = "berth_serving_connections_dropped_total",
       .help = "Connections to the HTTPS port that were closed because there were too many."});
  options_.metrics->OnCollect([this, &open, &dropped, counted = std::uint64_t{0}]() mutable {
    open.Set(static_cast<double>(server_->connection_count()));
    const std::uint64_t count = server_->dropped_count();
    dropped.Add(static_cast<double>(count - std::exchange(counted, count)));
  });
}

bool OperationsServer::AsksCluster() const {
  const bool knows_all = !options_.client_ca_file.empty() && !options_.proxy_ca_file.empty();
  return !knows_all && options_.looks_up_trust && options_.authentication != nullptr;
}

base::Task<base::Result<void>> OperationsServer::LookUpTrust() {
  auto found = co_await options_.authentication->Trusted();
  if (!found) co_return std::unexpected(std::move(found.error()));
  ClusterTrust trust = *std::move(found);
  // What was given is not overruled.
  if (!options_.client_ca_file.empty()) trust.client_authorities = trust_.client_authorities;
  if (!options_.proxy_ca_file.empty()) {
    trust.proxy_authorities = trust_.proxy_authorities;
    trust.front_proxy = trust_.front_proxy;
  }
  if (trust == trust_) co_return base::Result<void>();
  trust_ = std::move(trust);
  Refresh();
  co_return base::Result<void>();
}

base::Result<void> OperationsServer::WaitForTrust() {
  if (!options_.needs_trust) return {};
  std::optional<base::Result<void>> answer;
  const auto ask = [](OperationsServer& self, std::optional<base::Result<void>>& into) -> base::Task<void> {
    auto found = co_await self.LookUpTrust();
    into = std::move(found);
  };
  tasks_->Spawn(ask(*this, answer));
  executor_.Wake();
  while (!answer && executor_.loop().RunOne()) {
  }
  if (answer && *answer) return {};
  return base::Fail("unable to load configmap based request-header-client-ca-file: " +
                    (answer ? answer->error().message : std::string("interrupted")));
}

base::Task<void> OperationsServer::FollowTrust() {
  base::Duration wait = kTrustRetry;
  for (bool warned = false;;) {
    const auto found = co_await LookUpTrust();
    // Without it nobody is known by a certificate; tokens go on working.
    if (!found && !std::exchange(warned, true)) {
      BERTH_LOG_WARNING("Unable to get configmap/extension-apiserver-authentication in kube-system",
                        {"err", found.error().message});
    }
    if (found) warned = false;
    wait = found ? kTrustCheck : std::min(wait * 2, kTrustCheck);
    co_await executor_.executor().SleepFor(wait);
    if (found) wait = kTrustRetry;
  }
}

base::Result<void> OperationsServer::ReadAuthorityFiles() {
  const auto read = [](const std::string& file, std::string_view what,
                       std::string_view bundle) -> base::Result<std::string> {
    if (file.empty()) return std::string();
    auto text = base::ReadFile(file);
    if (!text) return base::Fail(fmt::format("{}: {}", what, text.error().message));
    if (text->find("-----BEGIN CERTIFICATE") != std::string::npos) return text;
    return base::Fail(fmt::format(
        "{}: error loading CA bundle for {}: data does not contain any valid RSA or ECDSA certificates", what,
        base::QuoteGo(fmt::format("{}::{}", bundle, file))));
  };
  auto clients = read(options_.client_ca_file, "unable to load client CA provider", "client-ca-bundle");
  if (!clients) return std::unexpected(std::move(clients.error()));
  auto proxies =
      read(options_.proxy_ca_file, "unable to create request header authentication config", "request-header");
  if (!proxies) return std::unexpected(std::move(proxies.error()));
  trust_.client_authorities = *std::move(clients);
  trust_.proxy_authorities = *std::move(proxies);
  trust_.front_proxy = options_.front_proxy;
  return {};
}

base::Result<std::shared_ptr<const net::TlsContext>> OperationsServer::MakeTls() {
  Trust trust;
  trust.knows_clients = !trust_.client_authorities.empty();
  if (!trust_.proxy_authorities.empty()) trust.front_proxy = trust_.front_proxy;
  std::vector<std::string> authorities(2);
  authorities[kClientAuthorities] = trust_.client_authorities;
  authorities[kProxyAuthorities] = trust_.proxy_authorities;
  auto tls = certificate_.MakeTls(authorities);
  if (tls) access_.Believe(std::move(trust));
  return tls;
}

void OperationsServer::Refresh() {
  auto tls = MakeTls();
  if (!tls) {
    BERTH_LOG_ERROR(tls.error(), "The serving certificate or the client authorities cannot be used");
    return;
  }
  server_->ReplaceTls(*std::move(tls));
}

void OperationsServer::WatchFiles() {
  timer_.StartAfter(kFileCheck, [this] {
    bool changed = certificate_.Reload();
    const auto look = [&changed](const std::string& file, std::string& authorities) {
      std::string text = file.empty() ? std::string() : ReadOrEmpty(file);
      if (text.empty() || text == authorities) return;
      authorities = std::move(text);
      changed = true;
    };
    look(options_.client_ca_file, trust_.client_authorities);
    look(options_.proxy_ca_file, trust_.proxy_authorities);
    if (changed) Refresh();
    WatchFiles();
  });
}

void OperationsServer::Drain(net::Callback drained) { server_->Drain(kDrainGrace, std::move(drained)); }

base::Task<void> OperationsServer::Serve(net::Request request, net::Responder responder) {
  AccessVerdict verdict = co_await access_.Check(request);
  if (verdict.is_stranger && request.is_http2 && options_.sends_strangers_away) responder.EndConnection();
  net::Headers headers;
  Answer answer;
  if (verdict.refusal) {
    answer = *std::move(verdict.refusal);
  } else if (options_.profiling && request.path() == kProfilePath) {
    answer = co_await Profile(std::string(request.query()));
  } else {
    answer = Respond(request, headers);
  }
  responder.Send(answer.status, ResponseHeaders(answer, std::move(headers)), net::MakeBody(answer.body));
}

Answer OperationsServer::Respond(const net::Request& request, net::Headers& headers) {
  const std::string_view path = request.path();
  if (auto health = content_.health.Handle(path, request.query())) return *std::move(health);
  if (path == "/metrics") return Metrics(request, content_.metrics());
  if (path == "/metrics/slis") return Metrics(request, std::vector{&content_.health.metrics()});
  if (path == "/metrics/resources") {
    // There is nothing to reset: these are what they are.
    if (request.method == "DELETE") return {200, "metrics reset\n"};
    return {200, content_.resources(), std::string(kExposition)};
  }
  if (path == "/configz") return {200, content_.configz(), "application/json"};
  if (path == "/flagz" || path == "/statusz") {
    const std::string accept = HeaderOrEmpty(request, "Accept");
    const std::string_view page = path.substr(1);
    if (std::string warning = DeprecationWarning(accept, page); !warning.empty()) {
      headers.Set("Warning", std::move(warning));
    }
    if (page == "flagz") return FlagzPage(accept, content_.status.component, content_.flags);
    StatusFacts facts = content_.status;
    facts.now = clock_.WallNow();
    return StatuszPage(accept, facts);
  }
  if (options_.profiling && path == "/debug/flags/v") return Verbosity(request);
  if (options_.profiling && (path == "/debug/flags" || path == "/debug/flags/")) return FlagsThatChange();
  if (path.starts_with("/debug/pprof") && options_.profiling) return Pprof(request);
  return NotFound();
}

base::Task<Answer> OperationsServer::Profile(std::string query) {
  auto profile = CpuProfile::Start();
  if (!profile) co_return Answer{500, profile.error().message + "\n"};
  co_await executor_.executor().SleepFor(std::chrono::seconds(SecondsOf(query)));
  co_return Answer{200, (*profile)->Finish(), "application/octet-stream"};
}

Answer OperationsServer::Pprof(const net::Request& request) const {
  const std::string_view path = request.path();
  if (path == "/debug/pprof/cmdline") return {200, CommandLine()};
  if (path == "/debug/pprof/symbol") {
    return {200, SymbolAnswer(request.method == "POST" ? request.body : std::string(request.query()))};
  }
  if (path != "/debug/pprof" && path != "/debug/pprof/") return NotFound();
  return {200,
          "profile  where the processor time goes: ?seconds=N, for `go tool pprof BINARY URL`\n"
          "cmdline  the command line\n"
          "symbol   names of addresses\n"};
}

Answer OperationsServer::Verbosity(const net::Request& request) {
  const std::string type = "text/plain";
  if (request.method != "PUT") return {406, "unsupported http method\n", type};
  std::uint32_t verbosity = 0;
  const char* const end = request.body.data() + request.body.size();
  const auto read = std::from_chars(request.body.data(), end, verbosity);
  const bool is_too_large = read.ec == std::errc::result_out_of_range ||
                            verbosity > static_cast<std::uint32_t>(std::numeric_limits<int>::max());
  if (read.ptr != end || read.ec == std::errc::invalid_argument || is_too_large) {
    return {400,
            fmt::format("strconv.ParseUint: parsing {}: {}\n", base::QuoteGo(request.body),
                        is_too_large && read.ptr == end ? "value out of range" : "invalid syntax"),
            type};
  }
  base::SetLogVerbosity(static_cast<int>(verbosity));
  return {200, fmt::format("successfully set klog.logging.verbosity to {}\n", verbosity), type};
}

}  // namespace berth::server
