#include "plugins/pod_topology_spread_state.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace berth::plugins {

std::int64_t HardSpread::FindLimit(const cluster::CounterTable& counters) const {
  const bool enough = counters.DomainCount(tally_.id) >= static_cast<std::size_t>(std::max(min_domains_, 0));
  const std::int64_t min = enough ? counters.MinCount(tally_.id) : 0;
  return max_skew_ + min - (matches_itself_ ? 1 : 0);
}

void HardSpread::Refresh(const cluster::Cluster& cluster, framework::ChangedRows& changed) {
  const std::int64_t before_limit = std::exchange(limit_, FindLimit(cluster.counters()));
  if (in_class_) return;
  const auto compare = [&](cluster::DomainId domain, std::int32_t before, std::int32_t now) {
    if (!domain.IsValid() || (before > before_limit) == (now > limit_)) return;
    changed.AddDomain(cluster.topology(), key_, domain);
  };
  follower_.Follow(cluster.counters().tally(tally_.id), compare);
  if (limit_ == before_limit) return;
  // The minimum moved: domains whose count did not may be full now, or full no longer.
  const auto slots = static_cast<std::uint32_t>(cluster.topology().domain_slots(key_));
  for (std::uint32_t slot = 0; slot < slots; ++slot) {
    const std::int32_t count = follower_.Seen(cluster::DomainId(slot));
    compare(cluster::DomainId(slot), count, count);
  }
}

DomainFlags HardSpread::FullDomains(const cluster::Cluster& cluster) const {
  DomainFlags full(cluster.topology(), key_, limit_ < 0, true);
  cluster.counters().tally(tally_.id).ForEachNonZero(
      [&](cluster::DomainId domain, std::int32_t count) { full.Set(domain, count > limit_); });
  return full;
}

cluster::DomainId SoftSpread::EmptyDomain(const cluster::Cluster& cluster) const {
  const cluster::LabelValueId empty = cluster.labels().FindValue("");
  return empty.IsValid() ? cluster.topology().FindDomain(key_, empty) : cluster::DomainId();
}

void SoftSpread::Refresh(const cluster::Cluster& cluster, framework::ChangedRows& changed) {
  if (rules_.is_hostname || in_class_) return;  // host names are counted on the node itself
  follower_.Follow(cluster.counters().tally(tally_.id),
                   [&](cluster::DomainId domain, std::int32_t, std::int32_t) {
                     if (!domain.IsValid() && rules_.missing_is_empty) domain = EmptyDomain(cluster);
                     if (domain.IsValid()) changed.AddDomain(cluster.topology(), key_, domain);
                   });
}

void SoftSpread::Track(const cluster::Topology& topology, cluster::NodeRow row) {
  if (rules_.is_hostname) return;
  const cluster::DomainId domain = topology.domain(key_, row);
  if (row.index() >= domain_of_.size()) domain_of_.resize(row.index() + 1);
  domain_of_[row.index()] = domain;
  if (!domain.IsValid()) {
    ++nodes_without_key_;
    return;
  }
  if (domain.index() >= feasible_nodes_.size()) feasible_nodes_.resize(domain.index() + 1);
  if (feasible_nodes_[domain.index()]++ == 0) ++domains_with_nodes_;
}

void SoftSpread::TrackAll(const cluster::Topology& topology, const base::Bitset& rows) {
  if (rules_.is_hostname) return;
  const std::span<const cluster::DomainId> column = topology.column(key_);
  domain_of_.assign(column.begin(), column.end());
  // The last one is for rows in no domain.
  feasible_nodes_.assign(topology.domain_slots(key_) + 1, 0);
  const std::size_t outside = feasible_nodes_.size() - 1;
  std::uint32_t* const nodes = feasible_nodes_.data();
  rows.ForEach([&](std::size_t bit) { ++nodes[std::min<std::size_t>(column.data()[bit].value(), outside)]; });
  nodes_without_key_ = feasible_nodes_.back();
  feasible_nodes_.pop_back();
  domains_with_nodes_ =
      feasible_nodes_.size() - static_cast<std::size_t>(std::ranges::count(feasible_nodes_, 0u));
}

void SoftSpread::Forget(cluster::NodeRow row) {
  if (rules_.is_hostname) return;
  const cluster::DomainId domain = domain_of_[row.index()];
  if (!domain.IsValid()) {
    --nodes_without_key_;
  } else if (--feasible_nodes_[domain.index()] == 0) {
    --domains_with_nodes_;
  }
}

void SoftSpread::ForgetAll() {
  std::ranges::fill(feasible_nodes_, 0u);
  domains_with_nodes_ = 0;
  nodes_without_key_ = 0;
}

std::size_t SoftSpread::DomainsTracked(const cluster::Cluster& cluster, std::size_t participants) const {
  if (rules_.is_hostname) return participants;
  if (nodes_without_key_ == 0) return domains_with_nodes_;
  const cluster::DomainId empty = EmptyDomain(cluster);
  const bool is_counted =
      empty.IsValid() && empty.index() < feasible_nodes_.size() && feasible_nodes_[empty.index()] > 0;
  return domains_with_nodes_ + (is_counted ? 0 : 1);
}

std::int64_t SoftSpread::CountFor(const cluster::Cluster& cluster, cluster::NodeRow row) const {
  if (rules_.is_hostname) return cluster.counters().CountOnNode(counter_.id, row);
  return CountIn(cluster, cluster.topology().domain(key_, row));
}

std::int64_t SoftSpread::CountIn(const cluster::Cluster& cluster, cluster::DomainId domain) const {
  const cluster::DomainTally& tally = cluster.counters().tally(tally_.id);
  std::int64_t count = tally.Count(domain);
  if (rules_.missing_is_empty && tally.outside() != 0 &&
      cluster.labels().ValueText(cluster.topology().value(key_, domain)).empty()) {
    count += tally.outside();
  }
  return count;
}

std::size_t SoftSpread::MemoryBytes() const {
  return sizeof(*this) + follower_.MemoryBytes() + domain_of_.capacity() * sizeof(cluster::DomainId) +
         feasible_nodes_.capacity() * sizeof(std::uint32_t);
}

std::size_t SpreadState::MemoryBytes() const {
  std::size_t bytes = sizeof(*this) + entered_.size() / 8;
  for (const HardSpread& each : hard) bytes += each.MemoryBytes();
  for (const SoftSpread& each : soft) bytes += each.MemoryBytes();
  return bytes;
}

bool SpreadState::IsCurrent(const cluster::CounterTable& counters) const {
  const auto is_current = [&](const auto& each) { return counters.IsCurrent(each.tally()); };
  return std::ranges::all_of(hard, is_current) && std::ranges::all_of(soft, is_current);
}

void SpreadState::Touch(cluster::Cluster& cluster, std::uint64_t step) const {
  for (const HardSpread& each : hard) cluster.Touch(each.tally().id, step);
  for (const SoftSpread& each : soft) cluster.Touch(each.tally().id, step);
}

void SpreadState::Refresh(const cluster::Cluster& cluster, framework::StateChanges& changes) {
  for (HardSpread& each : hard) each.Refresh(cluster, changes.verdicts);
  for (SoftSpread& each : soft) each.Refresh(cluster, changes.scores);
}

bool SpreadState::TakesPart(const cluster::Topology& topology, cluster::NodeRow row) const {
  return !require_all ||
         std::ranges::all_of(soft, [&](const SoftSpread& each) { return each.HasKey(topology, row); });
}

void SpreadState::Enter(const cluster::Topology& topology, cluster::NodeRow row) {
  entered_.Set(row.index());
  ++participants_;
  for (SoftSpread& each : soft) each.Track(topology, row);
}

void SpreadState::Leave(cluster::NodeRow row) {
  entered_.Clear(row.index());
  --participants_;
  for (SoftSpread& each : soft) each.Forget(row);
}

void SpreadState::CountFeasible(const cluster::Cluster& cluster, const framework::FeasibleSet& feasible) {
  const cluster::Topology& topology = cluster.topology();
  entered_.Resize(cluster.nodes().row_count());
  const auto reconcile = [&](cluster::NodeRow row) {
    if (entered_.Test(row.index())) Leave(row);
    const bool is_feasible = row.index() < feasible.rows.size() && feasible.rows.Test(row.index());
    if (is_feasible && TakesPart(topology, row)) Enter(topology, row);
  };
  // A node may change its labels and stay feasible.
  const auto relabelled = [&](cluster::NodeRow row, cluster::Facts facts) {
    if ((facts & (cluster::kLabelsFact | cluster::kExistsFact)) != 0) reconcile(row);
  };
  const bool rebuild =
      feasible.rebuilt || weights_.empty() || !cluster.change_log().Since(version_, relabelled);
  version_ = cluster.change_log().version();
  if (!rebuild) {
    for (const cluster::NodeRow row : feasible.left) reconcile(row);
    for (const cluster::NodeRow row : feasible.entered) reconcile(row);
    return;
  }
  entered_ = feasible.rows;
  entered_.Resize(cluster.nodes().row_count());
  for (const SoftSpread& each : soft) {
    if (!require_all) break;
    const std::span<const cluster::DomainId> column = topology.column(each.key());
    entered_.RemoveIf([&](std::size_t bit) { return !column.data()[bit].IsValid(); });
  }
  participants_ = entered_.Count();
  for (SoftSpread& each : soft) each.TrackAll(topology, entered_);
}

void SpreadState::FollowFeasible(const cluster::Cluster& cluster, const framework::FeasibleSet& feasible,
                                 framework::ChangedRows& changed) {
  CountFeasible(cluster, feasible);
  std::vector<double> weights;
  weights.reserve(soft.size());
  for (const SoftSpread& each : soft) {
    weights.push_back(GoLog(static_cast<double>(each.DomainsTracked(cluster, participants_) + 2)));
  }
  if (weights == weights_) return;
  weights.swap(weights_);
  ReportMoved(cluster, feasible.rows, weights, changed);
}

// Counts that moved were reported when they did; so a row's score moves by its weights only if it does so
// with the counts of now.
void SpreadState::ReportMoved(const cluster::Cluster& cluster, const base::Bitset& feasible,
                              const std::vector<double>& before, framework::ChangedRows& changed) const {
  if (before.empty()) {
    changed.AddAll();
    return;
  }
  const auto compare = [&](cluster::NodeRow row) {
    if (RawScore(cluster, row, before) != RawScore(cluster, row, weights_)) changed.Add(row);
  };
  bool only_hostname = true;
  for (std::size_t i = 0; i < soft.size(); ++i) {
    only_hostname = only_hostname && (soft[i].is_hostname() || before[i] == weights_[i]);
  }
  if (!only_hostname) {
    feasible.ForEach([&](std::size_t bit) { compare(cluster::NodeRow(static_cast<std::uint32_t>(bit))); });
    return;
  }
  // The weight of host names moves with every node that fills up, and matters where there are pods to weigh.
  for (const SoftSpread& each : soft) {
    if (!each.is_hostname()) continue;
    cluster.counters().ForEachNode(each.counter().id, [&](cluster::NodeRow row, std::int32_t) {
      if (row.index() < feasible.size() && feasible.Test(row.index())) compare(row);
    });
  }
}

std::int64_t SpreadState::RawScore(const cluster::Cluster& cluster, cluster::NodeRow row,
                                   const std::vector<double>& weights) const {
  if (!TakesPart(cluster.topology(), row)) return framework::kNoScore;
  double score = 0;
  for (std::size_t i = 0; i < soft.size(); ++i) {
    if (!soft[i].HasKey(cluster.topology(), row)) continue;
    score += static_cast<double>(soft[i].CountFor(cluster, row)) * weights[i] +
             static_cast<double>(soft[i].max_skew() - 1);
  }
  return static_cast<std::int64_t>(std::round(score));
}

namespace {

// As std::round, which is a call where the machine need not have an instruction for it.
std::int64_t Rounded(double x) {
  constexpr double kExact = 4503599627370496.0;  // beyond this every double is whole
  if (!(x >= 0 && x < kExact)) return static_cast<std::int64_t>(std::round(x));
  const auto whole = static_cast<std::int64_t>(x);
  return whole + (x - static_cast<double>(whole) >= 0.5 ? 1 : 0);
}

// Adds what a soft constraint says of each row to `sums`; for rows without its key, `missing`.
void AddTerms(const cluster::Cluster& cluster, const SoftSpread& spread, double weight, double missing,
              std::span<const cluster::NodeRow> rows, std::span<double> sums) {
  const double more = spread.max_skew() - 1;
  const auto term = [&](std::int64_t count) { return static_cast<double>(count) * weight + more; };
  const cluster::DomainId* const column = cluster.topology().column(spread.key()).data();
  if (!spread.is_hostname()) {
    const auto slots = static_cast<std::uint32_t>(cluster.topology().domain_slots(spread.key()));
    std::vector<double> terms(slots + std::size_t{1}, missing);
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
      const cluster::DomainId domain(slot);
      if (cluster.topology().nodes(spread.key(), domain).empty()) continue;
      terms[slot] = term(spread.CountIn(cluster, domain));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      // An invalid id is larger than any other.
      sums[i] += terms.data()[std::min(column[rows[i].index()].value(), slots)];
    }
    return;
  }
  std::vector<std::int32_t> counts(cluster.nodes().row_count());
  cluster.counters().ForEachNode(spread.counter().id, [&](cluster::NodeRow row, std::int32_t count) {
    if (row.index() < counts.size()) counts[row.index()] = count;
  });
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t row = rows[i].index();
    sums[i] += column[row].IsValid() ? term(counts.data()[row]) : missing;
  }
}

}  // namespace

void SpreadState::RawScores(const cluster::Cluster& cluster, std::span<const cluster::NodeRow> rows,
                            std::span<std::int64_t> scores) const {
  // A few of many are told faster than tables are made.
  constexpr std::size_t kShareMin = 8;
  if (rows.size() * kShareMin < cluster.nodes().row_count()) {
    for (std::size_t i = 0; i < rows.size(); ++i) scores[i] = RawScore(cluster, rows[i]);
    return;
  }
  // Not a number once added to anything stays so: a row that takes no part.
  const double missing = require_all ? std::numeric_limits<double>::quiet_NaN() : 0;
  std::vector<double> sums(rows.size());
  for (std::size_t i = 0; i < soft.size(); ++i) AddTerms(cluster, soft[i], weights_[i], missing, rows, sums);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    scores[i] = std::isnan(sums[i]) ? framework::kNoScore : Rounded(sums[i]);
  }
}

double GoLog(double x) {
  constexpr double kLn2Hi = 6.93147180369123816490e-01;
  constexpr double kLn2Lo = 1.90821492927058770002e-10;
  constexpr double kL[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                           2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                           1.479819860511658591e-01};
  int exponent = 0;
  double fraction = std::frexp(x, &exponent);
  if (fraction < std::numbers::sqrt2 / 2) {
    fraction *= 2;
    --exponent;
  }
  const double f = fraction - 1;
  const double k = exponent;
  const double s = f / (2 + f);
  const double z = s * s;
  const double w = z * z;
  const double r =
      z * (kL[0] + w * (kL[2] + w * (kL[4] + w * kL[6]))) + w * (kL[1] + w * (kL[3] + w * kL[5]));
  const double h = 0.5 * f * f;
  return k * kLn2Hi - ((h - (s * (h + r) + k * kLn2Lo)) - f);
}

}  // namespace berth::plugins
