#include "cluster/counters.h"

#include <algorithm>

#include "base/check.h"

namespace berth::cluster {

CounterTable::CounterTable(const NodeTable& nodes, Topology& topology, EligibilityTable& eligibility,
                           MatcherTable& matchers)
    : nodes_(nodes), topology_(topology), eligibility_(eligibility), matchers_(matchers) {}

CounterTable::Found CounterTable::Use(std::span<const PodCondition> conditions, CountRules rules,
                                      std::uint64_t step) {
  const MatcherId matcher = matchers_.Intern(conditions);
  const CounterKey key{matcher, rules};
  if (const CounterId known = counter_keys_.Find(key); known.IsValid()) {
    matchers_.Release(matcher);  // the counter holds its own
    Touch(known, step);
    return {known, false};
  }
  const CounterId id = counter_keys_.Intern(key);
  if (id.index() >= counters_.size()) counters_.resize(id.index() + 1);
  counters_[id.index()] = std::make_unique<Counter>();
  counters_[id.index()]->last_used = step;
  counters_[id.index()]->selects_everything = matchers_.SelectsEverything(matcher);
  if (matcher.index() >= by_matcher_.size()) by_matcher_.resize(matcher.index() + 1);
  by_matcher_[matcher.index()].push_back(id);
  return {id, true};
}

TallyId CounterTable::UseTally(CounterId counter, std::string_view topology_key, EligibilityId eligibility,
                               std::uint64_t step) {
  const TopologyKeyId key = topology_.Acquire(topology_key);
  const TallyKey tally_key{counter, key, eligibility};
  if (const TallyId known = tally_keys_.Find(tally_key); known.IsValid()) {
    topology_.Release(key);
    Touch(known, step);
    return known;
  }
  const TallyId id = tally_keys_.Intern(tally_key);
  if (id.index() >= tallies_.size()) {
    tallies_.resize(id.index() + 1);
    tally_last_used_.resize(id.index() + 1);
  }
  tallies_[id.index()] = std::make_unique<DomainTally>();
  if (eligibility.IsValid()) eligibility_.AddReader(eligibility, key);
  counters_[counter.index()]->tallies.push_back(id);
  Touch(id, step);
  counters_[counter.index()]->per_node.ForEachNonZero(
      [&](NodeRow row, std::int32_t count) { AddToTally(id, row, count); });
  return id;
}

void CounterTable::Touch(TallyId id, std::uint64_t step) {
  tally_last_used_[id.index()] = step;
  Touch(counter(id), step);
}

std::size_t CounterTable::DomainCount(TallyId id) const {
  const TallyKey& key = tally_keys_.Get(id);
  return eligibility_.DomainCount(key.eligibility, key.key);
}

bool CounterTable::HasEligibleNode(TallyId id, DomainId domain) const {
  const TallyKey& key = tally_keys_.Get(id);
  return eligibility_.NodesIn(key.eligibility, key.key, domain) > 0;
}

void CounterTable::CollectUnused(std::uint64_t step) {
  for (std::uint32_t value = 0; value < tallies_.size(); ++value) {
    if (tallies_[value] && tally_last_used_[value] < step) DropTally(TallyId(value));
  }
  for (std::uint32_t value = 0; value < counters_.size(); ++value) {
    if (counters_[value] && counters_[value]->last_used < step) DropCounter(CounterId(value));
  }
}

void CounterTable::DropTally(TallyId id) {
  const TallyKey key = tally_keys_.Get(id);
  tally_keys_.Release(id);
  tallies_[id.index()].reset();
  std::erase(counters_[key.counter.index()]->tallies, id);
  if (key.eligibility.IsValid()) eligibility_.RemoveReader(key.eligibility, key.key);
  topology_.Release(key.key);
}

void CounterTable::DropCounter(CounterId id) {
  BERTH_CHECK(counters_[id.index()]->tallies.empty());
  const MatcherId matcher = counter_keys_.Get(id).matcher;
  counter_keys_.Release(id);
  counters_[id.index()].reset();
  std::erase(by_matcher_[matcher.index()], id);
  matchers_.Release(matcher);
}

std::span<const CounterId> CounterTable::CountersOf(MatcherId matcher) const {
  if (matcher.index() >= by_matcher_.size()) return {};
  return by_matcher_[matcher.index()];
}

bool CounterTable::Counts(CounterId id, const PodChange& change) const {
  if (change.mode == Mode::kSpeculative) return true;
  const CountRules& rules = counter_keys_.Get(id).rules;
  if (rules.skip_terminating && change.terminating) return false;
  return !(rules.everything_is_zero && counters_[id.index()]->selects_everything);
}

void CounterTable::Apply(std::span<const MatcherId> matchers, const PodChange& change) {
  for (const MatcherId matcher : matchers) {
    for (const CounterId id : CountersOf(matcher)) Apply(id, change);
  }
}

void CounterTable::Apply(CounterId id, const PodChange& change) {
  if (!Counts(id, change)) return;
  counters_[id.index()]->per_node.Add(change.row, change.delta);
  AddToDomains(id, change.row, change.delta);
}

void CounterTable::ApplyToDomains(std::span<const MatcherId> matchers, const PodChange& change) {
  for (const MatcherId matcher : matchers) {
    for (const CounterId id : CountersOf(matcher)) {
      if (Counts(id, change)) AddToDomains(id, change.row, change.delta);
    }
  }
}

void CounterTable::AddToDomains(CounterId id, NodeRow row, std::int32_t delta) {
  if (!nodes_.exists(row)) return;
  Counter& counter = *counters_[id.index()];
  counter.total += delta;
  for (const TallyId tally : counter.tallies) AddToTally(tally, row, delta);
}

void CounterTable::AddToTally(TallyId id, NodeRow row, std::int32_t delta) {
  const TallyKey& key = tally_keys_.Get(id);
  if (!eligibility_.Contains(key.eligibility, row)) return;
  const DomainId domain = topology_.domain(key.key, row);
  if (domain.IsValid()) {
    tallies_[id.index()]->Add(domain, delta);
  } else {
    tallies_[id.index()]->AddOutside(delta);
  }
}

void CounterTable::AddTo(Digester& digest) const {
  for (std::size_t id = 0; id < counters_.size(); ++id) {
    if (!counters_[id]) continue;
    digest.Add(id);
    digest.AddSigned(counters_[id]->total);
    counters_[id]->per_node.ForEachNonZero([&](NodeRow row, std::int32_t count) {
      digest.Add(row.value());
      digest.AddSigned(count);
    });
  }
  for (std::uint32_t id = 0; id < tallies_.size(); ++id) {
    if (!tallies_[id]) continue;
    digest.Add(id);
    digest.AddSigned(MinCount(TallyId(id)));
    digest.AddSigned(tallies_[id]->outside());
    tallies_[id]->ForEachNonZero([&](DomainId domain, std::int32_t count) {
      digest.Add(domain.value());
      digest.AddSigned(count);
    });
  }
}

}  // namespace berth::cluster
