#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/pod_record.h"
#include "api/storage.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "cluster/object_table.h"

// What the volume plugins have in common: which claim a volume means, and what a claim says.
namespace berth::plugins {

inline constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
inline constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kNoProvisioner = "kubernetes.io/no-provisioner";
inline constexpr std::string_view kReadWriteOncePod = "ReadWriteOncePod";
inline constexpr std::string_view kZoneLabel = "topology.kubernetes.io/zone";
inline constexpr std::string_view kRegionLabel = "topology.kubernetes.io/region";
inline constexpr std::string_view kBetaZoneLabel = "failure-domain.beta.kubernetes.io/zone";
// Between the names in a label of a volume that is in several zones.
inline constexpr std::string_view kZoneSeparator = "__";
inline constexpr std::string_view kBetaRegionLabel = "failure-domain.beta.kubernetes.io/region";

using ClaimRef = cluster::ObjectTable<api::PersistentVolumeClaim>::Ref;
using VolumeRef = cluster::ObjectTable<api::PersistentVolume>::Ref;

enum class ClaimKind : std::uint8_t {
  kNone,
  kNamed,      // persistentVolumeClaim
  kEphemeral,  // a claim that is made for the pod and named after it
};

struct PodVolume {
  const api::Volume* volume;  // of the pod's template
  ClaimKind kind = ClaimKind::kNone;
  std::string claim;  // its name, in the namespace of the pod
};

// In the order of the spec. Allocates nothing for a pod without volumes.
std::vector<PodVolume> VolumesOf(const api::PodRecord& pod);
bool HasClaims(const api::PodSpec& spec);
bool HasNamedClaims(const api::PodSpec& spec);
// Whether the pod names this claim; ephemeral ones count only if told so.
enum class Ephemeral : std::uint8_t { kIgnore, kCount };
bool NamesClaim(const api::PodRecord& pod, const api::PersistentVolumeClaim& claim, Ephemeral ephemeral);

// "namespace/name".
std::string KeyOf(const api::ObjectMeta& metadata);
std::string KeyOf(std::string_view namespace_, std::string_view name);
// kind "name" not found
std::string NotFound(std::string_view kind, std::string_view name);

// The old annotation, if it is there, even empty, wins over the field.
std::string_view ClassOf(const api::PersistentVolumeClaim& claim);
std::string_view ClassOf(const api::PersistentVolume& volume);
// The controllers have said that claim and volume belong together.
bool IsFullyBound(const api::PersistentVolumeClaim& claim);
// An administrator or the scheduler meant the volume for this claim.
bool IsMeantFor(const api::PersistentVolume& volume, const api::PersistentVolumeClaim& claim);
// Fails if an ephemeral volume's claim was not made for the pod: it belongs to somebody else.
base::Result<void> CheckOwner(const api::PodRecord& pod, const api::PersistentVolumeClaim& claim);
// Whether a volume is found or made only when a pod is there: fails for a class that does not say.
base::Result<bool> BindsLate(const cluster::Cluster& cluster, const api::PersistentVolumeClaim& claim);

// Null: no size is asked for.
const api::Quantity* RequestOf(const api::PersistentVolumeClaim& claim);
// Zero: the volume does not say.
const api::Quantity& CapacityOf(const api::PersistentVolume& volume);

// The pieces between separators, none left out, and a text without the space around it.
std::vector<std::string_view> Split(std::string_view text, std::string_view separator);
std::string_view Trimmed(std::string_view text);

ClaimRef FindClaim(const cluster::Cluster& cluster, std::string_view namespace_, std::string_view name);
VolumeRef FindVolume(const cluster::Cluster& cluster, std::string_view name);

}  // namespace berth::plugins
