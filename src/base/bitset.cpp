#include "base/bitset.h"

#include <algorithm>

namespace berth::base {
namespace {

// The baseline has no instruction for it, and std::popcount is a call for each word there. Choosing at run
// time is done by the loader, before the thread sanitizer can bear that.
std::size_t CountOnes(std::uint64_t word) {
  word -= (word >> 1) & 0x5555'5555'5555'5555;                                    // in pairs of bits
  word = (word & 0x3333'3333'3333'3333) + ((word >> 2) & 0x3333'3333'3333'3333);  // in fours
  word = (word + (word >> 4)) & 0x0f0f'0f0f'0f0f'0f0f;                            // in bytes
  return static_cast<std::size_t>((word * 0x0101'0101'0101'0101) >> 56);
}

}  // namespace

void Bitset::Resize(std::size_t size, bool value) {
  const std::size_t old_size = size_;
  words_.resize((size + kBits - 1) / kBits, value ? ~std::uint64_t{0} : 0);
  size_ = size;
  if (value && size > old_size && old_size % kBits != 0) {
    words_[old_size / kBits] |= ~std::uint64_t{0} << (old_size % kBits);
  }
  ClearBeyondSize();
}

void Bitset::ClearBeyondSize() {
  if (size_ % kBits != 0) words_.back() &= Mask(size_) - 1;
}

void Bitset::SetAll() {
  std::ranges::fill(words_, ~std::uint64_t{0});
  ClearBeyondSize();
}

void Bitset::ClearAll() { std::ranges::fill(words_, std::uint64_t{0}); }

void Bitset::And(const Bitset& other) {
  BERTH_CHECK(size_ == other.size_);
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
}

void Bitset::AndNot(const Bitset& other) {
  BERTH_CHECK(size_ == other.size_);
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= ~other.words_[i];
}

void Bitset::Or(const Bitset& other) {
  BERTH_CHECK(size_ == other.size_);
  for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
}

std::size_t Bitset::Count() const {
  std::size_t count = 0;
  for (const std::uint64_t word : words_) count += CountOnes(word);
  return count;
}

bool Bitset::Any() const {
  return std::ranges::any_of(words_, [](std::uint64_t word) { return word != 0; });
}

std::size_t Bitset::FindFirst(std::size_t from) const {
  if (from >= size_) return size_;
  std::size_t index = from / kBits;
  std::uint64_t word = words_[index] & (~std::uint64_t{0} << (from % kBits));
  while (word == 0) {
    if (++index == words_.size()) return size_;
    word = words_[index];
  }
  return index * kBits + static_cast<std::size_t>(std::countr_zero(word));
}

}  // namespace berth::base
