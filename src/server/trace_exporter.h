#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/error.h"
#include "base/metrics.h"
#include "base/random.h"
#include "net/event_loop.h"
#include "net/http_client.h"
#include "server/otlp.h"

namespace berth::server {

struct TraceExporterOptions {
  std::string endpoint;  // "host:port" or a URL
  OtlpResource resource;
  std::size_t kept_max = 2048;  // traces; with more, new ones are dropped
  std::size_t batch_max = 256;
  base::Duration interval = std::chrono::seconds(5);
  std::uint64_t seed = 0;
};

// Sends traces to a collector, some at a time, one request after the other. Never waits and never keeps more
// than it is allowed to: a collector that is slow or away costs traces, and nothing else.
class TraceExporter {
 public:
  // Fails if the endpoint makes no sense. `loop` and `metrics` outlive it; all of it runs on the loop.
  static base::Result<std::unique_ptr<TraceExporter>> Make(net::EventLoop& loop, TraceExporterOptions options,
                                                           base::MetricRegistry& metrics);

  void Add(std::vector<cycle::AttemptTrace> traces);
  std::size_t kept() const { return kept_.size(); }

 private:
  TraceExporter(net::EventLoop& loop, TraceExporterOptions options, net::HttpClientOptions client,
                base::MetricRegistry& metrics);
  void Schedule();
  void Send();
  void OnAnswer(std::size_t count, const net::NetResult<net::ClientResponse>& answer);

  const TraceExporterOptions options_;
  base::RealClock clock_;
  base::Random random_;
  base::CounterFamily& traces_;
  std::deque<cycle::AttemptTrace> kept_;
  bool is_sending_ = false;
  bool is_scheduled_ = false;
  bool failed_before_ = false;
  net::HttpClient client_;
  net::Timer timer_;
};

}  // namespace berth::server
