#include "client/request_metrics.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>
#include <vector>

namespace berth::client {
namespace {

double SecondsOf(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

std::vector<double> LatencyBuckets() { return {0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60}; }

std::vector<double> SizeBuckets() {
  return {64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};
}

std::string CodeText(int code) { return code == 0 ? "<error>" : std::to_string(code); }

}  // namespace

RequestMetrics::RequestMetrics(base::MetricRegistry& registry, std::string host)
    : host_(std::move(host)),
      answers_(
          registry.AddCounters({.name = "rest_client_requests_total",
                                .help = "Number of requests to the API server, by status, method and host.",
                                .labels = {"code", "method", "host"}})),
      retries_(
          registry.AddCounters({.name = "rest_client_request_retries_total",
                                .help = "Number of requests that were tried again, by status, verb and host.",
                                .labels = {"code", "verb", "host"}})),
      duration_(registry.AddHistograms({.name = "rest_client_request_duration_seconds",
                                        .help = "How long requests took, by verb and host.",
                                        .labels = {"verb", "host"},
                                        .buckets = LatencyBuckets()})),
      turn_(registry.AddHistograms({.name = "rest_client_rate_limiter_duration_seconds",
                                    .help = "How long requests waited for their turn, by verb and host.",
                                    .labels = {"verb", "host"},
                                    .buckets = LatencyBuckets()})),
      sent_(registry.AddHistograms({.name = "rest_client_request_size_bytes",
                                    .help = "How large requests were, by verb and host.",
                                    .labels = {"verb", "host"},
                                    .buckets = SizeBuckets()})),
      received_(registry.AddHistograms({.name = "rest_client_response_size_bytes",
                                        .help = "How large answers were, by verb and host.",
                                        .labels = {"verb", "host"},
                                        .buckets = SizeBuckets()})) {}

RequestMetrics::Series& RequestMetrics::Of(std::string_view method) {
  const auto found = std::ranges::find(series_, method, &Series::method);
  return found != series_.end() ? *found : series_.emplace_back(Series{.method = std::string(method)});
}

void RequestMetrics::Observe(std::shared_ptr<base::Histogram>& series, base::HistogramFamily& family,
                             std::string_view method, double value) {
  if (!series) series = family.With({method, host_});
  series->Observe(value);
}

void RequestMetrics::CountAnswer(std::string_view method, int code) {
  const std::lock_guard lock(mutex_);
  auto& answers = Of(method).answers;
  auto found = std::ranges::find(answers, code, &std::pair<int, std::shared_ptr<base::Counter>>::first);
  if (found == answers.end()) {
    answers.emplace_back(code, answers_.With({CodeText(code), method, host_}));
    found = std::prev(answers.end());
  }
  found->second->Increment();
}

void RequestMetrics::CountRetry(std::string_view method, int code) {
  retries_.With({CodeText(code), method, host_})->Increment();
}

void RequestMetrics::ObserveTurn(std::string_view method, base::Duration waited) {
  const std::lock_guard lock(mutex_);
  Observe(Of(method).turn, turn_, method, SecondsOf(waited));
}

void RequestMetrics::Observe(const Exchange& exchange) {
  const std::lock_guard lock(mutex_);
  Series& series = Of(exchange.method);
  Observe(series.duration, duration_, exchange.method, SecondsOf(exchange.duration));
  if (exchange.sent_bytes > 0) {
    Observe(series.sent, sent_, exchange.method, static_cast<double>(exchange.sent_bytes));
  }
  Observe(series.received, received_, exchange.method, static_cast<double>(exchange.received_bytes));
}

}  // namespace berth::client
