#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/check.h"

namespace berth::base {

// A set of small numbers below size(), one bit each. Set operations go word by word and are for two sets of
// one size. Invariant: bits at and beyond size() are zero.
class Bitset {
 public:
  explicit Bitset(std::size_t size = 0, bool value = false) { Resize(size, value); }

  std::size_t size() const { return size_; }
  // New bits get `value`.
  void Resize(std::size_t size, bool value = false);

  bool Test(std::size_t bit) const {
    BERTH_DCHECK(bit < size_);
    return ((words_[bit / kBits] >> (bit % kBits)) & 1) != 0;
  }
  void Set(std::size_t bit) {
    BERTH_DCHECK(bit < size_);
    words_[bit / kBits] |= Mask(bit);
  }
  void Clear(std::size_t bit) {
    BERTH_DCHECK(bit < size_);
    words_[bit / kBits] &= ~Mask(bit);
  }
  void SetAll();
  void ClearAll();

  void And(const Bitset& other);
  void AndNot(const Bitset& other);
  void Or(const Bitset& other);

  std::size_t Count() const;
  bool Any() const;
  bool None() const { return !Any(); }
  // The first set bit at or after `from`; size() if there is none.
  std::size_t FindFirst(std::size_t from = 0) const;

  // Calls visit(bit) for every set bit, ascending. The visitor may clear the bit that it is given.
  template <class F>
  void ForEach(F&& visit) const {
    for (std::size_t index = 0; index < words_.size(); ++index) {
      for (std::uint64_t word = words_[index]; word != 0; word &= word - 1) {
        visit(index * kBits + static_cast<std::size_t>(std::countr_zero(word)));
      }
    }
  }

  // Clears the set bits for which remove(bit) is true, ascending; returns how many.
  template <class F>
  std::size_t RemoveIf(F&& remove) {
    std::size_t removed = 0;
    for (std::size_t index = 0; index < words_.size(); ++index) {
      std::uint64_t gone = 0;
      for (std::uint64_t word = words_[index]; word != 0; word &= word - 1) {
        const auto offset = static_cast<std::size_t>(std::countr_zero(word));
        if (remove(index * kBits + offset)) gone |= std::uint64_t{1} << offset;
      }
      words_[index] &= ~gone;
      removed += static_cast<std::size_t>(std::popcount(gone));
    }
    return removed;
  }

  // For loops that fill 64 bits at once; whoever writes keeps the invariant.
  std::span<const std::uint64_t> words() const { return words_; }
  std::span<std::uint64_t> words() { return words_; }

  bool operator==(const Bitset&) const = default;

 private:
  static constexpr std::size_t kBits = 64;
  static constexpr std::uint64_t Mask(std::size_t bit) { return std::uint64_t{1} << (bit % kBits); }
  void ClearBeyondSize();

  std::size_t size_ = 0;
  std::vector<std::uint64_t> words_;
};

}  // namespace berth::base
