#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/metrics.h"

namespace berth::server {

struct Answer {
  int status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";

  bool operator==(const Answer&) const = default;
};

// /healthz, /livez, /readyz and the checks behind each. Every check that runs is counted for /metrics/slis.
class HealthChecks {
 public:
  // Why the check fails; nothing if it passes.
  using Check = std::function<std::optional<std::string>()>;

  HealthChecks();

  // `endpoint` is "healthz", "livez" or "readyz". Checks run in the order in which they are added.
  void Add(std::string_view endpoint, std::string name, Check check);

  // For the path of an endpoint or of one of its checks, with ?verbose and ?exclude=NAME. Nothing: no such
  // path.
  std::optional<Answer> Handle(std::string_view path, std::string_view query);

  // kubernetes_healthcheck and kubernetes_healthchecks_total.
  base::MetricRegistry& metrics() { return metrics_; }

 private:
  struct Named {
    std::string name;
    Check check;
  };
  struct Endpoint {
    std::string name;
    std::vector<Named> checks;
  };
  std::optional<std::string> Run(const Endpoint& endpoint, const Named& named);
  Answer All(const Endpoint& endpoint, std::string_view query);
  std::optional<Answer> One(const Endpoint& endpoint, std::string_view name);

  std::vector<Endpoint> endpoints_;
  base::MetricRegistry metrics_;
  base::GaugeFamily& state_;
  base::CounterFamily& runs_;
};

}  // namespace berth::server
