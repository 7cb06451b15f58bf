#include "plugins/inter_pod_affinity_state.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace berth::plugins {
namespace {

// Where the key is in the list; added if it is new.
template <class Keys>
std::size_t PlaceOf(Keys& keys, cluster::TopologyKeyId key) {
  for (std::size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].key == key) return i;
  }
  keys.push_back({key, {}});
  return keys.size() - 1;
}

template <class T>
T& At(std::vector<T>& column, cluster::DomainId domain) {
  if (domain.index() >= column.size()) column.resize(domain.index() + 1);
  return column[domain.index()];
}

std::size_t SourceBytes(std::span<const DomainSource> sources) {
  std::size_t bytes = sources.size_bytes();
  for (const DomainSource& source : sources) bytes += source.follower.MemoryBytes();
  return bytes;
}

bool AreCurrent(const cluster::CounterTable& counters, std::span<const DomainSource> sources) {
  return std::ranges::all_of(sources, [&](const DomainSource& source) {
    return source.term.IsValid() || counters.IsCurrent(source.tally);
  });
}

void TouchAll(cluster::Cluster& cluster, std::span<const DomainSource> sources, std::uint64_t step) {
  for (const DomainSource& source : sources) {
    if (!source.term.IsValid()) cluster.Touch(source.tally.id, step);
  }
}

}  // namespace

bool HasHostname(const cluster::Cluster& cluster, cluster::NodeRow row) {
  return cluster.labels().Text(cluster.nodes().label_set()[row.index()], kHostname).has_value();
}

DomainSource DomainSource::Counting(const cluster::Cluster& cluster, cluster::TallyId tally) {
  return {cluster.counters().Version(tally), {}, cluster.counters().topology_key(tally)};
}

DomainSource DomainSource::Carrying(const cluster::Cluster& cluster, cluster::TermId term) {
  return {{}, term, cluster.terms().Get(term).key};
}

const cluster::DomainTally& DomainSource::Get(const cluster::Cluster& cluster) const {
  return term.IsValid() ? cluster.terms().carriers(term) : cluster.counters().tally(tally.id);
}

void DomainPresence::Add(DomainSource source) {
  key_of_.push_back(PlaceOf(keys_, source.key));
  sources_.push_back(std::move(source));
}

void DomainPresence::Refresh(const cluster::Cluster& cluster, framework::ChangedRows& changed,
                             const ClassKeys& told) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Key& key = keys_[key_of_[i]];
    const bool is_told = told.Contains(key.key);
    sources_[i].follower.Follow(sources_[i].Get(cluster),
                                [&](cluster::DomainId domain, std::int32_t before, std::int32_t now) {
                                  if (!domain.IsValid() || (before > 0) == (now > 0)) return;
                                  std::uint32_t& sources_in = At(key.sources_in, domain);
                                  const bool was_present = sources_in > 0;
                                  sources_in += now > 0 ? 1u : ~0u;
                                  if (was_present == (sources_in > 0)) return;
                                  present_domains_ += was_present ? ~std::size_t{0} : std::size_t{1};
                                  if (!is_told) changed.AddDomain(cluster.topology(), key.key, domain);
                                });
  }
}

bool DomainPresence::Contains(const cluster::Topology& topology, cluster::NodeRow row,
                              const ClassKeys& told) const {
  return std::ranges::any_of(keys_, [&](const Key& key) {
    return !told.Contains(key.key) && key.Has(topology.domain(key.key, row));
  });
}

bool DomainPresence::Contains(const ClassKeys& told, const framework::RowClass& row_class) const {
  return std::ranges::any_of(keys_, [&](const Key& key) {
    return told.Contains(key.key) && key.Has(told.Domain(row_class, key.key));
  });
}

void DomainPresence::AddFlags(const cluster::Topology& topology, std::vector<DomainFlags>& flags) const {
  for (const Key& key : keys_) {
    DomainFlags& present = flags.emplace_back(topology, key.key, false, false);
    for (std::uint32_t domain = 0; domain < key.sources_in.size(); ++domain) {
      if (key.sources_in[domain] > 0) present.Set(cluster::DomainId(domain), true);
    }
  }
}

std::size_t DomainPresence::MemoryBytes() const {
  std::size_t bytes = SourceBytes(sources_);
  for (const Key& key : keys_) bytes += key.sources_in.capacity() * sizeof(std::uint32_t);
  return bytes;
}

void DomainSums::Add(DomainSource source, std::int64_t weight) {
  key_of_.push_back(PlaceOf(keys_, source.key));
  weights_.push_back(weight);
  sources_.push_back(std::move(source));
}

void DomainSums::Refresh(const cluster::Cluster& cluster, framework::ChangedRows& changed,
                         const ClassKeys& told) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    Key& key = keys_[key_of_[i]];
    const bool is_told = told.Contains(key.key);
    sources_[i].follower.Follow(sources_[i].Get(cluster),
                                [&](cluster::DomainId domain, std::int32_t before, std::int32_t now) {
                                  if (!domain.IsValid()) return;
                                  At(key.sums, domain) += weights_[i] * (std::int64_t{now} - before);
                                  if (!is_told) changed.AddDomain(cluster.topology(), key.key, domain);
                                });
  }
}

bool DomainSums::AnyPods(const cluster::Cluster& cluster) const {
  return std::ranges::any_of(sources_,
                             [&](const DomainSource& source) { return source.Get(cluster).non_zero() > 0; });
}

std::int64_t DomainSums::Sum(const cluster::Topology& topology, cluster::NodeRow row,
                             const ClassKeys& told) const {
  std::int64_t sum = 0;
  for (const Key& key : keys_) {
    if (!told.Contains(key.key)) sum += key.At(topology.domain(key.key, row));
  }
  return sum;
}

std::int64_t DomainSums::Sum(const ClassKeys& told, const framework::RowClass& row_class) const {
  std::int64_t sum = 0;
  for (const Key& key : keys_) {
    if (told.Contains(key.key)) sum += key.At(told.Domain(row_class, key.key));
  }
  return sum;
}

void DomainSums::Sums(const cluster::Topology& topology, std::span<const cluster::NodeRow> rows,
                      std::span<std::int64_t> sums) const {
  std::ranges::fill(sums, 0);
  for (const Key& key : keys_) {
    const cluster::DomainId* const column = topology.column(key.key).data();
    const std::int64_t* const by_domain = key.sums.data();
    const std::size_t count = key.sums.size();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const std::size_t domain = column[rows[i].index()].value();
      sums[i] += domain < count ? by_domain[domain] : 0;
    }
  }
}

std::size_t DomainSums::MemoryBytes() const {
  std::size_t bytes = SourceBytes(sources_);
  for (const Key& key : keys_) bytes += key.sums.capacity() * sizeof(std::int64_t);
  return bytes;
}

std::size_t AffinityState::MemoryBytes() const {
  return sizeof(*this) + SourceBytes(affinity) + anti_affinity.MemoryBytes() +
         existing_anti_affinity.MemoryBytes() + sums.MemoryBytes();
}

bool AffinityState::IsCurrent(const cluster::CounterTable& counters) const {
  return AreCurrent(counters, affinity) && AreCurrent(counters, anti_affinity.sources()) &&
         AreCurrent(counters, sums.sources()) &&
         (!host.affinity.id.IsValid() || counters.IsCurrent(host.affinity)) &&
         std::ranges::all_of(host.anti_affinity,
                             [&](const auto& counter) { return counters.IsCurrent(counter); });
}

void AffinityState::Touch(cluster::Cluster& cluster, std::uint64_t step) const {
  TouchAll(cluster, affinity, step);
  TouchAll(cluster, anti_affinity.sources(), step);
  TouchAll(cluster, sums.sources(), step);
  if (host.affinity.id.IsValid()) cluster.Touch(host.affinity.id, step);
  for (const auto& counter : host.anti_affinity) cluster.Touch(counter.id, step);
}

void AffinityState::Refresh(const cluster::Cluster& cluster, framework::StateChanges& changes) {
  bool first = true;
  for (DomainSource& source : affinity) {
    const cluster::DomainTally& tally = source.Get(cluster);
    first = first && tally.non_zero() == 0;
    source.follower.Follow(tally, [&](cluster::DomainId domain, std::int32_t before, std::int32_t now) {
      if (!domain.IsValid() || (before > 0) == (now > 0) || class_keys_.Contains(source.key)) return;
      changes.verdicts.AddDomain(cluster.topology(), source.key, domain);
    });
  }
  if (host.affinity.id.IsValid()) first = cluster.counters().Total(host.affinity.id) == 0;
  if (std::exchange(first_of_group_, first) != first && matches_itself && !uses_classes_) {
    changes.verdicts.AddAll();
  }
  anti_affinity.Refresh(cluster, changes.verdicts, class_keys_);
  existing_anti_affinity.Refresh(cluster, changes.verdicts, class_keys_);
  sums.Refresh(cluster, changes.scores, class_keys_);
}

bool AffinityState::MeetsAffinity(const cluster::Cluster& cluster, cluster::NodeRow row) const {
  if (host.affinity.id.IsValid()) {
    if (!HasHostname(cluster, row)) return false;
    return cluster.counters().CountOnNode(host.affinity.id, row) > 0 || (first_of_group_ && matches_itself);
  }
  bool is_near = true;
  for (const DomainSource& source : affinity) {
    const cluster::DomainId domain = cluster.topology().domain(source.key, row);
    if (!domain.IsValid()) return false;
    is_near = is_near && source.Get(cluster).Count(domain) > 0;
  }
  return is_near || (first_of_group_ && matches_itself);
}

bool AffinityState::RefusedDomains(const cluster::Cluster& cluster, std::vector<DomainFlags>& flags) const {
  if (host.affinity.id.IsValid() || !host.anti_affinity.empty() || !host.existing.empty()) return false;
  const bool is_far_refused = !(first_of_group_ && matches_itself);
  for (const DomainSource& source : affinity) {
    DomainFlags& far = flags.emplace_back(cluster.topology(), source.key, is_far_refused, true);
    source.Get(cluster).ForEachNonZero([&](cluster::DomainId domain, std::int32_t count) {
      if (count > 0) far.Set(domain, false);
    });
  }
  anti_affinity.AddFlags(cluster.topology(), flags);
  existing_anti_affinity.AddFlags(cluster.topology(), flags);
  return true;
}

bool AffinityState::HasHostAntiAffinity(const cluster::Cluster& cluster, cluster::NodeRow row) const {
  return !host.anti_affinity.empty() && HasHostname(cluster, row) &&
         std::ranges::any_of(host.anti_affinity, [&](const auto& counter) {
           return cluster.counters().CountOnNode(counter.id, row) > 0;
         });
}

bool AffinityState::IsRefusedOnHost(const cluster::Cluster& cluster, cluster::NodeRow row) const {
  if (host.existing.empty() || !HasHostname(cluster, row)) return false;
  return std::ranges::any_of(cluster.nodes().pods(row), [&](cluster::PodSlot pod) {
    const cluster::TermListId list = cluster.pods().facts(pod).terms;
    return list.IsValid() && std::ranges::any_of(cluster.terms().Terms(list), [&](cluster::TermId term) {
             return std::ranges::binary_search(host.existing, term);
           });
  });
}

bool AffinityState::HasAntiAffinityHere(const cluster::Cluster& cluster, cluster::NodeRow row) const {
  return anti_affinity.Contains(cluster.topology(), row, {}) || HasHostAntiAffinity(cluster, row);
}

bool AffinityState::IsRefusedByPodsHere(const cluster::Cluster& cluster, cluster::NodeRow row) const {
  return existing_anti_affinity.Contains(cluster.topology(), row, {}) || IsRefusedOnHost(cluster, row);
}

}  // namespace berth::plugins
