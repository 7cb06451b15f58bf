#include <algorithm>
#include <string>
#include <vector>

#include "plugins/hint_objects.h"
#include "plugins/inter_pod_affinity.h"

// What may wake a pod that InterPodAffinity rejected. Terms are evaluated as written, without the labels of
// namespaces: a pod that only a namespace selector reaches waits for another event.
namespace berth::plugins {
namespace {

using framework::Hint;
using framework::HintInput;

struct HintTerm {
  cluster::PodCondition condition;
  std::string_view topology_key;
};
using HintTerms = std::vector<HintTerm>;

base::Result<HintTerms> Compile(const api::PodRecord& owner, const std::vector<api::PodAffinityTerm>* terms) {
  HintTerms compiled;
  if (terms == nullptr) return compiled;
  for (const api::PodAffinityTerm& term : *terms) {
    auto condition = cluster::ConditionOf(term, owner.namespace_, cluster::UnknownNamespace::kHasNoLabels);
    if (!condition) return std::unexpected(condition.error());
    compiled.push_back({std::move(*condition), term.topology_key});
  }
  return compiled;
}

base::Result<HintTerms> AffinityOf(const api::PodRecord& pod) {
  const auto& affinity = pod.spec->spec.affinity;
  return Compile(pod, affinity && affinity->pod_affinity
                          ? &affinity->pod_affinity->required_during_scheduling_ignored_during_execution
                          : nullptr);
}

base::Result<HintTerms> AntiAffinityOf(const api::PodRecord& pod) {
  const auto& affinity = pod.spec->spec.affinity;
  return Compile(pod, affinity && affinity->pod_anti_affinity
                          ? &affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution
                          : nullptr);
}

bool Matches(const HintTerm& term, const api::PodRecord& pod) {
  static const api::StringMap kNoLabels;
  const cluster::PodCondition& condition = term.condition;
  return (std::ranges::find(condition.namespaces, pod.namespace_) != condition.namespaces.end() ||
          condition.namespace_selector.Matches(kNoLabels)) &&
         condition.selector.Matches(pod.labels ? *pod.labels : kNoLabels);
}

bool MatchesAll(const HintTerms& terms, const api::PodRecord& pod) {
  return !terms.empty() && std::ranges::all_of(terms, [&](const auto& term) { return Matches(term, pod); });
}

bool MatchesAny(const HintTerms& terms, const api::PodRecord& pod) {
  return std::ranges::any_of(terms, [&](const auto& term) { return Matches(term, pod); });
}

bool IsPlaced(const api::PodRecord& pod) {
  return !pod.node_name.empty() || !pod.nominated_node_name.empty();
}

// A pod that meets its own terms may be the first of its kind anywhere, once no pod that meets them is left:
// so the last such pod may be in its way. kube-scheduler does not see that (docs/differences.md).
bool MayBecomeTheFirst(const HintTerms& affinity, const api::PodRecord& pod, const api::PodRecord& gone) {
  return MatchesAll(affinity, gone) && MatchesAll(affinity, pod);
}

base::Result<Hint> AffinityAfterAssignedPod(const HintInput& input) {
  const auto objects = ObjectsOf<api::PodRecord>(input);
  if (!objects) return std::unexpected(objects.error());
  const auto [before, after] = *objects;
  if ((after != nullptr && !IsPlaced(*after)) || (before != nullptr && !IsPlaced(*before))) {
    return Hint::kQueueSkip;
  }
  const auto affinity = AffinityOf(input.record());
  if (!affinity) return std::unexpected(affinity.error());
  const auto anti_affinity = AntiAffinityOf(input.record());
  if (!anti_affinity) return std::unexpected(anti_affinity.error());
  if (before != nullptr && after != nullptr) {
    return QueueIf((!MatchesAll(*affinity, *before) && MatchesAll(*affinity, *after)) ||
                   (MatchesAny(*anti_affinity, *before) && !MatchesAny(*anti_affinity, *after)) ||
                   (!MatchesAll(*affinity, *after) && MayBecomeTheFirst(*affinity, input.record(), *before)));
  }
  if (after != nullptr) return QueueIf(MatchesAll(*affinity, *after));
  if (MatchesAny(*anti_affinity, *before)) return Hint::kQueue;
  if (MayBecomeTheFirst(*affinity, input.record(), *before)) return Hint::kQueue;
  const auto of_deleted = AntiAffinityOf(*before);
  if (!of_deleted) return std::unexpected(of_deleted.error());
  return QueueIf(MatchesAny(*of_deleted, input.record()));
}

base::Result<Hint> AffinityAfterNode(const HintInput& input) {
  const auto objects = ChangedObjectsOf<api::Node>(input);
  if (!objects) return std::unexpected(objects.error());
  const auto [before, after] = *objects;
  const auto value = [](const api::Node* node, std::string_view key) {
    return node != nullptr ? node->metadata.labels.find(key) : nullptr;
  };
  const auto moved = [](const std::string* from, const std::string* to) {
    return from != nullptr && to != nullptr && *from != *to;
  };
  const auto affinity = AffinityOf(input.record());
  if (!affinity) return std::unexpected(affinity.error());
  for (const HintTerm& term : *affinity) {
    const std::string* from = value(before, term.topology_key);
    const std::string* to = value(after, term.topology_key);
    if ((from == nullptr && to != nullptr) || moved(from, to)) return Hint::kQueue;
    // Pods that met the terms are in no domain any more: the pod may be the first of its kind.
    if (from != nullptr && to == nullptr && MatchesAll(*affinity, input.record())) return Hint::kQueue;
  }
  const auto anti_affinity = AntiAffinityOf(input.record());
  if (!anti_affinity) return std::unexpected(anti_affinity.error());
  for (const HintTerm& term : *anti_affinity) {
    const std::string* from = value(before, term.topology_key);
    const std::string* to = value(after, term.topology_key);
    if (before == nullptr || (from != nullptr && to == nullptr) || moved(from, to)) return Hint::kQueue;
  }
  return Hint::kQueueSkip;
}

}  // namespace

std::vector<framework::EventRegistration> InterPodAffinity::EventsToRegister() const {
  using framework::EventResource;
  return {
      {{EventResource::kAssignedPod, framework::kAdd | framework::kUpdatePodLabel | framework::kDelete},
       AffinityAfterAssignedPod},
      // Other pods' anti-affinity may have been about the old labels.
      {{EventResource::kTargetPod, framework::kUpdatePodLabel},
       [](const HintInput&) -> base::Result<Hint> { return Hint::kQueue; }},
      {{EventResource::kNode, framework::kAdd | framework::kUpdateNodeLabel}, AffinityAfterNode},
  };
}

}  // namespace berth::plugins
