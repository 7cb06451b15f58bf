#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "cluster/ids.h"
#include "cluster/topology.h"

namespace berth::plugins {

// A flag for each domain of a topology key and one for rows that are in none, laid out for filters that are
// asked about all rows: one look per row. Valid until the cluster changes.
class DomainFlags {
 public:
  // Every domain starts with `value`.
  DomainFlags(const cluster::Topology& topology, cluster::TopologyKeyId key, bool value, bool outside)
      : column_(topology.column(key)), flags_(topology.domain_slots(key) + 1, value) {
    flags_.back() = outside;
  }

  // Of domains that are not in use any more, too: nobody will ask for them.
  void Set(cluster::DomainId domain, bool value) {
    if (domain.index() + 1 < flags_.size()) flags_[domain.index()] = value;
  }

  // Of `count` rows from `first` on, at most 64, those with the flag, as bits. Rows that the column does not
  // reach are no nodes and have none.
  std::uint64_t Among(std::size_t first, std::size_t count) const {
    const std::size_t end = std::min(first + count, column_.size());
    // An invalid id is larger than any other.
    const auto outside = static_cast<std::uint32_t>(flags_.size() - 1);
    std::uint64_t bits = 0;
    for (std::size_t row = first; row < end; ++row) {
      const std::uint32_t domain = column_.data()[row].value();
      bits |= std::uint64_t{flags_.data()[std::min(domain, outside)]} << (row - first);
    }
    return bits;
  }

 private:
  std::span<const cluster::DomainId> column_;
  std::vector<std::uint8_t> flags_;  // by DomainId, then that of rows in no domain
};

// Those of `count` rows from `first` on that have one of the flags.
inline std::uint64_t AmongAny(std::span<const DomainFlags> all, std::size_t first, std::size_t count) {
  std::uint64_t bits = 0;
  for (const DomainFlags& flags : all) bits |= flags.Among(first, count);
  return bits;
}

}  // namespace berth::plugins
