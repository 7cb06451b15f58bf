#include "server/access_metrics.h"

#include <chrono>

namespace berth::server {
namespace {

double SecondsOf(base::Duration duration) { return std::chrono::duration<double>(duration).count(); }

}  // namespace

AccessMetrics::AccessMetrics(base::MetricRegistry& registry)
    : users_(registry.AddCounters({.name = "authenticated_user_requests",
                                   .help = "Number of requests by users who are known, by name.",
                                   .labels = {"username"}})),
      authentications_(
          registry.AddCounters({.name = "authentication_attempts",
                                .help = "Number of requests whose user was looked for, by result.",
                                .labels = {"result"}})),
      authentication_duration_(
          registry.AddHistograms({.name = "authentication_duration_seconds",
                                  .help = "How long it took to find out who asks, by result.",
                                  .labels = {"result"},
                                  .buckets = base::ExponentialBuckets(0.001, 2, 15)})),
      authorizations_(
          registry.AddCounters({.name = "authorization_attempts_total",
                                .help = "Number of requests whose rights were looked at, by result.",
                                .labels = {"result"}})),
      authorization_duration_(
          registry.AddHistograms({.name = "authorization_duration_seconds",
                                  .help = "How long it took to find out whether they may, by result.",
                                  .labels = {"result"},
                                  .buckets = base::ExponentialBuckets(0.001, 2, 15)})) {}

void AccessMetrics::ObserveAuthentication(std::string_view result, base::Duration duration) {
  authentications_.With({result})->Increment();
  authentication_duration_.With({result})->Observe(SecondsOf(duration));
  // Names would be without bound.
  if (result == "success") users_.With({"other"})->Increment();
}

void AccessMetrics::ObserveAuthorization(std::string_view result, base::Duration duration) {
  authorizations_.With({result})->Increment();
  authorization_duration_.With({result})->Observe(SecondsOf(duration));
}

}  // namespace berth::server
