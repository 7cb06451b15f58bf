#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/node_matching.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "framework/plugin_args.h"
#include "plugins/volume_binding_caches.h"
#include "plugins/volume_csi_nodes.h"
#include "plugins/volume_free_index.h"

namespace berth::plugins {

// The claims of a pod, in the order of its volumes; one that two volumes name is there twice.
struct PodClaims {
  std::vector<ClaimRef> bound;
  std::vector<ClaimRef> late;  // not bound, and to be bound where the pod goes
  bool has_unbound = false;    // some claim is neither: the pod has to wait for it
};
base::Result<PodClaims> ClassifyClaims(const cluster::Cluster& cluster, const VolumeCaches& caches,
                                       const api::PodRecord& pod);

// Node terms in the ids of the cluster's labels: good until an event is applied.
class NodeLabelTerms {
 public:
  NodeLabelTerms() = default;  // every node matches
  NodeLabelTerms(const api::NodeMatcher& matcher, const cluster::LabelTable& labels);

  bool Matches(const cluster::LabelTable& labels, cluster::LabelSetId set) const;
  bool MatchesEverything() const { return everything_; }

 private:
  struct Condition {
    cluster::LabelKeyId key;  // invalid: nothing has such a label
    bool is_list = false;     // one of these values
    std::vector<cluster::LabelValueId> values;
    std::optional<api::Requirement> other;
  };

  bool everything_ = true;
  std::vector<std::vector<Condition>> terms_;
};

// Why a node cannot have the volumes, as bits, in the order in which reasons are told.
using VolumeConflicts = std::uint8_t;
inline constexpr VolumeConflicts kNodeConflict = 1u << 0;
inline constexpr VolumeConflicts kBindConflict = 1u << 1;
inline constexpr VolumeConflicts kNoSpace = 1u << 2;
inline constexpr VolumeConflicts kNoVolume = 1u << 3;
inline constexpr std::size_t kVolumeConflictCount = 4;

// Which volumes the claims of a pod would get on one node.
struct VolumeChoice {
  struct Static {
    ClaimRef claim;
    VolumeRef volume;
  };
  struct Dynamic {
    ClaimRef claim;
    CapacityRef capacity;  // null: free storage is not told
  };
  std::vector<Static> bindings;
  std::vector<Dynamic> provisions;

  void clear() {
    bindings.clear();
    provisions.clear();
  }
};

// 0 to 100; by how full the storage of each class would be.
std::int64_t ScoreOf(const VolumeChoice& choice, std::span<const framework::ShapePoint> shape);

// Looks for the volumes of one pod, node by node. What does not depend on the node is done once: selectors
// are compiled, classes and drivers looked up, claims sorted by size. Good for one cycle.
class VolumeSearch {
 public:
  struct Sources {
    const cluster::Cluster& cluster;
    const VolumeCaches& caches;
    const CsiNodes& csi_nodes;
  };
  VolumeSearch(const Sources& sources, PodClaims claims);

  // Before the next rows are judged: volumes may have been promised to others.
  void Refresh();
  // Everything is bound.
  bool HasAll() const { return late_.empty(); }
  // Everything is bound to volumes that any node can use: Judge says zero of every row.
  bool FitsEverywhere() const;
  // Zero: the node can have them all, and `choice`, if somebody wants to know, says which.
  base::Result<VolumeConflicts> Judge(cluster::NodeRow row, VolumeChoice* choice = nullptr);

 private:
  struct Bound {
    bool exists = false;
    NodeLabelTerms affinity;
    // Of a volume that was built in: for nodes where a CSI driver has taken over.
    InTreePlugins plugin = 0;
    NodeLabelTerms translated;
    std::string translation_error;
  };
  struct Late {
    VolumeWish wish;
    ClassVolumes::Memo memo{1};
    std::string class_name;
    const ClassVolumes* volumes = nullptr;
    const std::string* selected_node = nullptr;
    std::string selector_error;
    // How a volume is made.
    std::shared_ptr<const api::StorageClass> storage_class;
    NodeLabelTerms topologies;
    bool tells_capacity = false;
  };

  Bound Prepare(const api::PersistentVolumeClaim& claim) const;
  Late PrepareLate(ClaimRef claim) const;
  base::Result<VolumeConflicts> JudgeBound(cluster::NodeRow row) const;
  base::Result<VolumeConflicts> Provision(cluster::NodeRow row, VolumeChoice* choice) const;

  const Sources from_;
  std::vector<Bound> bound_;
  std::vector<Late> late_;                 // in the order of the volumes
  std::vector<std::size_t> by_size_;       // positions in late_: smallest request first
  std::vector<const Late*> to_provision_;  // scratch of one row
  std::vector<VolumeRef> taken_;           // scratch of one row
};

// Whether the node can use the volume, for those who say why not.
base::Result<void> CheckAffinity(const api::PersistentVolume& volume, InTreePlugins migrated,
                                 const cluster::LabelView& node);

}  // namespace berth::plugins
