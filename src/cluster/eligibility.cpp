#include "cluster/eligibility.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace berth::cluster {

EligibilityTable::EligibilityTable(const NodeTable& nodes, const Topology& topology)
    : nodes_(nodes), topology_(topology) {}

EligibilityId EligibilityTable::Use(std::string_view name, NodePredicate predicate, std::uint64_t step) {
  if (const EligibilityId known = names_.Find(name); known.IsValid()) {
    sets_[known.index()].last_used = step;
    return known;
  }
  const EligibilityId id = names_.Intern(name);
  if (id.index() >= sets_.size()) sets_.resize(id.index() + 1);
  Set& set = sets_[id.index()];
  set.predicate = std::move(predicate);
  set.last_used = step;
  set.rows.Resize(nodes_.row_count());
  nodes_.existing().ForEach([&](std::size_t row) {
    if (set.predicate(NodeRow(static_cast<std::uint32_t>(row)))) set.rows.Set(row);
  });
  return id;
}

void EligibilityTable::CollectUnused(std::uint64_t step) {
  for (std::uint32_t value = 0; value < sets_.size(); ++value) {
    const EligibilityId id(value);
    if (!names_.IsLive(id) || !sets_[value].domains.empty() || sets_[value].last_used >= step) continue;
    sets_[value] = Set();
    names_.Release(id);
  }
}

EligibilityTable::Domains* EligibilityTable::FindDomains(EligibilityId id, TopologyKeyId key) {
  for (Domains& domains : sets_[id.index()].domains) {
    if (domains.key == key) return &domains;
  }
  return nullptr;
}

const EligibilityTable::Domains& EligibilityTable::GetDomains(EligibilityId id, TopologyKeyId key) const {
  const auto& all = sets_[id.index()].domains;
  const auto found = std::ranges::find(all, key, &Domains::key);
  BERTH_CHECK(found != all.end());
  return *found;
}

void EligibilityTable::AddReader(EligibilityId id, TopologyKeyId key) {
  if (Domains* known = FindDomains(id, key)) {
    ++known->readers;
    return;
  }
  Set& set = sets_[id.index()];
  Domains& domains = set.domains.emplace_back();
  domains.key = key;
  domains.readers = 1;
  set.rows.ForEach([&](std::size_t row) { Count(domains, NodeRow(static_cast<std::uint32_t>(row)), true); });
}

void EligibilityTable::RemoveReader(EligibilityId id, TopologyKeyId key) {
  Domains* domains = FindDomains(id, key);
  BERTH_CHECK(domains != nullptr);
  if (--domains->readers > 0) return;
  std::erase_if(sets_[id.index()].domains, [&](const Domains& each) { return each.key == key; });
}

std::size_t EligibilityTable::DomainCount(EligibilityId id, TopologyKeyId key) const {
  return id.IsValid() ? GetDomains(id, key).count : topology_.domain_count(key);
}

std::uint32_t EligibilityTable::NodesIn(EligibilityId id, TopologyKeyId key, DomainId domain) const {
  if (!id.IsValid()) return static_cast<std::uint32_t>(topology_.nodes(key, domain).size());
  const Domains& domains = GetDomains(id, key);
  return domain.index() < domains.nodes.size() ? domains.nodes[domain.index()] : 0;
}

void EligibilityTable::Count(Domains& domains, NodeRow row, bool add) {
  const DomainId domain = topology_.domain(domains.key, row);
  if (!domain.IsValid()) return;
  if (domain.index() >= domains.nodes.size()) domains.nodes.resize(domain.index() + 1);
  std::uint32_t& nodes = domains.nodes[domain.index()];
  if (add) {
    if (nodes++ == 0) ++domains.count;
  } else {
    if (--nodes == 0) --domains.count;
  }
}

void EligibilityTable::BeforeChange(NodeRow row) {
  for (Set& set : sets_) {
    if (row.index() >= set.rows.size() || !set.rows.Test(row.index())) continue;
    for (Domains& domains : set.domains) Count(domains, row, false);
    set.rows.Clear(row.index());
  }
}

void EligibilityTable::AfterChange(NodeRow row) {
  for (Set& set : sets_) {
    if (!set.predicate) continue;
    set.rows.Resize(nodes_.row_count());
    if (!nodes_.exists(row) || !set.predicate(row)) continue;
    set.rows.Set(row.index());
    for (Domains& domains : set.domains) Count(domains, row, true);
  }
}

}  // namespace berth::cluster
