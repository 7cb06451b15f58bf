#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace berth::base {

// A vector that only grows, in chunks of kChunk elements: it never moves what it holds, so that growing costs
// no copy and references stay valid.
template <class T>
class ChunkedVector {
 public:
  static constexpr std::size_t kChunk = 1'024;

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return chunks_[i / kChunk][i % kChunk]; }
  const T& operator[](std::size_t i) const { return chunks_[i / kChunk][i % kChunk]; }
  // A new element, as T() makes it.
  T& Grow() {
    if (size_ == chunks_.size() * kChunk) chunks_.push_back(std::make_unique<T[]>(kChunk));
    return (*this)[size_++];
  }

 private:
  std::vector<std::unique_ptr<T[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace berth::base
