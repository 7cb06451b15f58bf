#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"

namespace berth::client {

// What requests to one server came to, by the names that every client of Kubernetes has for it. Any thread
// may count. Names in the registry must be free.
class RequestMetrics {
 public:
  // `host` is the server's, with its port.
  RequestMetrics(base::MetricRegistry& registry, std::string host);

  // `code` is the answer's status; 0: there was no answer.
  void CountAnswer(std::string_view method, int code);
  void CountRetry(std::string_view method, int code);
  void ObserveTurn(std::string_view method, base::Duration waited);
  struct Exchange {
    std::string_view method;
    base::Duration duration{};
    std::size_t sent_bytes = 0;
    std::size_t received_bytes = 0;
  };
  // A request with its whole answer.
  void Observe(const Exchange& exchange);

 private:
  const std::string host_;
  base::CounterFamily& answers_;
  base::CounterFamily& retries_;
  base::HistogramFamily& duration_;
  base::HistogramFamily& turn_;
  base::HistogramFamily& sent_;
  base::HistogramFamily& received_;
};

}  // namespace berth::client
