#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/container/inlined_vector.h"

#include "cluster/ids.h"
#include "cluster/topology.h"
#include "framework/row_classes.h"

namespace berth::plugins {

using ClassDomains = absl::InlinedVector<cluster::DomainId, 16>;

// The topology keys whose domains are part of a row's class, and how a class holds them: 24 bits each, zero
// for a node without the label. Above them there is room for flags.
class ClassKeys {
 public:
  static constexpr std::size_t kKeysMax = 2;
  // Of keys with more domains than this, classes would be as many as rows before long.
  static constexpr std::size_t kDomainsMax = 32;
  static constexpr unsigned kFlagsShift = 48;

  static bool HasFewDomains(const cluster::Topology& topology, cluster::TopologyKeyId key) {
    return topology.domain_count(key) <= kDomainsMax;
  }

  // False: there are enough.
  bool Add(cluster::TopologyKeyId key) {
    if (Contains(key)) return true;
    if (count_ == kKeysMax) return false;
    keys_[count_++] = key;
    return true;
  }
  bool Contains(cluster::TopologyKeyId key) const { return PlaceOf(key) < count_; }
  bool empty() const { return count_ == 0; }

  std::uint64_t Pack(const cluster::Topology& topology, cluster::NodeRow row) const {
    std::uint64_t place = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const cluster::DomainId domain = topology.domain(keys_[i], row);
      if (domain.IsValid()) place |= (std::uint64_t{domain.value()} + 1) << (i * kDomainBits);
    }
    return place;
  }
  // The key must be one of them. Invalid: nodes of the class do not have it.
  cluster::DomainId Domain(const framework::RowClass& row_class, cluster::TopologyKeyId key) const {
    const std::uint64_t packed = (row_class.place >> (PlaceOf(key) * kDomainBits)) & kDomainMask;
    return packed == 0 ? cluster::DomainId() : cluster::DomainId(static_cast<std::uint32_t>(packed - 1));
  }

 private:
  static constexpr std::size_t kDomainBits = 24;
  static constexpr std::uint64_t kDomainMask = (std::uint64_t{1} << kDomainBits) - 1;

  std::size_t PlaceOf(cluster::TopologyKeyId key) const {
    std::size_t place = 0;
    while (place < count_ && keys_[place] != key) ++place;
    return place;
  }

  std::array<cluster::TopologyKeyId, kKeysMax> keys_{};
  std::size_t count_ = 0;
};

}  // namespace berth::plugins
