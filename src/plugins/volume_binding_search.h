#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "api/node_matching.h"
#include "base/bitset.h"
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
  template <class F>
  bool RowsSince(StorageSeen& seen, F&& visit);
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

template <class F>
bool VolumeSearch::RowsSince(StorageSeen& seen, F&& visit) {
  bool are_told = true;
  const auto follow = [&](const StorageLog& log, std::uint64_t version, auto is_news) {
    const bool is_covered = log.Since(version, [&](Place place, StorageReach reach) {
      if (!are_told || !is_news(place, reach)) return;
      are_told = reach == StorageReach::kPlace;
      if (!are_told) return;
      for (const cluster::NodeRow row : from_.caches.places().RowsAt(place)) visit(row);
    });
    are_told = are_told && is_covered;
  };
  if (!late_.empty()) {
    follow(from_.caches.free_volumes().log(), seen.volumes,
           [&](Place place, StorageReach reach) { return IsNews(seen, place, reach); });
  }
  if (std::ranges::any_of(late_, &Late::tells_capacity)) {
    follow(from_.caches.capacities().log(), seen.capacities, [](Place, StorageReach) { return true; });
  }
  if (!bound_.empty()) {
    const bool is_covered = from_.csi_nodes.migration_log().Since(
        seen.migrations, [&](cluster::NodeRow row, std::uint32_t) { visit(row); });
    are_told = are_told && is_covered;
  }
  // What was not looked at is not known any more.
  if (!are_told) seen.smallest.clear();
  seen.volumes = from_.caches.free_volumes().log().version();
  seen.capacities = from_.caches.capacities().log().version();
  seen.migrations = from_.csi_nodes.migration_log().version();
  return are_told;
}

// Whether the node can use the volume, for those who say why not.
base::Result<void> CheckAffinity(const api::PersistentVolume& volume, InTreePlugins migrated,
                                 const cluster::LabelView& node);

}  // namespace berth::plugins
