#include "client/retry.h"

#include <cmath>
#include <utility>

namespace berth::client {

bool IsServerTrouble(const ApiError& error) {
  return IsInternalError(error) || IsServiceUnavailable(error) || IsConnectionRefused(error);
}

bool IsServerTroubleOrConflict(const ApiError& error) { return IsServerTrouble(error) || IsConflict(error); }

std::optional<base::Duration> RetryDelay(const RetryRule& rule, int attempts_made, const ApiError& error,
                                         base::Random& random) {
  if (attempts_made >= rule.attempts || !rule.is_retriable(error)) return std::nullopt;
  const double step = static_cast<double>(rule.initial.count()) * std::pow(rule.factor, attempts_made - 1);
  return base::Duration(static_cast<std::int64_t>(step * (1 + rule.jitter * random.UniformReal())));
}

base::Task<ApiResult<ApiResponse>> SendWithRetry(ApiClient& client, base::Random& random, RetryRule rule,
                                                 ApiRequest request) {
  for (int attempt = 1;; ++attempt) {
    auto response = co_await client.Send(request);
    if (response) co_return response;
    const auto delay = RetryDelay(rule, attempt, response.error(), random);
    if (!delay) co_return response;
    co_await client.executor().SleepFor(*delay);
  }
}

}  // namespace berth::client
