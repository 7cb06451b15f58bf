#include "plugins/inter_pod_affinity_terms.h"

#include <string_view>
#include <utility>

namespace berth::plugins {
namespace {

base::Result<OwnTerm> CompileTerm(const api::PodAffinityTerm& term, std::int64_t weight) {
  auto condition = cluster::ConditionOf(term, "", cluster::UnknownNamespace::kNeverSelected);
  if (!condition) return std::unexpected(condition.error());
  return OwnTerm{.condition = std::move(*condition),
                 .in_own_namespace = term.namespaces.empty() && !term.namespace_selector,
                 .topology_key = term.topology_key,
                 .weight = weight};
}

// Collects terms and, of every kind, the first error.
class Compiler {
 public:
  void Required(const std::vector<api::PodAffinityTerm>& terms, std::string_view kind,
                std::vector<OwnTerm>& out) {
    for (const api::PodAffinityTerm& term : terms) {
      if (!Take(CompileTerm(term, 0), kind, out)) return;
    }
  }
  void Preferred(const std::vector<api::WeightedPodAffinityTerm>& terms, std::string_view kind,
                 std::int64_t sign, std::vector<OwnTerm>& out) {
    for (const api::WeightedPodAffinityTerm& term : terms) {
      if (!Take(CompileTerm(term.pod_affinity_term, sign * term.weight), kind, out)) return;
    }
  }

  std::string Error() const {
    if (errors_.size() <= 1) return errors_.empty() ? "" : errors_.front();
    std::string all = "[";
    for (const std::string& error : errors_) {
      if (all.size() > 1) all += ", ";
      all += error;
    }
    return all += "]";
  }

 private:
  bool Take(base::Result<OwnTerm> term, std::string_view kind, std::vector<OwnTerm>& out) {
    if (term) {
      out.push_back(std::move(*term));
      return true;
    }
    errors_.push_back(std::string(kind) + ": " + term.error().message);
    return false;
  }

  std::vector<std::string> errors_;
};

}  // namespace

cluster::PodCondition OwnTerm::ConditionIn(const std::string& pod_namespace) const {
  cluster::PodCondition in = condition;
  if (in_own_namespace) in.namespaces = {pod_namespace};
  return in;
}

OwnTerms CompileOwnTerms(const base::Boxed<api::Affinity>& affinity) {
  OwnTerms terms;
  if (!affinity) return terms;
  static const api::PodAffinity kNoAffinity;
  static const api::PodAntiAffinity kNoAntiAffinity;
  const api::PodAffinity& to = affinity->pod_affinity ? *affinity->pod_affinity : kNoAffinity;
  const api::PodAntiAffinity& from =
      affinity->pod_anti_affinity ? *affinity->pod_anti_affinity : kNoAntiAffinity;
  Compiler compiler;
  compiler.Required(to.required_during_scheduling_ignored_during_execution, "requiredAffinityTerms",
                    terms.required_affinity);
  compiler.Required(from.required_during_scheduling_ignored_during_execution, "requiredAntiAffinityTerms",
                    terms.required_anti_affinity);
  compiler.Preferred(to.preferred_during_scheduling_ignored_during_execution, "preferredAffinityTerms", +1,
                     terms.preferred);
  compiler.Preferred(from.preferred_during_scheduling_ignored_during_execution, "preferredAntiAffinityTerms",
                     -1, terms.preferred);
  if (std::string error = compiler.Error(); !error.empty()) return OwnTerms{.error = std::move(error)};
  return terms;
}

}  // namespace berth::plugins
