#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/string_map.h"
#include "cluster/cluster.h"

namespace berth::cluster::test {

// The cluster as a beginner would write it: maps of objects, everything counted anew when asked. The indexes
// may be clever only because this agrees with them.
struct NaiveModel {
  struct Pod {
    PodRecordRef record;
    PodState state = PodState::kPending;
    std::string node;
  };

  std::map<std::string, NodeRef> nodes;
  std::map<std::string, Pod> pods;  // by uid
  std::map<std::string, api::StringMap> namespaces;
  std::vector<std::pair<std::string, std::string>> nominations;              // uid, node, in order
  std::vector<std::pair<std::string, std::vector<std::string>>> zone_lists;  // zone key, node names

  void SetNode(const NodeRef& node);
  void RemoveNode(const std::string& name);
  std::vector<std::string> NodeOrder() const;
  void ClearNomination(const std::string& uid);

  // A question that the cluster answers by a counter and a tally.
  struct Question {
    std::vector<PodCondition> conditions;
    CountRules rules;
    std::string topology_key;
    // Only nodes with this label count; no name: all nodes do.
    std::string eligible_label;
  };
  bool Matches(const PodCondition& condition, const api::PodRecord& pod) const;
  bool Counts(const Question& question, const api::PodRecord& pod) const;
  std::map<std::string, int> CountPerNode(const Question& question) const;
  // Every domain that has an eligible node, also those without pods.
  std::map<std::string, int> CountPerDomain(const Question& question) const;

  // Existing pods' terms that concern a pod: (kind, weight, key, value) to how many carry it there.
  using TermKey = std::tuple<TermKind, std::int32_t, std::string, std::string>;
  std::map<TermKey, int> TermsConcerning(const api::PodRecord& pod) const;
};

// The first difference in words, nothing if there is none.
std::optional<std::string> DifferenceInNodes(const Cluster& cluster, const NaiveModel& model);
std::optional<std::string> DifferenceInPods(const Cluster& cluster, const NaiveModel& model);
std::optional<std::string> DifferenceInTerms(const Cluster& cluster, const NaiveModel& model);
std::optional<std::string> DifferenceInTally(const Cluster& cluster, const NaiveModel& model,
                                             const NaiveModel::Question& question, TallyId tally);

// A counter and tally for the question.
TallyId Ask(Cluster& cluster, const NaiveModel::Question& question, std::uint64_t step);

}  // namespace berth::cluster::test
