#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_map.h"

#include "base/change_log.h"
#include "cluster/ids.h"
#include "cluster/paged_column.h"

namespace berth::cluster {

// How many pods of some kind are in each domain of a topology key, with what is needed to ask for the
// smallest count and for the domains whose count changed.
//
// Invariant: histogram_[c] is the number of domains with count c, for every c other than zero; lowest_ is its
// smallest key, 0 if it is empty. Counts below zero occur in speculations only.
class DomainTally {
 public:
  std::int32_t Count(DomainId domain) const { return counts_.Get(domain); }
  // Pods on nodes that count but are in no domain, for want of the label.
  std::int32_t outside() const { return outside_; }
  // Domains with a count other than zero.
  std::size_t non_zero() const { return counts_.non_zero(); }
  template <class F>
  void ForEachNonZero(F&& visit) const {
    counts_.ForEachNonZero(visit);
  }
  // The smallest count of `domain_count` domains, which include all that are not zero. 0 if there is no
  // domain.
  std::int32_t Min(std::size_t domain_count) const {
    return non_zero() < domain_count && lowest_ > 0 ? 0 : lowest_;
  }

  // Of the latest change.
  std::uint64_t version() const { return log_.version(); }
  // Calls visit(domain) for every change after `version`, with an invalid id for a change of outside();
  // false, and no call, if that is too long ago.
  template <class F>
  bool ChangedSince(std::uint64_t version, F&& visit) const {
    return log_.Since(version, [&](DomainId domain, std::uint32_t) { visit(domain); });
  }

  // O(1), but when the last domain with the smallest count gets a larger one: then O(distance to the next
  // larger count), or O(domains) if that is far.
  void Add(DomainId domain, std::int32_t delta);
  void AddOutside(std::int32_t delta);

 private:
  static constexpr std::size_t kLogCapacity = 64;

  void FindLowest();

  PagedColumn<DomainId> counts_;
  absl::flat_hash_map<std::int32_t, std::uint32_t> histogram_;
  std::int32_t lowest_ = 0;
  std::int32_t outside_ = 0;
  base::ChangeLog<DomainId> log_{kLogCapacity};
};

}  // namespace berth::cluster
