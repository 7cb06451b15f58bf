#pragma once

#include "client/api_client.h"

#include "base/random.h"

namespace berth::client {

// Which failed writes are tried again, how often, and after what wait.
struct RetryRule {
  int attempts = 1;
  base::Duration initial = std::chrono::milliseconds(10);
  double factor = 5;
  double jitter = 0.1;
  bool (*is_retriable)(const ApiError& error) = nullptr;
};

// InternalError, ServiceUnavailable, connection refused: the write surely did not happen, or may be repeated.
bool IsServerTrouble(const ApiError& error);
bool IsServerTroubleOrConflict(const ApiError& error);

inline constexpr RetryRule kBindRetry{.attempts = 4, .is_retriable = IsServerTrouble};
// A status patch carries no version, so a conflict is the server's own race and goes away.
inline constexpr RetryRule kStatusPatchRetry{.attempts = 4, .is_retriable = IsServerTroubleOrConflict};
inline constexpr RetryRule kConflictRetry{.attempts = 5, .factor = 1, .is_retriable = IsConflict};

// How long to wait after that many failed attempts; nothing if that was the last, or the error stays.
std::optional<base::Duration> RetryDelay(const RetryRule& rule, int attempts_made, const ApiError& error,
                                         base::Random& random);

base::Task<ApiResult<ApiResponse>> SendWithRetry(ApiClient& client, base::Random& random, RetryRule rule,
                                                 ApiRequest request);

}  // namespace berth::client
