#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/ids.h"

namespace berth::framework {

// Which of the rows are alike.
using KindId = std::uint32_t;

// Where the rows of each kind are, counted: a binary tree over parts of some hundred rows, which says for
// every fork how many rows of each kind are to the left of it. Of many kinds at once the n-th row is found in
// one step per fork and kind, a dozen for a million rows.
//
// The counts of one fork lie beside each other, by kind: whoever sums up hundreds of kinds reads memory in
// order.
class KindTree {
 public:
  static constexpr std::size_t kPart = 256;
  // Of many rows the parts are larger: a fork less for every kind costs more than a look at the rows of a
  // part.
  static constexpr std::size_t kLargePart = 1'024;
  static constexpr std::size_t kManyRows = 1 << 18;

  // Empties it, for so many rows.
  void Reset(std::size_t row_count);
  // Rows below this can be added.
  std::size_t row_capacity() const { return part_count_ * part_; }
  // Makes room for kinds below this.
  void Reserve(std::size_t kind_count);

  void Add(KindId kind, cluster::NodeRow row) { Count(kind, row, 1); }
  void Remove(KindId kind, cluster::NodeRow row) { Count(kind, row, ~std::uint32_t{0}); }

  // The first row of the part in which the n-th row of these kinds is, when the given ones, which ascend and
  // are of these kinds, are left out. Of `n` and `without` it leaves what is to be looked for in the part.
  std::size_t FindPart(std::span<const KindId> kinds, std::size_t& n,
                       std::span<const cluster::NodeRow>& without) const;
  std::size_t MemoryBytes() const { return left_.capacity() * sizeof(left_[0]); }

 private:
  // Adds to the count of every fork that the row is to the left of.
  void Count(KindId kind, cluster::NodeRow row, std::uint32_t by);

  std::size_t part_ = kPart;         // rows
  std::size_t part_count_ = 1;       // a power of two
  std::size_t stride_ = 0;           // kinds for which there is room
  std::vector<std::uint32_t> left_;  // by fork, the root being 1, and kind
};

}  // namespace berth::framework
