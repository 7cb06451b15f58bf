#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/change_log.h"
#include "cluster/ids.h"
#include "cluster/paged_column.h"

namespace berth::cluster {

// How many pods of some kind are in each domain of a topology key, with what is needed to ask for the
// smallest count and for the domains whose count changed.
//
// 1. histogram_[c] is the number of domains with count c, for every c other than zero; lowest_ is its
//    smallest key, 0 if it is empty. Counts below zero occur in speculations only.
// 2. The log reaches back about as many changes as there are domains with pods: who is further behind looks
//    at all domains for the same price.
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
  static constexpr std::size_t kLogCapacityMin = 64;
  static constexpr std::size_t kLogCapacityMax = 8192;

  void Log(DomainId domain);
  void FindLowest();

  PagedColumn<DomainId> counts_;
  absl::flat_hash_map<std::int32_t, std::uint32_t> histogram_;
  std::int32_t lowest_ = 0;
  std::int32_t outside_ = 0;
  base::ChangeLog<DomainId> log_{kLogCapacityMin};
};

// What a tally said when somebody last looked, to find out where it says something else now. For one tally:
// whoever turns to another one takes a new follower.
class TallyFollower {
 public:
  // Calls visit(domain, before, now) for every domain whose count is not what it was at the last call (0
  // before the first), and with an invalid id if outside() is not. O(changes since), or O(domains) if they
  // are more than the tally's log holds.
  template <class F>
  void Follow(const DomainTally& tally, F&& visit) {
    if (tally.version() == version_) return;
    const auto compare = [&](DomainId domain) {
      if (domain.IsValid()) See(domain, tally.Count(domain), visit);
    };
    if (!tally.ChangedSince(version_, compare)) {
      for (std::uint32_t domain = 0; domain < seen_.size(); ++domain) compare(DomainId(domain));
      tally.ForEachNonZero([&](DomainId domain, std::int32_t count) { See(domain, count, visit); });
    }
    version_ = tally.version();
    if (tally.outside() != outside_) {
      const std::int32_t before = std::exchange(outside_, tally.outside());
      visit(DomainId(), before, outside_);
    }
  }

  std::int32_t Seen(DomainId domain) const {
    return domain.index() < seen_.size() ? seen_[domain.index()] : 0;
  }
  std::size_t MemoryBytes() const { return seen_.capacity() * sizeof(std::int32_t); }

 private:
  template <class F>
  void See(DomainId domain, std::int32_t now, F&& visit) {
    const std::int32_t before = Seen(domain);
    if (before == now) return;
    if (domain.index() >= seen_.size()) seen_.resize(domain.index() + 1);
    seen_[domain.index()] = now;
    visit(domain, before, now);
  }

  std::uint64_t version_ = 0;
  std::int32_t outside_ = 0;
  std::vector<std::int32_t> seen_;  // by DomainId
};

}  // namespace berth::cluster
