#include "plugins/volume_binding.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <fmt/format.h>
#include <string>
#include <utility>

#include "plugins/plugin_metrics.h"
#include "plugins/pod_signatures.h"
#include "plugins/resource_args.h"
#include "plugins/volume_binding_caches.h"
#include "plugins/volume_binding_data.h"
#include "plugins/volume_binding_search.h"
#include "plugins/volume_claims.h"
#include "plugins/volume_csi_nodes.h"

namespace berth::plugins {
namespace {

using framework::Code;
using framework::RejectionId;
using framework::Status;

// Indexed by VolumeBinding::Reason.
constexpr framework::ReasonText kVolumeBindingReasons[] = {
    {Code::kUnschedulableAndUnresolvable, "node(s) didn't match PersistentVolume's node affinity"},
    {Code::kUnschedulableAndUnresolvable, "node(s) didn't find available persistent volumes to bind"},
    {Code::kUnschedulableAndUnresolvable, "node(s) did not have enough free storage"},
    {Code::kUnschedulableAndUnresolvable,
     "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"},
};

// Time is counted in nanoseconds; what is beyond this waits for ever anyway.
constexpr std::int64_t kTimeoutSecondsMax = std::int64_t{100} * 365 * 24 * 3600;

bool CountsCapacity(const framework::PluginSetup& setup) { return setup.features.storage_capacity_scoring; }

// Why the pod cannot be placed now because of a claim of its own.
Status JudgeClaim(const cluster::Cluster& cluster, const api::PodRecord& pod, const PodVolume& volume) {
  const ClaimRef claim = FindClaim(cluster, pod.namespace_, volume.claim);
  if (!claim) {
    if (volume.kind == ClaimKind::kNamed) {
      return Status::Unresolvable(NotFound("persistentvolumeclaim", volume.claim));
    }
    return Status::Unresolvable(fmt::format(
        "waiting for ephemeral volume controller to create the persistentvolumeclaim \"{}\"", volume.claim));
  }
  if (claim->status.phase == "Lost") {
    return Status::Unresolvable(
        fmt::format("persistentvolumeclaim \"{}\" bound to non-existent persistentvolume \"{}\"",
                    claim->metadata.name, claim->spec.volume_name));
  }
  if (claim->metadata.deletion_timestamp) {
    return Status::Unresolvable(
        fmt::format("persistentvolumeclaim \"{}\" is being deleted", claim->metadata.name));
  }
  if (volume.kind == ClaimKind::kEphemeral) {
    if (const auto owned = CheckOwner(pod, *claim); !owned) {
      return Status::Unresolvable(owned.error().message);
    }
  }
  return {};
}

// The refusals for sets of conflicts, each made when it is first needed.
class ConflictReasons {
 public:
  explicit ConflictReasons(framework::NodeSelection& nodes) : nodes_(nodes) {}

  RejectionId For(VolumeConflicts conflicts) {
    RejectionId& id = ids_[conflicts];
    if (!id.IsRefusal()) id = Make(conflicts);
    return id;
  }

 private:
  RejectionId Make(VolumeConflicts conflicts) {
    std::vector<framework::Reason> reasons;
    for (framework::ReasonId reason = 0; reason < kVolumeConflictCount; ++reason) {
      const auto bit = static_cast<VolumeConflicts>(1u << reason);
      if (conflicts == bit) return nodes_.Fixed(reason);
      if ((conflicts & bit) != 0) reasons.push_back({kVolumeBindingReasons[reason].words, {}});
    }
    return nodes_.Intern(Code::kUnschedulableAndUnresolvable, std::move(reasons));
  }

  framework::NodeSelection& nodes_;
  std::array<RejectionId, 1u << kVolumeConflictCount> ids_{};
};

}  // namespace

base::Result<std::unique_ptr<framework::Plugin>> VolumeBinding::Make(const framework::PluginSetup& setup) {
  if (const auto valid = Validate(setup.args.volume_binding, CountsCapacity(setup)); !valid) {
    return std::unexpected(valid.error());
  }
  return std::make_unique<VolumeBinding>(setup);
}

VolumeBinding::VolumeBinding(const framework::PluginSetup& setup)
    : shape_(CountsCapacity(setup) ? setup.args.volume_binding.shape : std::vector<framework::ShapePoint>()),
      bind_timeout_(
          std::chrono::seconds(std::min(setup.args.volume_binding.bind_timeout_seconds, kTimeoutSecondsMax))),
      writes_(setup.writes),
      csi_nodes_(setup.cluster.UseExtension<CsiNodes>()),
      caches_(setup.cluster.UseExtension<VolumeCaches>()),
      metrics_(setup.cluster.UseExtension<PluginMetrics>()),
      waiting_(setup.cluster.UseExtension<cluster::ClaimIndex>()) {}

std::span<const framework::ReasonText> VolumeBinding::Reasons() const { return kVolumeBindingReasons; }

std::unique_ptr<framework::Plan> VolumeBinding::MakePlan(const framework::PlanInput& input) const {
  auto plan = std::make_unique<framework::Plan>();
  // Without claims every node scores 0, whatever happens.
  plan->filters = HasClaims(input.spec);
  plan->scores = !shape_.empty();
  if (plan->filters) {
    plan->filter_reads = framework::Reads::RowAndState(cluster::kLabelsFact);
    plan->score_reads = plan->filter_reads;
  } else {
    plan->score_reads = framework::Reads::Alike(0);
  }
  return plan;
}

PodBinding& VolumeBinding::BindingIn(framework::Cycle& cycle) const {
  if (auto* const binding = cycle.DataOf<PodBinding>(*this)) return *binding;
  auto& binding = cycle.EmplaceData<PodBinding>(*this);
  binding.status = Prepare(cycle, binding);
  return binding;
}

Status VolumeBinding::Prepare(const framework::Cycle& cycle, PodBinding& binding) const {
  const api::PodRecord& pod = cycle.record();
  for (const PodVolume& volume : VolumesOf(pod)) {
    if (volume.kind == ClaimKind::kNone) continue;
    if (Status status = JudgeClaim(cycle.cluster(), pod, volume); !status.IsSuccess()) return status;
  }
  base::Result<PodClaims> claims = ClassifyClaims(cycle.cluster(), caches_, pod);
  if (!claims) return Status::Error(claims.error().message);
  if (claims->has_unbound) return Status::Unresolvable("pod has unbound immediate PersistentVolumeClaims");
  binding.search = std::make_unique<VolumeSearch>(VolumeSearch::Sources{cycle.cluster(), caches_, csi_nodes_},
                                                  *std::move(claims));
  return {};
}

void VolumeBinding::AppendScope(framework::Cycle& cycle, framework::Scope& scope) const {
  const bool takes_part = cycle.PlanOf<framework::Plan>(*this).filters && !cycle.resize_deferred();
  if (!takes_part) return;
  const PodBinding& binding = BindingIn(cycle);
  if (binding.search && !binding.search->question().empty()) scope.AddText(binding.search->question());
}

std::unique_ptr<framework::State> VolumeBinding::MakeState(framework::Cycle& cycle) const {
  if (!cycle.PlanOf<framework::Plan>(*this).filters) return nullptr;
  return std::make_unique<VolumeView>();
}

void VolumeBinding::Refresh(framework::Cycle& cycle, framework::State& state,
                            framework::StateChanges& changes) const {
  const auto* const binding = cycle.DataOf<PodBinding>(*this);
  // Without a search nothing will be judged.
  if (binding == nullptr || binding->search == nullptr) return;
  StorageSeen& seen = static_cast<VolumeView&>(state).seen;
  if (changes.verdicts.all()) return binding->search->CatchUp(seen);
  const bool are_told = binding->search->RowsSince(seen, [&](cluster::NodeRow row) {
    changes.verdicts.Add(row);
    changes.scores.Add(row);
  });
  if (!are_told) {
    changes.verdicts.AddAll();
    changes.scores.AddAll();
  }
}

framework::PreFilterResult VolumeBinding::PreFilter(framework::Cycle& cycle) const {
  if (cycle.resize_deferred()) return {Status::Skip()};
  const PodBinding& binding = BindingIn(cycle);
  if (!binding.status.IsSuccess()) return {binding.status};
  if (binding.search->FitsEverywhere()) return {Status::Skip()};
  return {};
}

void VolumeBinding::Filter(const framework::Cycle& cycle, framework::NodeSelection& nodes) const {
  const auto* const binding = cycle.DataOf<PodBinding>(*this);
  if (binding == nullptr || binding->search == nullptr) return;
  VolumeSearch& search = *binding->search;
  search.Refresh();
  auto& view = cycle.StateOf<VolumeView>(*this);
  const bool is_scored = !shape_.empty() && !search.HasAll();
  VolumeChoice choice;
  ConflictReasons reasons(nodes);
  nodes.Judge([&](cluster::NodeRow row) -> RejectionId {
    // One node in error fails the attempt: nothing about the others matters any more.
    if (!nodes.error().IsSuccess()) return framework::kAccepted;
    const base::Result<VolumeConflicts> conflicts = search.Judge(row, is_scored ? &choice : nullptr);
    if (!conflicts) {
      nodes.Fail(row, Status::Error(conflicts.error().message));
      metrics_.CountVolumeError(VolumeStage::kPredicate);
      return framework::kAccepted;
    }
    if (*conflicts != 0) return reasons.For(*conflicts);
    if (is_scored) view.SetScore(row, ScoreOf(choice, shape_));
    return framework::kAccepted;
  });
}

bool VolumeBinding::LeaveCandidates(const framework::Cycle& cycle, base::Bitset& rows) const {
  const auto* const binding = cycle.DataOf<PodBinding>(*this);
  return binding != nullptr && binding->search != nullptr && binding->search->LeaveCandidates(rows);
}

bool VolumeBinding::ScoresAlike(const framework::Cycle& cycle) const {
  const auto* const binding = cycle.DataOf<PodBinding>(*this);
  return binding == nullptr || binding->search == nullptr || binding->search->HasAll();
}

Status VolumeBinding::Score(const framework::Cycle& cycle, std::span<const cluster::NodeRow> rows,
                            std::span<std::int64_t> scores) const {
  std::ranges::fill(scores, 0);
  if (ScoresAlike(cycle)) return {};
  // Of nodes on which the pod fits, and these Filter has seen.
  const auto& view = cycle.StateOf<VolumeView>(*this);
  for (std::size_t i = 0; i < rows.size(); ++i) scores[i] = view.score(rows[i]);
  return {};
}

bool VolumeBinding::Sign(const framework::WaitingPod& pod, framework::Signature& signature) const {
  SignVolumes(pod.record(), signature);
  return true;
}

}  // namespace berth::plugins
