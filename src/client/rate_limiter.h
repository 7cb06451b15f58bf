#pragma once

#include "base/clock.h"
#include "base/executor.h"

namespace berth::client {

// A bucket of tokens, one for each request, that fills at a steady rate and starts full. Requests wait in the
// order in which they asked.
class RateLimiter {
 public:
  struct Options {
    double per_second = 50;  // not above zero: no limit
    int burst = 100;
  };

  RateLimiter(base::Executor& executor, Options options);

  // Takes a token, and says how long to wait until it is there.
  base::Duration Reserve();

 private:
  base::Executor& executor_;
  const Options options_;
  double tokens_;  // below zero: that many are promised
  base::TimePoint filled_;
};

}  // namespace berth::client
