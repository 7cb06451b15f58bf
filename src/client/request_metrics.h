#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  // Of one method: looking a series up by its labels takes longer than all else that counting does.
  struct Series {
    std::string method;
    std::shared_ptr<base::Histogram> duration = {};
    std::shared_ptr<base::Histogram> turn = {};
    std::shared_ptr<base::Histogram> sent = {};
    std::shared_ptr<base::Histogram> received = {};
    std::vector<std::pair<int, std::shared_ptr<base::Counter>>> answers = {};  // by code
  };

  // With the mutex held.
  Series& Of(std::string_view method);
  void Observe(std::shared_ptr<base::Histogram>& series, base::HistogramFamily& family,
               std::string_view method, double value);

  const std::string host_;
  std::mutex mutex_;
  std::deque<Series> series_;  // guarded by it
  base::CounterFamily& answers_;
  base::CounterFamily& retries_;
  base::HistogramFamily& duration_;
  base::HistogramFamily& turn_;
  base::HistogramFamily& sent_;
  base::HistogramFamily& received_;
};

}  // namespace berth::client
