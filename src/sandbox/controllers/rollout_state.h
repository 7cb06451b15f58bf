#pragma once

#include <boost/json/fwd.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sandbox/controllers/rollout_plan.h"
#include "sandbox/revision.h"

namespace berth::sandbox {

inline constexpr std::string_view kTemplateHash = "pod-template-hash";
inline constexpr std::string_view kRevision = "deployment.kubernetes.io/revision";
inline constexpr std::string_view kRevisionHistory = "deployment.kubernetes.io/revision-history";
inline constexpr std::string_view kDesiredReplicas = "deployment.kubernetes.io/desired-replicas";
inline constexpr std::string_view kMaxReplicas = "deployment.kubernetes.io/max-replicas";

using SharedDocument = std::shared_ptr<const boost::json::object>;
SharedDocument ShareDocument(const Revision& object);

// A ReplicaSet as its Deployment sees it.
struct RolloutSet {
  RevisionPtr revision;
  SharedDocument document;
  SetSize size = {};        // a plan may change size.replicas; the document keeps what is stored
  std::int64_t number = 0;  // its revision of the Deployment
};

// A Deployment and its ReplicaSets, oldest first.
struct RolloutState {
  RevisionPtr deployment;
  SharedDocument document;
  std::vector<RolloutSet> sets = {};
  std::optional<std::size_t> newest = {};  // the one whose template is the Deployment's
  RolloutLimits limits = {};
  std::string created = {};  // the name of the set that this very step made

  RolloutSet* new_set() { return newest ? &sets[*newest] : nullptr; }
  const RolloutSet* new_set() const { return newest ? &sets[*newest] : nullptr; }
  std::int64_t replicas() const { return limits.replicas; }
  bool is_paused() const;
  bool is_recreate() const;
};

RolloutState MakeRolloutState(const RevisionPtr& deployment, const std::vector<RevisionPtr>& sets);

// The template as pods of the Deployment have it, without what tells its ReplicaSets apart.
boost::json::object BareTemplate(const boost::json::object& workload);

// The number in an annotation; 0 if there is none.
std::int64_t NumberNoted(const boost::json::object& document, std::string_view annotation);

// Every pod is of the newest template and serves.
bool IsComplete(const boost::json::object& deployment, std::int64_t replicas);

// The status that follows from the sets, conditions included. `now` is in seconds. Returns in how many
// seconds the progress deadline passes, if one runs.
std::optional<std::int64_t> FillDeploymentStatus(const RolloutState& state, boost::json::object& document,
                                                 std::int64_t now);

}  // namespace berth::sandbox
