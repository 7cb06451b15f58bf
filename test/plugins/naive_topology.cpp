#include "plugins/naive_topology.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "api/node_matching.h"
#include "api/tolerations.h"
#include "support/builders.h"

namespace berth::plugins::test {
namespace {

using Domain = std::pair<std::string, std::string>;  // topology key and value
using berth::test::kHost;

std::optional<std::string> ValueOf(const api::Node& node, const std::string& key) {
  const std::string* value = node.metadata.labels.find(key);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

const api::Node* Find(const NaiveTopology& world, const std::string& name) {
  for (const auto& node : world.nodes) {
    if (node->metadata.name == name) return node.get();
  }
  return nullptr;
}

struct NaiveConstraint {
  api::TopologySpreadConstraint written;
  api::Selector selector;
};

// The constraints of one action.
std::vector<NaiveConstraint> ConstraintsOf(const NaiveTopology& world, const api::PodRecord& pod,
                                           const std::string& action) {
  std::vector<NaiveConstraint> all;
  const auto& own = pod.spec->spec.topology_spread_constraints;
  for (const auto& constraint : own) {
    if (constraint.when_unsatisfiable != action) continue;
    api::Selector selector = *api::Selector::Compile(constraint.label_selector);
    for (const std::string& key : constraint.match_label_keys) {
      const std::optional<std::string_view> value = pod.labels.find(key);
      if (!value || selector.matches_nothing()) continue;
      std::vector<api::Requirement> more(selector.requirements().begin(), selector.requirements().end());
      more.push_back(api::Requirement::Equal(key, std::string(*value)));
      selector = api::Selector(more);
    }
    all.push_back({constraint, selector});
  }
  if (!own.empty()) return all;

  api::StringMap merged;
  for (const api::Service& service : world.services) {
    if (service.metadata.namespace_ != pod.namespace_) continue;
    if (!api::Selector::FromMap(service.spec.selector).Matches(pod.labels)) continue;
    for (const auto& [key, value] : service.spec.selector) merged.insert_or_assign(key, value);
  }
  if (merged.empty()) return {};
  std::vector<api::TopologySpreadConstraint> defaults = world.args.pod_topology_spread.default_constraints;
  if (world.args.pod_topology_spread.defaulting == framework::SpreadDefaulting::kSystem) {
    api::TopologySpreadConstraint host;
    host.max_skew = 3;
    host.topology_key = kHost;
    host.when_unsatisfiable = "ScheduleAnyway";
    api::TopologySpreadConstraint zone = host;
    zone.max_skew = 5;
    zone.topology_key = "topology.kubernetes.io/zone";
    defaults = {host, zone};
  }
  for (const auto& constraint : defaults) {
    if (constraint.when_unsatisfiable == action) all.push_back({constraint, api::Selector::FromMap(merged)});
  }
  return all;
}

bool HasAllKeys(const api::Node& node, const std::vector<NaiveConstraint>& constraints) {
  return std::ranges::all_of(constraints, [&](const NaiveConstraint& constraint) {
    return ValueOf(node, constraint.written.topology_key).has_value();
  });
}

bool IsEligible(const api::Node& node, const NaiveConstraint& constraint, const api::PodRecord& pod) {
  const api::PodSpec& spec = pod.spec->spec;
  if (constraint.written.node_affinity_policy.value_or("Honor") == "Honor" &&
      !api::RequiredNodeAffinity(spec.node_selector, spec.affinity)
           .Matches(node.metadata.name, node.metadata.labels)) {
    return false;
  }
  return constraint.written.node_taints_policy.value_or("Ignore") == "Ignore" ||
         api::FindUntolerated(*spec.tolerations, node.spec.taints, api::kHardEffects, false) == nullptr;
}

int Matches(const NaiveTopology& world, const api::Node& node, const NaiveConstraint& constraint,
            const api::PodRecord& pod) {
  if (constraint.selector.matches_everything()) return 0;
  int count = 0;
  for (const auto& placed : world.pods) {
    if (placed.trial != 0 || placed.node != node.metadata.name) continue;
    if (placed.pod->namespace_ != pod.namespace_ || placed.pod->deletion_timestamp) continue;
    if (constraint.selector.Matches(placed.pod->labels)) ++count;
  }
  return count;
}

using CountByValue = std::map<std::string, int>;

std::vector<CountByValue> HardCounts(const NaiveTopology& world,
                                     const std::vector<NaiveConstraint>& constraints,
                                     const api::PodRecord& pod) {
  std::vector<CountByValue> counts(constraints.size());
  for (const auto& node : world.nodes) {
    if (!HasAllKeys(*node, constraints)) continue;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      if (!IsEligible(*node, constraints[i], pod)) continue;
      counts[i][*ValueOf(*node, constraints[i].written.topology_key)] +=
          Matches(world, *node, constraints[i], pod);
    }
  }
  for (const auto& placed : world.pods) {
    const api::Node* node = Find(world, placed.node);
    if (placed.trial == 0 || node == nullptr || !HasAllKeys(*node, constraints)) continue;
    if (placed.pod->namespace_ != pod.namespace_) continue;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      if (!IsEligible(*node, constraints[i], pod)) continue;
      if (!constraints[i].selector.Matches(placed.pod->labels)) continue;
      counts[i][*ValueOf(*node, constraints[i].written.topology_key)] += placed.trial;
    }
  }
  return counts;
}

std::string RefusalBySpread(const api::Node& node, const std::vector<NaiveConstraint>& constraints,
                            const std::vector<CountByValue>& counts, const api::PodRecord& pod) {
  const std::string words = "node(s) didn't match pod topology spread constraints";
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const auto& written = constraints[i].written;
    const auto value = ValueOf(node, written.topology_key);
    if (!value) return "UnschedulableAndUnresolvable: " + words + " (missing required label)";
    int min = std::numeric_limits<int>::max();
    for (const auto& [domain, count] : counts[i]) min = std::min(min, count);
    if (static_cast<int>(counts[i].size()) < written.min_domains.value_or(1)) min = 0;
    const int self = constraints[i].selector.Matches(pod.labels) ? 1 : 0;
    const auto count = counts[i].find(*value);
    if ((count == counts[i].end() ? 0 : count->second) + self - min > written.max_skew) {
      return "Unschedulable: " + words;
    }
  }
  return "";
}

// Raw scores, without the nodes that are ignored.
std::map<std::string, std::int64_t> SpreadScores(const NaiveTopology& world,
                                                 const std::vector<NaiveConstraint>& constraints,
                                                 const std::vector<const api::Node*>& feasible,
                                                 const api::PodRecord& pod, bool require_all) {
  std::vector<CountByValue> counts(constraints.size());
  std::size_t ignored = 0;
  for (const api::Node* node : feasible) {
    if (require_all && !HasAllKeys(*node, constraints)) {
      ++ignored;
      continue;
    }
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      if (constraints[i].written.topology_key == kHost) continue;
      counts[i][ValueOf(*node, constraints[i].written.topology_key).value_or("")] = 0;
    }
  }
  std::vector<double> weights;
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const bool by_host = constraints[i].written.topology_key == kHost;
    weights.push_back(
        std::log(static_cast<double>((by_host ? feasible.size() - ignored : counts[i].size()) + 2)));
  }
  for (const auto& node : world.nodes) {
    if (require_all && !HasAllKeys(*node, constraints)) continue;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      const auto domain = counts[i].find(ValueOf(*node, constraints[i].written.topology_key).value_or(""));
      if (domain == counts[i].end() || !IsEligible(*node, constraints[i], pod)) continue;
      domain->second += Matches(world, *node, constraints[i], pod);
    }
  }
  std::map<std::string, std::int64_t> scores;
  for (const api::Node* node : feasible) {
    if (require_all && !HasAllKeys(*node, constraints)) continue;
    double score = 0;
    for (std::size_t i = 0; i < constraints.size(); ++i) {
      const std::string& key = constraints[i].written.topology_key;
      const auto value = ValueOf(*node, key);
      if (!value) continue;
      const int count = key == kHost ? Matches(world, *node, constraints[i], pod) : counts[i][*value];
      score += count * weights[i] + (constraints[i].written.max_skew - 1);
    }
    scores[node->metadata.name] = static_cast<std::int64_t>(std::round(score));
  }
  return scores;
}

std::vector<const api::Node*> Feasible(const NaiveTopology& world, const Answer& answer,
                                       const TopologyHarness::Question& question) {
  std::vector<const api::Node*> feasible;
  for (const auto& node : world.nodes) {
    const std::string& name = node->metadata.name;
    if (!answer.refused.contains(name) && !question.infeasible.contains(name)) feasible.push_back(node.get());
  }
  return feasible;
}

struct AffinityTerm {
  api::PodAffinityTerm written;
  int weight = 0;
};

struct AffinityTerms {
  std::vector<AffinityTerm> affinity, anti_affinity, preferred, preferred_anti;
};

AffinityTerms TermsOf(const api::PodRecord& pod) {
  AffinityTerms terms;
  const auto& affinity = pod.spec->spec.affinity;
  const auto read = [](const auto& rules, auto& required, auto& preferred) {
    if (!rules) return;
    for (const auto& term : rules->required_during_scheduling_ignored_during_execution) {
      required.push_back({term, 0});
    }
    for (const auto& term : rules->preferred_during_scheduling_ignored_during_execution) {
      preferred.push_back({term.pod_affinity_term, term.weight});
    }
  };
  if (affinity) read(affinity->pod_affinity, terms.affinity, terms.preferred);
  if (affinity) read(affinity->pod_anti_affinity, terms.anti_affinity, terms.preferred_anti);
  return terms;
}

enum class Side { kIncoming, kExistingPods };

// A term of an incoming pod resolves its namespace selector to known namespaces; for a term of a running pod
// an unknown namespace is one without labels.
bool TermMatches(const NaiveTopology& world, const AffinityTerm& term, const api::PodRecord& owner, Side side,
                 const api::PodRecord& pod) {
  const auto& written = term.written;
  if (!api::Selector::Compile(written.label_selector)->Matches(pod.labels)) return false;
  if (written.namespaces.empty() && !written.namespace_selector) return pod.namespace_ == owner.namespace_;
  if (std::ranges::find(written.namespaces, pod.namespace_) != written.namespaces.end()) return true;
  const api::Selector selector = *api::Selector::Compile(written.namespace_selector);
  const auto known = world.namespaces.find(pod.namespace_);
  if (side == Side::kIncoming && !selector.matches_everything() && known == world.namespaces.end())
    return false;
  return selector.Matches(known == world.namespaces.end() ? api::StringMap() : known->second);
}

// Per topology pair, as upstream's maps: entries that came to zero are gone, but for sums.
struct AffinityCounts {
  std::map<Domain, int> near, anti, existing;
  std::map<Domain, std::int64_t> sums;
  bool matches_itself = false;
};

AffinityCounts CountAffinity(const NaiveTopology& world, const api::PodRecord& pod,
                             const AffinityTerms& own) {
  AffinityCounts counts;
  const auto all_match = [&](const api::PodRecord& other) {
    return !own.affinity.empty() && std::ranges::all_of(own.affinity, [&](const AffinityTerm& term) {
      return TermMatches(world, term, pod, Side::kIncoming, other);
    });
  };
  counts.matches_itself = all_match(pod);
  const std::int64_t hard = world.args.inter_pod_affinity.hard_pod_affinity_weight;
  for (const NaiveTopology::Placed& placed : world.pods) {
    const api::Node* node = Find(world, placed.node);
    if (node == nullptr) continue;
    const api::PodRecord& other = *placed.pod;
    const AffinityTerms theirs = TermsOf(other);
    const int count = placed.trial == 0 ? 1 : placed.trial;
    const auto add = [&](auto& map, const AffinityTerm& term, auto amount) {
      const auto value = ValueOf(*node, term.written.topology_key);
      if (value) map[{term.written.topology_key, *value}] += amount;
    };
    const auto concerns = [&](const AffinityTerm& term) {
      return TermMatches(world, term, other, Side::kExistingPods, pod);
    };
    const auto matches = [&](const AffinityTerm& term) {
      return TermMatches(world, term, pod, Side::kIncoming, other);
    };
    for (const auto& term : theirs.anti_affinity) {
      if (concerns(term)) add(counts.existing, term, count);
    }
    for (const auto& term : own.affinity) {
      if (all_match(other)) add(counts.near, term, count);
    }
    for (const auto& term : own.anti_affinity) {
      if (matches(term)) add(counts.anti, term, count);
    }
    const auto score = [&](const std::vector<AffinityTerm>& terms, const auto& applies, auto&& weight_of) {
      for (const AffinityTerm& term : terms) {
        if (applies(term)) add(counts.sums, term, weight_of(term));
      }
    };
    const auto plus = [](const AffinityTerm& term) { return std::int64_t{term.weight}; };
    const auto minus = [](const AffinityTerm& term) { return -std::int64_t{term.weight}; };
    score(own.preferred, matches, plus);
    score(own.preferred_anti, matches, minus);
    if (hard > 0) score(theirs.affinity, concerns, [&](const AffinityTerm&) { return hard; });
    score(theirs.preferred, concerns, plus);
    score(theirs.preferred_anti, concerns, minus);
  }
  for (auto* map : {&counts.near, &counts.anti, &counts.existing}) {
    std::erase_if(*map, [](const auto& entry) { return entry.second == 0; });
  }
  return counts;
}

std::string RefusalByAffinity(const api::Node& node, const AffinityTerms& own, const AffinityCounts& counts) {
  const auto present = [&](const std::map<Domain, int>& map, const std::string& key) {
    const auto value = ValueOf(node, key);
    const auto entry = value ? map.find({key, *value}) : map.end();
    return entry != map.end() && entry->second > 0;
  };
  bool has_keys = true;
  bool is_near = true;
  for (const auto& term : own.affinity) {
    has_keys = has_keys && ValueOf(node, term.written.topology_key);
    is_near = is_near && present(counts.near, term.written.topology_key);
  }
  if (!has_keys || (!is_near && !(counts.near.empty() && counts.matches_itself))) {
    return "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules";
  }
  for (const auto& term : own.anti_affinity) {
    if (present(counts.anti, term.written.topology_key)) {
      return "Unschedulable: node(s) didn't match pod anti-affinity rules";
    }
  }
  for (const auto& [key, value] : node.metadata.labels) {
    if (present(counts.existing, key)) {
      return "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules";
    }
  }
  return "";
}

}  // namespace

NaiveTopology NaiveTopology::Of(const cluster::Cluster& cluster) {
  NaiveTopology world;
  cluster.nodes().existing().ForEach([&](std::size_t bit) {
    const cluster::NodeRow row(static_cast<std::uint32_t>(bit));
    world.nodes.push_back(cluster.nodes().object(row));
    for (const cluster::PodSlot pod : cluster.nodes().pods(row)) {
      world.pods.push_back({cluster.pods().facts(pod).record, std::string(cluster.nodes().name(row))});
    }
  });
  return world;
}

Answer NaiveTopology::Spread(const api::PodRecord& pod, const TopologyHarness::Question& question) const {
  Answer answer;
  const auto hard = ConstraintsOf(*this, pod, "DoNotSchedule");
  if (hard.empty()) answer.pre_filter = framework::Status::Skip();
  const auto counts = HardCounts(*this, hard, pod);
  for (const auto& node : nodes) {
    const std::string refusal = RefusalBySpread(*node, hard, counts, pod);
    if (!refusal.empty()) answer.refused[node->metadata.name] = refusal;
  }
  answer.pre_score = framework::Status::Skip();
  const auto soft = ConstraintsOf(*this, pod, "ScheduleAnyway");
  const auto feasible = Feasible(*this, answer, question);
  if (!question.score || soft.empty() || feasible.empty()) return answer;
  answer.pre_score = {};
  const bool require_all = !pod.spec->spec.topology_spread_constraints.empty() ||
                           args.pod_topology_spread.defaulting != framework::SpreadDefaulting::kSystem;
  answer.raw = SpreadScores(*this, soft, feasible, pod, require_all);
  std::int64_t lo = std::numeric_limits<std::int64_t>::max();
  std::int64_t hi = 0;
  for (const auto& [name, raw] : answer.raw) {
    lo = std::min(lo, raw);
    hi = std::max(hi, raw);
  }
  for (const api::Node* node : feasible) {
    const auto raw = answer.raw.find(node->metadata.name);
    std::int64_t& score = answer.scores[node->metadata.name];
    if (raw != answer.raw.end()) score = hi == 0 ? 100 : 100 * (hi + lo - raw->second) / hi;
  }
  return answer;
}

Answer NaiveTopology::Affinity(const api::PodRecord& pod, const TopologyHarness::Question& question) const {
  const AffinityTerms own = TermsOf(pod);
  const AffinityCounts counts = CountAffinity(*this, pod, own);
  Answer answer;
  if (counts.existing.empty() && own.affinity.empty() && own.anti_affinity.empty()) {
    answer.pre_filter = framework::Status::Skip();
  }
  for (const auto& node : nodes) {
    const std::string refusal = RefusalByAffinity(*node, own, counts);
    if (!refusal.empty()) answer.refused[node->metadata.name] = refusal;
  }

  answer.pre_score = framework::Status::Skip();
  const auto feasible = Feasible(*this, answer, question);
  const bool has_preferred = !own.preferred.empty() || !own.preferred_anti.empty();
  if (args.inter_pod_affinity.ignore_preferred_terms_of_existing_pods && !has_preferred) return answer;
  if (!question.score || feasible.empty() || counts.sums.empty()) return answer;
  answer.pre_score = {};
  for (const api::Node* node : feasible) {
    std::int64_t& raw = answer.raw[node->metadata.name];
    for (const auto& [pair, sum] : counts.sums) {
      if (ValueOf(*node, pair.first) == pair.second) raw += sum;
    }
  }
  const auto by_raw = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [lo, hi] = std::ranges::minmax_element(answer.raw, by_raw);
  for (const auto& [name, raw] : answer.raw) {
    answer.scores[name] = 0;
    if (hi->second == lo->second) continue;
    const double share = static_cast<double>(raw - lo->second) / static_cast<double>(hi->second - lo->second);
    answer.scores[name] = static_cast<std::int64_t>(100.0 * share);
  }
  return answer;
}

}  // namespace berth::plugins::test
