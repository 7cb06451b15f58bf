#pragma once

#include <string_view>

#include "base/clock.h"
#include "base/metrics.h"

namespace berth::server {

// How often strangers were asked who they are and whether they may, under the names that every component of
// Kubernetes has for it. Names in the registry must be free.
class AccessMetrics {
 public:
  explicit AccessMetrics(base::MetricRegistry& registry);

  // success, failure (a token that is not good) or error.
  void ObserveAuthentication(std::string_view result, base::Duration duration);
  // allowed, denied, no-opinion or error.
  void ObserveAuthorization(std::string_view result, base::Duration duration);

 private:
  base::CounterFamily& users_;
  base::CounterFamily& authentications_;
  base::HistogramFamily& authentication_duration_;
  base::CounterFamily& authorizations_;
  base::HistogramFamily& authorization_duration_;
};

}  // namespace berth::server
