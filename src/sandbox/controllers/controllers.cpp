#include "sandbox/controllers/controllers.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>

#include "sandbox/controllers/deployment_controller.h"
#include "sandbox/controllers/disruption_controller.h"
#include "sandbox/controllers/ephemeral_volumes.h"
#include "sandbox/controllers/garbage_collector.h"
#include "sandbox/controllers/job_controller.h"
#include "sandbox/controllers/node_taints.h"
#include "sandbox/controllers/replica_set_controller.h"
#include "sandbox/controllers/resource_claim_controller.h"
#include "sandbox/controllers/service_accounts.h"
#include "sandbox/controllers/stateful_set_controller.h"
#include "sandbox/controllers/volume_controller.h"
#include "sandbox/namespace_sweeper.h"

namespace berth::sandbox {
namespace {

constexpr std::string_view kDeployment = "deployment-controller";
constexpr std::string_view kReplicaSet = "replicaset-controller";
constexpr std::string_view kReplication = "replicationcontroller-controller";
constexpr std::string_view kStatefulSet = "statefulset-controller";
constexpr std::string_view kJob = "job-controller";
constexpr std::string_view kGarbage = "garbage-collector-controller";
constexpr std::string_view kDisruption = "disruption-controller";
constexpr std::string_view kTaints = "node-lifecycle-controller";
constexpr std::string_view kClaims = "resourceclaim-controller";
constexpr std::string_view kAccounts = "serviceaccount-controller";
constexpr std::string_view kNamespace = "namespace-controller";
constexpr std::string_view kVolumes = "persistentvolume-binder-controller";
// No part of kube-controller-manager: every CSI driver brings its own.
constexpr std::string_view kProvisioner = "csi-provisioner";
constexpr std::string_view kEphemeral = "ephemeral-volume-controller";

constexpr std::string_view kNames[] = {kDeployment, kReplicaSet, kReplication, kStatefulSet, kJob,
                                       kGarbage,    kDisruption, kTaints,      kClaims,      kAccounts,
                                       kNamespace,  kVolumes,    kProvisioner, kEphemeral};

}  // namespace

// The indexes come first: they hear of a change before those who ask them.
struct Controllers::Parts {
  explicit Parts(ControlPlane& plane)
      : pods(plane), owners(plane), events(plane), context{plane, pods, owners, events} {}

  PodIndex pods;
  OwnerIndex owners;
  EventRecorder events;
  ControllerContext context;

  std::optional<DeploymentController> deployments;
  std::optional<ReplicaSetController> replica_sets;
  std::optional<ReplicaSetController> replication_controllers;
  std::optional<StatefulSetController> stateful_sets;
  std::optional<JobController> jobs;
  std::optional<GarbageCollector> garbage;
  std::optional<DisruptionController> disruptions;
  std::optional<NodeTaints> taints;
  std::optional<ResourceClaimController> claims;
  std::optional<ServiceAccounts> accounts;
  std::optional<NamespaceSweeper> namespaces;
  std::optional<VolumeController> volumes;
  std::optional<EphemeralVolumes> ephemeral_volumes;
};

std::span<const std::string_view> Controllers::Names() { return kNames; }

base::Result<void> Controllers::Check(const Options& options) {
  for (const std::string& name : options.disabled) {
    if (std::ranges::find(kNames, name) != std::end(kNames)) continue;
    return base::Fail(
        fmt::format("there is no controller \"{}\"; those there are: {}", name, fmt::join(kNames, ", ")));
  }
  return {};
}

Controllers::Controllers(ControlPlane& plane, const Options& options)
    : parts_(std::make_unique<Parts>(plane)) {
  const auto runs = [&](std::string_view name) { return !options.disabled.contains(name); };
  const ControllerContext& context = parts_->context;
  if (runs(kDeployment)) parts_->deployments.emplace(context);
  if (runs(kReplicaSet)) parts_->replica_sets.emplace(context, ResourceOf("apps/v1", "ReplicaSet"));
  if (runs(kReplication)) {
    parts_->replication_controllers.emplace(context, ResourceOf("v1", "ReplicationController"));
  }
  if (runs(kStatefulSet)) parts_->stateful_sets.emplace(context);
  if (runs(kJob)) parts_->jobs.emplace(context);
  if (runs(kGarbage)) parts_->garbage.emplace(context);
  if (runs(kDisruption)) parts_->disruptions.emplace(context);
  if (runs(kTaints)) parts_->taints.emplace(context);
  if (runs(kClaims)) parts_->claims.emplace(context);
  if (runs(kAccounts)) parts_->accounts.emplace(context);
  if (runs(kNamespace)) parts_->namespaces.emplace(plane);
  if (runs(kVolumes)) {
    parts_->volumes.emplace(context, VolumeController::Options{.provisions = runs(kProvisioner),
                                                               .provision_delay = options.provision_delay});
  }
  if (runs(kEphemeral)) parts_->ephemeral_volumes.emplace(context);
}

Controllers::~Controllers() = default;

}  // namespace berth::sandbox
