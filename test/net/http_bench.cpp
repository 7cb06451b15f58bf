#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "benchmark/benchmark.h"

#include "base/check.h"
#include "net/certificates.h"
#include "net/event_loop.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/tls.h"

// Both ends share one loop and one thread, so times are what a client and a server cost together.
namespace berth::net {
namespace {

struct Ends {
  explicit Ends(bool tls) {
    HttpServerOptions server_options;
    HttpClientOptions client_options;
    if (tls) {
      const base::WallPoint now = base::RealClock().WallNow();
      const KeyPair authority = *MakeAuthority("bench", now);
      const CertificateWish wish{.subject = {.common_name = "server", .organizations = {}},
                                 .names = {"127.0.0.1"}};
      const KeyPair pair = *IssueCertificate(authority, wish, now);
      TlsServerConfig server_config;
      server_config.certificate.text = pair.certificate_pem;
      server_config.key.text = pair.key_pem;
      TlsClientConfig client_config;
      client_config.authority.text = authority.certificate_pem;
      server_options.tls = *TlsContext::ForServer(server_config);
      client_options.tls = *TlsContext::ForClient(client_config);
    }
    auto listening = HttpServer::Listen(loop, server_options, [this](Request request, Responder responder) {
      if (request.path() == "/watch") {
        streams.push_back(responder.StartStream(200, {{"Content-Type", "application/json"}}));
      } else {
        responder.Send(200, {{"Content-Type", "application/json"}}, {answer});
      }
    });
    BERTH_CHECK(listening.has_value());
    server = std::move(*listening);
    client_options.base = {.scheme = tls ? "https" : "http",
                           .host = "127.0.0.1",
                           .port = server->port(),
                           .path = "",
                           .query = ""};
    client = std::make_unique<HttpClient>(loop, client_options);
  }

  void OpenStreams(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ClientRequest request;
      request.target = "/watch";
      client->Stream(std::move(request), {.on_headers = [this](int, const Headers&) { ++headers; },
                                          .on_data = [this](std::string_view data) { bytes += data.size(); },
                                          .on_end = [](std::optional<NetError>) {}});
      // A few at a time, so that the listening queue does not overflow.
      while (i % 64 == 63 && headers <= i) loop.RunOne();
    }
    while (headers < count) loop.RunOne();
  }

  EventLoop loop;
  std::unique_ptr<HttpServer> server;
  std::unique_ptr<HttpClient> client;
  std::vector<ResponseStream> streams;
  Buffer answer = MakeBuffer(std::string(300, 'a'));
  std::size_t headers = 0;
  std::size_t bytes = 0;
};

double CpuMicroseconds() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  const auto in_us = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return in_us(usage.ru_utime) + in_us(usage.ru_stime);
}

// `range(0)`: TLS or not; `range(1)`: calls under way at once.
void SmallRequests(benchmark::State& state) {
  Ends ends(state.range(0) != 0);
  std::int64_t done = 0;
  const double cpu_before = CpuMicroseconds();
  for (auto _ : state) {
    std::int64_t batch = 0;
    for (std::int64_t i = 0; i < state.range(1); ++i) {
      ends.client->Send({}, [&](NetResult<ClientResponse> response) {
        BERTH_CHECK(response.has_value());
        ++batch;
      });
    }
    while (batch < state.range(1)) ends.loop.RunOne();
    done += batch;
  }
  state.SetItemsProcessed(done);
  state.counters["cpu_us_per_request"] = (CpuMicroseconds() - cpu_before) / static_cast<double>(done);
}
BENCHMARK(SmallRequests)->ArgNames({"tls", "together"})->ArgsProduct({{0, 1}, {1, 32}})->UseRealTime();

void EventToAThousandStreams(benchmark::State& state) {
  constexpr std::size_t kStreams = 1000;
  Ends ends(state.range(0) != 0);
  ends.OpenStreams(kStreams);
  const Buffer event = MakeBuffer(std::string(1000, 'e'));
  for (auto _ : state) {
    ends.bytes = 0;
    for (ResponseStream& stream : ends.streams) stream.Write(event);
    while (ends.bytes < kStreams * event->size()) ends.loop.RunOne();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(kStreams));
}
BENCHMARK(EventToAThousandStreams)
    ->ArgName("tls")
    ->Arg(0)
    ->Arg(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

double ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  double total = 0;
  double resident = 0;
  file >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Resident memory per idle stream, both ends together (each is about half); the kernel's socket is not in it.
void IdleStreamMemory(benchmark::State& state) {
  const auto count = static_cast<std::size_t>(state.range(1));
  for (auto _ : state) {
    Ends ends(state.range(0) != 0);
    ends.OpenStreams(64);
    const double before = ResidentBytes();
    ends.headers = 0;
    ends.OpenStreams(count);
    state.counters["bytes_per_stream"] = (ResidentBytes() - before) / static_cast<double>(count);
  }
}
BENCHMARK(IdleStreamMemory)
    ->ArgNames({"tls", "streams"})
    ->Args({0, 8000})
    ->Args({1, 8000})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace berth::net
