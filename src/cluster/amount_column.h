#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "cluster/ids.h"
#include "cluster/paged_column.h"

namespace berth::cluster {

// A column of amounts as it is read, by row: of all rows one behind the other for the resources that every
// node has, in pages for others. No column at all reads as zeros. Valid until the table changes.
class AmountColumn {
 public:
  using Paged = PagedColumn<NodeRow, std::int64_t>;
  // Rows from a multiple of this on, up to the next one, are one behind the other.
  static constexpr std::size_t kRunRows = Paged::kPageSize;

  AmountColumn() = default;
  AmountColumn(std::span<const std::int64_t> rows) : rows_(rows.data()) {}
  explicit AmountColumn(const Paged& pages) : pages_(&pages) {}

  bool exists() const { return rows_ != nullptr || pages_ != nullptr; }
  std::int64_t operator[](std::size_t row) const {
    if (rows_ != nullptr) return rows_[row];
    return pages_ == nullptr ? 0 : pages_->Get(NodeRow(static_cast<std::uint32_t>(row)));
  }
  // The amounts of these rows, in `room` if they stand nowhere else; null: they are not one behind the other.
  using Room = Paged::Numbers;
  const std::int64_t* Run(std::size_t first, std::size_t count, Room& room) const {
    if (rows_ != nullptr) return rows_ + first;
    const std::size_t offset = first % kRunRows;
    if (offset + count > kRunRows) return nullptr;
    const std::int64_t* const page = pages_ == nullptr ? nullptr : pages_->Page(first / kRunRows, room);
    return (page == nullptr ? kZeros.data() : page) + offset;
  }

 private:
  static constexpr std::array<std::int64_t, kRunRows> kZeros{};

  const std::int64_t* rows_ = nullptr;
  const Paged* pages_ = nullptr;
};

}  // namespace berth::cluster
