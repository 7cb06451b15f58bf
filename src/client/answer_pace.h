#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "net/http_client.h"

namespace berth::client {

// How long a loop lets answers gather before it looks at them (see net::EventLoop::SetPace).
//
// An answer that is taken alone costs a wake, system calls and a step of the core; taken with others next to
// nothing. So while many requests are on their way, and only a few of their answers come in a round, rounds
// become longer; when so many come that the server may run out of requests, they are halved. With few
// requests on their way somebody may be waiting for each of them.
class AnswerPace {
 public:
  static constexpr base::Duration kMin = std::chrono::milliseconds(2);
  static constexpr base::Duration kMax = std::chrono::milliseconds(12);
  static constexpr base::Duration kStep = std::chrono::milliseconds(1);
  static constexpr std::size_t kMany = 16;

  // After each round: what is on its way now, and what was answered in the round.
  base::Duration Next(std::size_t on_their_way, std::size_t answered) {
    const std::size_t asked = on_their_way + answered;
    if (asked < kMany) {
      pace_ = kMin;
    } else if (answered * 2 > asked) {
      pace_ = std::max(kMin, pace_ / 2);
    } else if (answered * 4 < asked) {
      pace_ = std::min(kMax, pace_ + kStep);
    }
    return pace_;
  }

  // The same by what a client counts.
  base::Duration Next(const net::HttpClient::Counts& counts) {
    const std::uint64_t answered = counts.ended - std::exchange(ended_, counts.ended);
    return Next(counts.calls, static_cast<std::size_t>(answered));
  }

 private:
  base::Duration pace_ = kMin;
  std::uint64_t ended_ = 0;  // calls, by the end of the last round
};

}  // namespace berth::client
