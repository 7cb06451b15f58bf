#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace berth::framework {

// Which keys came lately, by their hashes: what comes once is not worth keeping, and most things do.
//
// A key takes the place of another one now and then, and is taken for another one hardly ever: whoever asks
// keeps something too late or too early, nothing worse.
class SeenKeys {
 public:
  // Whether it came before; from now on it did.
  bool Add(std::size_t hash) {
    hashes_.resize(kBucketCount * kBucketSize);
    const auto bucket = std::span(hashes_).subspan(hash % kBucketCount * kBucketSize, kBucketSize);
    if (std::ranges::find(bucket, hash) != bucket.end()) return true;
    std::shift_right(bucket.begin(), bucket.end(), 1);
    bucket.front() = hash;
    return false;
  }
  void clear() { hashes_.clear(); }

 private:
  // Buckets of a few hashes, the latest first: with fewer keys than this in turn hardly any is lost.
  static constexpr std::size_t kBucketSize = 4;
  static constexpr std::size_t kBucketCount = 4'096;

  std::vector<std::size_t> hashes_;
};

}  // namespace berth::framework
