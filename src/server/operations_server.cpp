#include "server/operations_server.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fmt/format.h>
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
// As long as a profile may take; the response waits meanwhile.
constexpr std::int64_t kProfileSecondsMax = 300;
constexpr std::int64_t kProfileSecondsDefault = 30;
constexpr std::string_view kProfilePath = "/debug/pprof/profile";
constexpr std::string_view kExposition = "text/plain; version=0.0.4; charset=utf-8";

std::string ReadOrEmpty(const std::string& path) { return base::ReadFile(path).value_or(std::string()); }

std::string HeaderOrEmpty(const net::Request& request, std::string_view name) {
  const std::string* const value = request.headers.Find(name);
  return value == nullptr ? std::string() : *value;
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
  if (!options_.client_ca_file.empty()) {
    auto authorities = base::ReadFile(options_.client_ca_file);
    if (!authorities) {
      return base::Fail("unable to load client CA provider: " + authorities.error().message);
    }
    if (authorities->find("-----BEGIN CERTIFICATE") == std::string::npos) {
      return base::Fail(fmt::format(
          "unable to load client CA provider: error loading CA bundle for {}: data does not contain "
          "any valid RSA or ECDSA certificates",
          base::QuoteGo("client-ca-bundle::" + options_.client_ca_file)));
    }
    client_authorities_ = *std::move(authorities);
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
  Answer answer;
  if (refusal) {
    answer = *std::move(refusal);
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
  if (path == "/debug/flags/v" && options_.profiling) return Verbosity(request);
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
