#include "cluster/naive_model.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>

#include "api/pod_requests.h"
#include "api/resource_vector.h"

namespace berth::cluster::test {
namespace {

const api::StringMap kNoLabels;

std::optional<std::string> LabelOf(const api::Node& node, const std::string& key) {
  const std::string* value = node.metadata.labels.find(key);
  return value != nullptr ? std::optional(*value) : std::nullopt;
}

}  // namespace

void NaiveModel::SetNode(const NodeRef& node) {
  const std::string& name = node->metadata.name;
  const std::string zone = ZoneKey(node->metadata.labels);
  const auto old = nodes.find(name);
  if (old == nodes.end() || ZoneKey(old->second->metadata.labels) != zone) {
    if (old != nodes.end()) RemoveNode(name);
    auto list = std::ranges::find(zone_lists, zone, [](const auto& entry) { return entry.first; });
    if (list == zone_lists.end()) list = zone_lists.insert(zone_lists.end(), {zone, {}});
    list->second.push_back(name);
  }
  nodes[name] = node;
}

void NaiveModel::RemoveNode(const std::string& name) {
  nodes.erase(name);
  for (auto& [zone, names] : zone_lists) std::erase(names, name);
  std::erase_if(zone_lists, [](const auto& entry) { return entry.second.empty(); });
}

std::vector<std::string> NaiveModel::NodeOrder() const {
  std::vector<std::string> order;
  for (std::size_t i = 0; order.size() < nodes.size(); ++i) {
    for (const auto& [zone, names] : zone_lists) {
      if (i < names.size()) order.push_back(names[i]);
    }
  }
  return order;
}

void NaiveModel::ClearNomination(const std::string& uid) {
  std::erase_if(nominations, [&](const auto& entry) { return entry.first == uid; });
}

bool NaiveModel::Matches(const PodCondition& condition, const api::PodRecord& pod) const {
  if (!condition.selector.Matches(pod.labels)) return false;
  if (std::ranges::find(condition.namespaces, pod.namespace_) != condition.namespaces.end()) return true;
  if (condition.namespace_selector.matches_everything()) return true;
  const auto known = namespaces.find(pod.namespace_);
  if (known != namespaces.end()) return condition.namespace_selector.Matches(known->second);
  return condition.unknown == UnknownNamespace::kHasNoLabels &&
         condition.namespace_selector.Matches(kNoLabels);
}

bool NaiveModel::Counts(const Question& question, const api::PodRecord& pod) const {
  if (question.rules.skip_terminating && pod.deletion_timestamp) return false;
  if (question.rules.everything_is_zero && question.conditions.size() == 1 &&
      question.conditions.front().selector.matches_everything()) {
    return false;
  }
  return std::ranges::all_of(question.conditions,
                             [&](const PodCondition& condition) { return Matches(condition, pod); });
}

std::map<std::string, int> NaiveModel::CountPerNode(const Question& question) const {
  std::map<std::string, int> counts;
  for (const auto& [uid, pod] : pods) {
    if (pod.state != PodState::kPending && Counts(question, *pod.record)) ++counts[pod.node];
  }
  return counts;
}

std::map<std::string, int> NaiveModel::CountPerDomain(const Question& question) const {
  std::map<std::string, int> per_node = CountPerNode(question);
  std::map<std::string, int> counts;
  for (const auto& [name, node] : nodes) {
    const auto value = LabelOf(*node, question.topology_key);
    if (!value) continue;
    if (!question.eligible_label.empty() && !LabelOf(*node, question.eligible_label)) continue;
    counts[*value] += per_node[name];
  }
  return counts;
}

std::map<NaiveModel::TermKey, int> NaiveModel::TermsConcerning(const api::PodRecord& pod) const {
  std::map<TermKey, int> found;
  for (const auto& [uid, other] : pods) {
    const auto node = nodes.find(other.node);
    if (other.state == PodState::kPending || node == nodes.end()) continue;
    const auto& affinity = other.record->spec->spec.affinity;
    if (!affinity) continue;
    const auto look = [&](TermKind kind, std::int32_t weight, const api::PodAffinityTerm& term) {
      const auto value = LabelOf(*node->second, term.topology_key);
      const auto condition = ConditionOf(term, other.record->namespace_, UnknownNamespace::kHasNoLabels);
      if (value && condition && Matches(*condition, pod)) ++found[{kind, weight, term.topology_key, *value}];
    };
    const auto look_at = [&](const auto& rules, TermKind required, TermKind preferred) {
      if (!rules) return;
      for (const auto& term : rules->required_during_scheduling_ignored_during_execution)
        look(required, 0, term);
      for (const auto& term : rules->preferred_during_scheduling_ignored_during_execution) {
        look(preferred, term.weight, term.pod_affinity_term);
      }
    };
    look_at(affinity->pod_affinity, TermKind::kRequiredAffinity, TermKind::kPreferredAffinity);
    look_at(affinity->pod_anti_affinity, TermKind::kRequiredAntiAffinity, TermKind::kPreferredAntiAffinity);
  }
  return found;
}

std::optional<std::string> DifferenceInNodes(const Cluster& cluster, const NaiveModel& model) {
  std::vector<std::string> order;
  for (const NodeRow row : cluster.NodeOrder()) order.emplace_back(cluster.nodes().name(row));
  if (order != model.NodeOrder()) return fmt::format("order {} is not {}", order, model.NodeOrder());
  if (cluster.nodes().existing_count() != model.nodes.size()) return "number of nodes";

  std::map<std::string, api::ResourceVector> requested;
  std::map<std::string, std::map<std::int32_t, std::pair<int, std::int64_t>>> by_priority;
  std::map<std::string, int> pod_count;
  std::map<std::string, std::int64_t> non_zero;
  std::map<std::string, std::map<std::string, std::uint32_t>> ports;
  for (const auto& [uid, pod] : model.pods) {
    if (pod.state == PodState::kPending) continue;
    const auto assigned = api::AssignedPodRequests(api::PodResourceView(*pod.record), {});
    requested[pod.node].Add(assigned.requests);
    non_zero[pod.node] += assigned.non_zero_milli_cpu + assigned.non_zero_memory;
    ++pod_count[pod.node];
    auto& level = by_priority[pod.node][pod.record->spec->spec.priority.value_or(0)];
    ++level.first;
    level.second += assigned.requests.milli_cpu;
    for (const HostPort& port : HostPortsOf(pod.record->spec->spec)) {
      ++ports[pod.node][fmt::format("{}/{}/{}", port.ip, port.protocol, port.port)];
    }
  }
  for (const auto& [name, node] : model.nodes) requested[name];
  for (const auto& [name, want] : requested) {
    const NodeRow row = cluster.nodes().Find(name);
    if (!row.IsValid()) return name + " has no row";
    if (cluster.nodes().exists(row) != model.nodes.contains(name)) return name + " exists";
    const std::size_t i = row.index();
    const NodeTable& table = cluster.nodes();
    if (table.requested(kCpu)[i] != want.milli_cpu) return name + " cpu";
    if (table.requested(kMemory)[i] != want.memory) return name + " memory";
    for (const auto& [resource, amount] : want.scalars) {
      const ResourceId id = cluster.resources().Find(resource);
      if (!id.IsValid() || table.requested(id)[i] != amount) return name + " " + resource;
    }
    if (table.non_zero_milli_cpu()[i] + table.non_zero_memory()[i] != non_zero[name])
      return name + " non-zero";
    if (table.pod_count()[i] != pod_count[name]) return name + " pod count";
    if (static_cast<int>(table.pods(row).size()) != pod_count[name]) return name + " pods";
    std::map<std::int32_t, std::pair<int, std::int64_t>> levels;
    for (const PriorityUse& use : table.by_priority(row))
      levels[use.priority] = {use.pod_count, use.milli_cpu};
    if (levels != by_priority[name]) return name + " by priority";
    std::map<std::string, std::uint32_t> used;
    for (const PortUse& use : table.ports(row)) {
      const HostPort& port = cluster.ports().Get(use.port);
      used[fmt::format("{}/{}/{}", port.ip, port.protocol, port.port)] = use.count;
    }
    if (used != ports[name] || table.with_ports().Test(i) == used.empty()) return name + " ports";
  }
  std::map<std::string, std::size_t> images;
  for (const auto& [name, node] : model.nodes) {
    std::map<std::string, bool> own;
    for (const auto& image : node->status.images) own[image->names.front()] = true;
    for (const auto& [image, there] : own) ++images[image];
  }
  if (images.size() != cluster.images().size()) return "number of images";
  for (const auto& [image, count] : images) {
    const ImageId id = cluster.images().Find(image);
    if (!id.IsValid() || cluster.images().NodeCount(id) != count) return "nodes with image " + image;
  }
  return std::nullopt;
}

std::optional<std::string> DifferenceInPods(const Cluster& cluster, const NaiveModel& model) {
  if (cluster.pods().size() != model.pods.size()) return "number of pods";
  std::map<std::string, std::int32_t> claims;
  for (const auto& [uid, pod] : model.pods) {
    const PodSlot slot = cluster.pods().Find(uid);
    if (!slot.IsValid()) return uid + " is missing";
    if (cluster.pods().Find(pod.record->namespace_, pod.record->name) != slot) return uid + " by name";
    if (cluster.pods().facts(slot).record != pod.record) return uid + " record";
    if (cluster.pods().state(slot) != pod.state) return uid + " state";
    const NodeRow row = cluster.pods().row(slot);
    if (row.IsValid() != (pod.state != PodState::kPending)) return uid + " placed";
    if (row.IsValid() && cluster.nodes().name(row) != pod.node) return uid + " node";
    for (const std::string& claim : pod.record->claims().volume_claim_names) {
      claims[pod.record->namespace_.str() + "/" + claim] += pod.state != PodState::kPending ? 1 : 0;
    }
  }
  for (const auto& [claim, count] : claims) {
    const ClaimId id = cluster.pods().FindClaim(claim);
    if (!id.IsValid() || cluster.pods().ClaimUse(id) != count) return "claim " + claim;
  }
  std::map<std::string, std::vector<std::string>> want;
  for (const auto& [uid, node] : model.nominations) want[node].push_back(uid);
  std::map<std::string, std::vector<std::string>> have;
  cluster.nominator().ForEachNode([&](NodeNameId node, std::span<const PodSlot> slots) {
    for (const PodSlot slot : slots) {
      have[std::string(cluster.nodes().NameText(node))].push_back(cluster.pods().record(slot).uid);
    }
  });
  if (have != want) return fmt::format("nominations {} are not {}", have, want);
  return std::nullopt;
}

std::optional<std::string> DifferenceInTerms(const Cluster& cluster, const NaiveModel& model) {
  for (const auto& [uid, pod] : model.pods) {
    std::map<NaiveModel::TermKey, int> have;
    const PodClassId pod_class = cluster.pods().facts(cluster.pods().Find(uid)).pod_class;
    cluster.terms().ForEachConcerning(pod_class, [&](TermId id, const Term& term) {
      cluster.terms().carriers(id).ForEachNonZero([&](DomainId domain, std::int32_t count) {
        const auto value = cluster.labels().ValueText(cluster.topology().value(term.key, domain));
        have[{term.kind, term.weight, std::string(cluster.topology().KeyText(term.key)),
              std::string(value)}] += count;
      });
    });
    const auto want = model.TermsConcerning(*pod.record);
    if (have != want)
      return fmt::format("terms concerning {}: {} instead of {}", uid, have.size(), want.size());
  }
  return std::nullopt;
}

std::optional<std::string> DifferenceInTally(const Cluster& cluster, const NaiveModel& model,
                                             const NaiveModel::Question& question, TallyId tally) {
  const CounterTable& counters = cluster.counters();
  const CounterId counter = counters.counter(tally);
  std::map<std::string, int> per_node = model.CountPerNode(question);
  std::int64_t total = 0;
  for (std::uint32_t i = 0; i < cluster.nodes().row_count(); ++i) {
    const NodeRow row(i);
    const std::string name(cluster.nodes().IsLive(row) ? cluster.nodes().name(row) : "");
    const int want = per_node.contains(name) ? per_node[name] : 0;
    if (counters.CountOnNode(counter, row) != want) return fmt::format("count on node {}", name);
    if (cluster.nodes().exists(row)) total += want;
  }
  if (counters.Total(counter) != total) return "total";

  const auto want = model.CountPerDomain(question);
  if (counters.DomainCount(tally) != want.size()) {
    return fmt::format("{} domains instead of {}", counters.DomainCount(tally), want.size());
  }
  int lowest = want.empty() ? 0 : std::numeric_limits<int>::max();
  const TopologyKeyId key = counters.topology_key(tally);
  for (const auto& [value, count] : want) {
    const DomainId domain = cluster.topology().FindDomain(key, cluster.labels().FindValue(value));
    if (!domain.IsValid() || !counters.HasEligibleNode(tally, domain)) return "domain " + value;
    if (counters.CountInDomain(tally, domain) != count) return "count in domain " + value;
    lowest = std::min(lowest, count);
  }
  int outside = 0;
  for (const auto& [name, node] : model.nodes) {
    const bool eligible = question.eligible_label.empty() || LabelOf(*node, question.eligible_label);
    if (eligible && !LabelOf(*node, question.topology_key)) outside += per_node[name];
  }
  if (counters.tally(tally).outside() != outside) return "count outside of domains";
  if (counters.MinCount(tally) != lowest) {
    return fmt::format("minimum {} instead of {}", counters.MinCount(tally), lowest);
  }
  return std::nullopt;
}

TallyId Ask(Cluster& cluster, const NaiveModel::Question& question, std::uint64_t step) {
  const CounterId counter = cluster.UseCounter(question.conditions, question.rules, step);
  EligibilityId eligibility;
  if (!question.eligible_label.empty()) {
    eligibility = cluster.UseEligibility(
        question.eligible_label,
        [&cluster, label = question.eligible_label](NodeRow row) {
          return cluster.labels().Text(cluster.nodes().label_set()[row.index()], label).has_value();
        },
        step);
  }
  return cluster.UseTally(counter, question.topology_key, eligibility, step);
}

}  // namespace berth::cluster::test
