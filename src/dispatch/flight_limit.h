#pragma once

#include <cstddef>
#include <vector>

#include "base/clock.h"

namespace berth::dispatch {

// How many calls may be on their way at once. A server that is busy answers no more of them when there are
// more, and each takes longer; one that takes its time over each without being busy answers as many more.
// Which of them it is shows by trying, first with half as many calls, which costs nothing where the server is
// busy: only if answers per second become fewer by a third is the limit doubled, and it stays so if they
// become half as many more.
//
// Costs O(1) per answer.
class FlightLimit {
 public:
  // No limit at all if `usual` is zero, and always that one if `most` is not above it.
  FlightLimit(std::size_t usual, std::size_t most);

  bool Allows(std::size_t on_their_way) const { return steps_.empty() || on_their_way < limit(); }
  std::size_t limit() const { return steps_.empty() ? 0 : steps_[step_].limit; }

  // A call was answered. Only while others wait for their turn does the number of answers say anything about
  // the limit; when a limit's worth of answers came without, it is the usual one again.
  void Answered(base::TimePoint now, bool others_wait);

 private:
  struct Step {
    std::size_t limit;
    double rate = 0;  // answers per second with this limit, when it was seen last
  };

  void Measure(double rate);
  void GoTo(std::size_t step, std::size_t windows);
  // What a step has more than the one below, in answers per second; 1 is all that its limit has more.
  double Gain(std::size_t step) const;

  std::vector<Step> steps_;  // the first is only there to be tried, the second is the usual one
  std::size_t step_ = 0;
  bool is_trial_ = false;
  std::size_t windows_left_ = 0;   // until another step is tried
  std::size_t answers_ = 0;        // since the step began, those of earlier windows left out
  std::size_t answers_alone_ = 0;  // since others waited last
  base::TimePoint began_;
};

}  // namespace berth::dispatch
