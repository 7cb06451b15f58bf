#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "cluster/ids.h"

namespace berth::plugins {

// What a view keeps of its rows' scores, of those that fit. As long as all are 0 there is none.
template <std::signed_integral Score>
class RowScores {
 public:
  std::int64_t score(cluster::NodeRow row) const {
    return row.index() < scores_.size() ? scores_[row.index()] : 0;
  }
  void SetScore(cluster::NodeRow row, std::int64_t score) {
    if (row.index() >= scores_.size()) {
      if (score == 0) return;
      scores_.resize(row.index() + 1);
    }
    scores_[row.index()] = static_cast<Score>(score);
  }

 protected:
  std::size_t ScoresBytes() const { return scores_.capacity() * sizeof(Score); }

 private:
  std::vector<Score> scores_;
};

}  // namespace berth::plugins
