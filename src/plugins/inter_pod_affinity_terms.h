#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/affinity.h"
#include "base/boxed.h"
#include "cluster/matchers.h"

// The (anti-)affinity terms of the pod that is being scheduled, compiled.
namespace berth::plugins {

struct OwnTerm {
  cluster::PodCondition condition;
  // The condition speaks of the namespace of the pod, whichever that is.
  bool in_own_namespace = false;
  std::string topology_key;
  std::int64_t weight = 0;  // of preferred terms; below zero for anti-affinity

  // For a pod of this namespace.
  cluster::PodCondition ConditionIn(const std::string& pod_namespace) const;
};

struct OwnTerms {
  std::vector<OwnTerm> required_affinity = {};
  std::vector<OwnTerm> required_anti_affinity = {};
  std::vector<OwnTerm> preferred = {};  // affinity, then anti-affinity
  // What does not parse, in the words that users read; empty if everything does. Else there are no terms.
  std::string error = {};

  bool HasRequired() const { return !required_affinity.empty() || !required_anti_affinity.empty(); }
};

OwnTerms CompileOwnTerms(const base::Boxed<api::Affinity>& affinity);

}  // namespace berth::plugins
