#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/check.h"

namespace berth::base {

// What changed in a table, for readers that keep something derived from it and want to redo only that.
//
// 1. Versions count appends from 1, in 64 bits, and never repeat.
// 2. The last `capacity` changes are kept. A reader that is further behind has to read the whole table.
//
// Memory is allocated once, and by Grow(). Facts is an integer of bits: which facts about the row changed.
template <class Row, class Facts = std::uint32_t>
class ChangeLog {
 public:
  explicit ChangeLog(std::size_t capacity) : ring_(capacity) { BERTH_CHECK(capacity > 0); }

  // Of the latest change, 0 before the first: what a reader that has just read everything is up to date with.
  std::uint64_t version() const { return version_; }
  std::size_t capacity() const { return ring_.size(); }

  std::uint64_t Append(Row row, Facts facts) {
    ++version_;
    ring_[version_ % ring_.size()] = {row, facts};
    return version_;
  }

  // Whether everything after `version` is still here.
  bool Covers(std::uint64_t version) const {
    BERTH_DCHECK(version <= version_);
    return version >= lost_ && version_ - version <= ring_.size();
  }

  // Keeps at least this many changes from now on. What is gone stays gone.
  void Grow(std::size_t capacity) {
    if (capacity <= ring_.size()) return;
    if (version_ - lost_ > ring_.size()) lost_ = version_ - ring_.size();
    std::vector<Change> ring(capacity);
    for (std::uint64_t next = lost_ + 1; next <= version_; ++next) {
      ring[next % capacity] = ring_[next % ring_.size()];
    }
    ring_ = std::move(ring);
  }

  // Calls visit(row, facts) for every change after `version`, oldest first; a row comes once per change.
  // False, and no call, when some of them are gone.
  template <class F>
  bool Since(std::uint64_t version, F&& visit) const {
    if (!Covers(version)) return false;
    for (std::uint64_t next = version + 1; next <= version_; ++next) {
      const Change& change = ring_[next % ring_.size()];
      visit(change.row, change.facts);
    }
    return true;
  }

 private:
  struct Change {
    Row row{};
    Facts facts{};
  };

  std::vector<Change> ring_;
  std::uint64_t version_ = 0;
  std::uint64_t lost_ = 0;  // changes up to this one were gone when the ring last grew
};

}  // namespace berth::base
