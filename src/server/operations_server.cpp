#include "server/operations_server.h"

#include <charconv>
#include <chrono>
#include <fmt/format.h>
#include <utility>

#include "base/files.h"
#include "base/go_text.h"
#include "base/log.h"
#include "net/url.h"

namespace berth::server {
namespace {

constexpr base::Duration kFileCheck = std::chrono::minutes(1);
constexpr base::Duration kDrainGrace = std::chrono::seconds(5);
constexpr std::string_view kExposition = "text/plain; version=0.0.4; charset=utf-8";

std::string ReadOrEmpty(const std::string& path) { return base::ReadFile(path).value_or(std::string()); }

std::string HeaderOrEmpty(const net::Request& request, std::string_view name) {
  const std::string* const value = request.headers.Find(name);
  return value == nullptr ? std::string() : *value;
}

Answer NotFound() { return {404, "404 page not found\n"}; }

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
      access_(options_.access, options_.authentication.get(), options_.authorization.get(), clock_),
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
  if (!options_.client_ca_file.empty()) {
    client_authorities_ = ReadOrEmpty(options_.client_ca_file);
    if (client_authorities_.empty()) {
      return base::Fail(fmt::format("unable to load client CA provider: {} holds no certificates",
                                    options_.client_ca_file));
    }
  }
  auto tls = certificate_.MakeTls(client_authorities_);
  if (!tls) return std::unexpected(std::move(tls.error()));
  net::HttpServerOptions http;
  http.host = options_.host;
  http.port = options_.port;
  http.tls = *std::move(tls);
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
  if (options_.client_ca_file.empty() && options_.look_up_client_ca && options_.authentication != nullptr) {
    tasks_->Spawn(LookUpClientAuthorities());
  }
  executor_.Wake();
  WatchFiles();
  return {};
}

base::Task<void> OperationsServer::LookUpClientAuthorities() {
  const auto authorities = co_await options_.authentication->ClientAuthorities();
  if (!authorities) {
    // Without them nobody is known by a certificate; tokens go on working.
    BERTH_LOG_WARNING("Unable to get configmap/extension-apiserver-authentication in kube-system",
                      {"err", authorities.error().message});
    co_return;
  }
  client_authorities_ = *authorities;
  Refresh();
}

void OperationsServer::Refresh() {
  auto tls = certificate_.MakeTls(client_authorities_);
  if (!tls) {
    BERTH_LOG_ERROR(tls.error(), "The serving certificate or the client authorities cannot be used");
    return;
  }
  server_->ReplaceTls(*std::move(tls));
}

void OperationsServer::WatchFiles() {
  timer_.StartAfter(kFileCheck, [this] {
    bool changed = certificate_.Reload();
    if (!options_.client_ca_file.empty()) {
      std::string authorities = ReadOrEmpty(options_.client_ca_file);
      if (!authorities.empty() && authorities != client_authorities_) {
        client_authorities_ = std::move(authorities);
        changed = true;
      }
    }
    if (changed) Refresh();
    WatchFiles();
  });
}

void OperationsServer::Drain(net::Callback drained) { server_->Drain(kDrainGrace, std::move(drained)); }

base::Task<void> OperationsServer::Serve(net::Request request, net::Responder responder) {
  std::optional<Answer> refusal = co_await access_.Check(request);
  net::Headers headers;
  const Answer answer = refusal ? *std::move(refusal) : Respond(request, headers);
  responder.Send(answer.status, ResponseHeaders(answer, std::move(headers)), net::MakeBody(answer.body));
}

Answer OperationsServer::Respond(const net::Request& request, net::Headers& headers) {
  const std::string_view path = request.path();
  if (auto health = content_.health.Handle(path, request.query())) return *std::move(health);
  if (path == "/metrics") return Metrics(request, content_.metrics);
  if (path == "/metrics/slis") return Metrics(request, content_.health.metrics());
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
  if (path == "/debug/flags/v" && options_.profiling) return Verbosity(request);
  return NotFound();
}

Answer OperationsServer::Metrics(const net::Request& request, base::MetricRegistry& registry) {
  if (request.method == "DELETE") {
    registry.Reset();
    return {200, "metrics reset\n"};
  }
  return {200, registry.Text(), std::string(kExposition)};
}

Answer OperationsServer::Verbosity(const net::Request& request) {
  if (request.method != "PUT") return {406, "unsupported http method\n"};
  int verbosity = 0;
  const char* const end = request.body.data() + request.body.size();
  const auto read = std::from_chars(request.body.data(), end, verbosity);
  if (read.ec != std::errc() || read.ptr != end) {
    return {400,
            fmt::format("error setting klog.logging.verbosity to {}: strconv.ParseInt: parsing {}: invalid "
                        "syntax\n",
                        request.body, base::QuoteGo(request.body))};
  }
  base::SetLogVerbosity(verbosity);
  return {200, fmt::format("successfully set klog.logging.verbosity to {}", verbosity)};
}

}  // namespace berth::server
