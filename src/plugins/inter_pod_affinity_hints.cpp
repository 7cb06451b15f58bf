#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "plugins/hint_objects.h"
#include "plugins/inter_pod_affinity.h"

// What may wake a pod that InterPodAffinity rejected. Terms are evaluated as written, without the labels of
// namespaces: a pod that only a namespace selector reaches waits for another event.
namespace berth::plugins {

struct HintTerm {
  cluster::PodCondition condition;
  // The condition speaks of the namespace of the term's owner, whichever that is.
  bool in_own_namespace = false;
  std::string_view topology_key;
};
using HintTerms = std::vector<HintTerm>;

// The required terms of templates, compiled. An event may be asked about for thousands of waiting pods, so
// that what is the same for all events is made once. When there are many, all are forgotten: no more is lost
// than time.
class HintTermCache {
 public:
  struct Terms {
    base::Result<HintTerms> affinity;
    base::Result<HintTerms> anti_affinity;
  };
  // Until the next call.
  const Terms& Of(const api::PodRecord& pod);

 private:
  static constexpr std::size_t kTemplatesMax = 16'384;
  struct Entry {
    api::PodTemplateRef spec;  // so that no other template comes to be at the same address
    Terms terms;
  };
  absl::flat_hash_map<const api::PodTemplate*, Entry> entries_;  // looked up, never walked
};

namespace {

using framework::Hint;
using framework::HintInput;

// A term of a pod, and whose it is.
struct Owned {
  const HintTerms& terms;
  const api::PodRecord& owner;
};

base::Result<HintTerms> Compile(const std::vector<api::PodAffinityTerm>* terms) {
  HintTerms compiled;
  if (terms == nullptr) return compiled;
  for (const api::PodAffinityTerm& term : *terms) {
    auto condition = cluster::ConditionOf(term, "", cluster::UnknownNamespace::kHasNoLabels);
    if (!condition) return std::unexpected(condition.error());
    compiled.push_back({.condition = std::move(*condition),
                        .in_own_namespace = term.namespaces.empty() && !term.namespace_selector,
                        .topology_key = term.topology_key});
  }
  return compiled;
}

HintTermCache::Terms CompileBoth(const base::Boxed<api::Affinity>& affinity) {
  return {
      .affinity = Compile(affinity && affinity->pod_affinity
                              ? &affinity->pod_affinity->required_during_scheduling_ignored_during_execution
                              : nullptr),
      .anti_affinity =
          Compile(affinity && affinity->pod_anti_affinity
                      ? &affinity->pod_anti_affinity->required_during_scheduling_ignored_during_execution
                      : nullptr)};
}

bool Matches(const HintTerm& term, const api::PodRecord& owner, const api::PodRecord& pod) {
  static const api::StringMap kNoLabels;
  const cluster::PodCondition& condition = term.condition;
  const bool is_in_scope = term.in_own_namespace ? pod.namespace_ == owner.namespace_
                                                 : std::ranges::find(condition.namespaces, pod.namespace_) !=
                                                           condition.namespaces.end() ||
                                                       condition.namespace_selector.Matches(kNoLabels);
  return is_in_scope && condition.selector.Matches(pod.labels);
}

bool MatchesAll(const Owned& owned, const api::PodRecord& pod) {
  return !owned.terms.empty() &&
         std::ranges::all_of(owned.terms, [&](const auto& term) { return Matches(term, owned.owner, pod); });
}

bool MatchesAny(const Owned& owned, const api::PodRecord& pod) {
  return std::ranges::any_of(owned.terms, [&](const auto& term) { return Matches(term, owned.owner, pod); });
}

bool IsPlaced(const api::PodRecord& pod) {
  return !pod.node_name.empty() || !pod.nominated_node_name.empty();
}

// A pod that meets its own terms may be the first of its kind anywhere, once no pod that meets them is left:
// so the last such pod may be in its way. kube-scheduler does not see that (docs/differences.md).
bool MayBecomeTheFirst(const Owned& affinity, const api::PodRecord& gone) {
  return MatchesAll(affinity, gone) && MatchesAll(affinity, affinity.owner);
}

// Pods of the node that met the terms are in no domain any more: the pod may be the first of its kind.
bool LosesOthers(const HintInput& input, const Owned& affinity, const api::Node& node) {
  const cluster::NodeRow row = input.cluster.nodes().Find(node.metadata.name);
  return row.IsValid() && std::ranges::any_of(input.cluster.nodes().pods(row), [&](cluster::PodSlot pod) {
           return MayBecomeTheFirst(affinity, input.cluster.pods().record(pod));
         });
}

}  // namespace

const HintTermCache::Terms& HintTermCache::Of(const api::PodRecord& pod) {
  if (const auto found = entries_.find(pod.spec.get()); found != entries_.end()) return found->second.terms;
  if (entries_.size() >= kTemplatesMax) entries_.clear();
  return entries_.insert({pod.spec.get(), {pod.spec, CompileBoth(pod.spec->spec.affinity)}})
      .first->second.terms;
}

InterPodAffinity::InterPodAffinity(const framework::PluginSetup& setup)
    : hint_terms_(std::make_unique<HintTermCache>()),
      hard_weight_(setup.args.inter_pod_affinity.hard_pod_affinity_weight),
      ignore_preferred_(setup.args.inter_pod_affinity.ignore_preferred_terms_of_existing_pods),
      hostname_fast_path_(setup.features.inter_pod_affinity_hostname_fast_path) {}

InterPodAffinity::~InterPodAffinity() = default;

base::Result<Hint> InterPodAffinity::AfterAssignedPod(const HintInput& input) const {
  const auto objects = ObjectsOf<api::PodRecord>(input);
  if (!objects) return std::unexpected(objects.error());
  const auto [before, after] = *objects;
  if ((after != nullptr && !IsPlaced(*after)) || (before != nullptr && !IsPlaced(*before))) {
    return Hint::kQueueSkip;
  }
  const auto& [affinity_terms, anti_affinity_terms] = hint_terms_->Of(input.record());
  if (!affinity_terms) return std::unexpected(affinity_terms.error());
  if (!anti_affinity_terms) return std::unexpected(anti_affinity_terms.error());
  const Owned affinity{*affinity_terms, input.record()};
  const Owned anti_affinity{*anti_affinity_terms, input.record()};
  if (before != nullptr && after != nullptr) {
    return QueueIf((!MatchesAll(affinity, *before) && MatchesAll(affinity, *after)) ||
                   (MatchesAny(anti_affinity, *before) && !MatchesAny(anti_affinity, *after)) ||
                   (!MatchesAll(affinity, *after) && MayBecomeTheFirst(affinity, *before)));
  }
  if (after != nullptr) return QueueIf(MatchesAll(affinity, *after));
  if (MatchesAny(anti_affinity, *before)) return Hint::kQueue;
  if (MayBecomeTheFirst(affinity, *before)) return Hint::kQueue;
  const auto& of_deleted = hint_terms_->Of(*before).anti_affinity;
  if (!of_deleted) return std::unexpected(of_deleted.error());
  return QueueIf(MatchesAny({*of_deleted, *before}, input.record()));
}

base::Result<Hint> InterPodAffinity::AfterNode(const HintInput& input) const {
  const auto objects = ChangedObjectsOf<api::Node>(input);
  if (!objects) return std::unexpected(objects.error());
  const auto [before, after] = *objects;
  const auto value = [](const api::Node* node, std::string_view key) {
    return node != nullptr ? node->metadata.labels.find(key) : nullptr;
  };
  const auto moved = [](const std::string* from, const std::string* to) {
    return from != nullptr && to != nullptr && *from != *to;
  };
  const auto& [affinity, anti_affinity] = hint_terms_->Of(input.record());
  if (!affinity) return std::unexpected(affinity.error());
  for (const HintTerm& term : *affinity) {
    const std::string* from = value(before, term.topology_key);
    const std::string* to = value(after, term.topology_key);
    if ((from == nullptr && to != nullptr) || moved(from, to)) return Hint::kQueue;
    if (from != nullptr && to == nullptr && LosesOthers(input, {*affinity, input.record()}, *before)) {
      return Hint::kQueue;
    }
  }
  if (!anti_affinity) return std::unexpected(anti_affinity.error());
  for (const HintTerm& term : *anti_affinity) {
    const std::string* from = value(before, term.topology_key);
    const std::string* to = value(after, term.topology_key);
    if (before == nullptr || (from != nullptr && to == nullptr) || moved(from, to)) return Hint::kQueue;
  }
  return Hint::kQueueSkip;
}

std::vector<framework::EventRegistration> InterPodAffinity::EventsToRegister() const {
  using framework::EventResource;
  return {
      {{EventResource::kAssignedPod, framework::kAdd | framework::kUpdatePodLabel | framework::kDelete},
       [this](const HintInput& input) { return AfterAssignedPod(input); }},
      // Other pods' anti-affinity may have been about the old labels.
      {{EventResource::kTargetPod, framework::kUpdatePodLabel},
       [](const HintInput&) -> base::Result<Hint> { return Hint::kQueue; }},
      {{EventResource::kNode, framework::kAdd | framework::kUpdateNodeLabel},
       [this](const HintInput& input) { return AfterNode(input); }},
  };
}

}  // namespace berth::plugins
