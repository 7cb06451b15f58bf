#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bitset.h"

namespace berth::base {

// Some rows of a table as a list, each once, ascending. Cheaper to walk than a Bitset when few rows of many
// are selected, and it can be cut into pieces. Row is an Id.
template <class Row>
class SelectionVector {
 public:
  SelectionVector() = default;

  static SelectionVector FromBitset(const Bitset& bits) {
    SelectionVector selection;
    selection.rows_.reserve(bits.Count());
    bits.ForEach([&](std::size_t bit) { selection.rows_.push_back(Row(static_cast<std::uint32_t>(bit))); });
    return selection;
  }
  // Rows must be below `size`.
  Bitset ToBitset(std::size_t size) const {
    Bitset bits(size);
    for (const Row row : rows_) bits.Set(row.index());
    return bits;
  }

  // Rows come in ascending order.
  void Append(Row row) {
    BERTH_DCHECK(rows_.empty() || rows_.back() < row);
    rows_.push_back(row);
  }
  // Keeps the order of what is left; returns how many went.
  template <class F>
  std::size_t RemoveIf(F&& remove) {
    return std::erase_if(rows_, remove);
  }

  bool empty() const { return rows_.empty(); }
  std::size_t size() const { return rows_.size(); }
  void clear() { rows_.clear(); }
  Row operator[](std::size_t position) const { return rows_[position]; }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }
  std::span<const Row> rows() const { return rows_; }

  bool operator==(const SelectionVector&) const = default;

 private:
  std::vector<Row> rows_;
};

}  // namespace berth::base
