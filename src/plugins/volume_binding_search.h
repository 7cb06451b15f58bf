#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "base/bitset.h"
#include "base/error.h"
#include "cluster/cluster.h"
#include "framework/plugin_args.h"
#include "plugins/volume_binding_caches.h"
#include "plugins/volume_csi_nodes.h"
#include "plugins/volume_free_index.h"
#include "plugins/volume_label_terms.h"

namespace berth::plugins {

// The claims of a pod, in the order of its volumes; one that two volumes name is there twice.
struct PodClaims {
  std::vector<ClaimRef> bound;
  std::vector<ClaimRef> late;  // not bound, and to be bound where the pod goes
  bool has_unbound = false;    // some claim is neither: the pod has to wait for it
};
base::Result<PodClaims> ClassifyClaims(const cluster::Cluster& cluster, const VolumeCaches& caches,
                                       const api::PodRecord& pod);

// Why a node cannot have the volumes, as bits, in the order in which reasons are told.
using VolumeConflicts = std::uint8_t;
inline constexpr VolumeConflicts kNodeConflict = 1u << 0;
inline constexpr VolumeConflicts kBindConflict = 1u << 1;
inline constexpr VolumeConflicts kNoSpace = 1u << 2;
inline constexpr VolumeConflicts kNoVolume = 1u << 3;
inline constexpr std::size_t kVolumeConflictCount = 4;

// Which volumes the claims of a pod would get on one node. Good until an object changes or the search goes.
struct VolumeChoice {
  struct Static {
    const VolumeWish* wish;
    const VolumeRef* volume;
    std::int64_t capacity;
  };
  struct Dynamic {
    const VolumeWish* wish;
    const CapacityRef* capacity;  // null: free storage is not told
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

// Up to where somebody knows the storage of the cluster, for one question.
struct StorageSeen {
  std::uint64_t volumes = 0;
  std::uint64_t capacities = 0;
  std::uint64_t migrations = 0;
  // The smallest volume that would do, in bytes, of those that many nodes share, by place. As long as it is
  // the same these nodes are as well off as before. Looked up, never walked.
  absl::flat_hash_map<Place, std::int64_t> smallest;
};

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
  // What the answers about a node hang on, beside its labels and the storage that there is: equal texts are
  // equal questions.
  const std::string& question() const { return question_; }
  // Calls with every node whose answer may have changed since; false, if that may be any. Brings `seen` up to
  // date.
  bool RowsSince(StorageSeen& seen, const std::function<void(cluster::NodeRow)>& visit);
  // For somebody who knows nothing yet and is about to look at all nodes.
  void CatchUp(StorageSeen& seen) const;
  // Nodes that cannot have the volumes are cleared; false: not known without a look at each.
  bool LeaveCandidates(base::Bitset& rows) const;
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
    std::vector<Place> places = {};  // if these are all that can use it
  };
  struct Late {
    VolumeWish wish;
    ClassVolumes::Memo memo{1};
    std::string class_name;
    const ClassVolumes* volumes = nullptr;
    const std::string* selected_node = nullptr;
    bool has_meant = false;  // somebody meant a volume for it
    std::string selector_error;
    // How a volume is made.
    std::shared_ptr<const api::StorageClass> storage_class;
    NodeLabelTerms topologies;
    bool tells_capacity = false;
  };

  Bound Prepare(const api::PersistentVolumeClaim& claim);
  std::vector<Place> PlacesOf(const std::optional<api::VolumeNodeAffinity>& affinity) const;
  Late PrepareLate(ClaimRef claim) const;
  void AppendQuestion(const Late& late);
  void AppendQuestion(const std::optional<api::VolumeNodeAffinity>& affinity);
  // Whether nodes are worse or better off with the volumes that are at the place now.
  bool IsNews(StorageSeen& seen, Place place, StorageReach reach);
  base::Result<VolumeConflicts> JudgeBound(cluster::NodeRow row) const;
  base::Result<VolumeConflicts> Provision(cluster::NodeRow row, VolumeChoice* choice) const;

  const Sources from_;
  std::string question_;
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
