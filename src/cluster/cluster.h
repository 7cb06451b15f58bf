#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <typeindex>
#include <utility>
#include <vector>

#include "api/pod_requests.h"
#include "api/workloads.h"
#include "base/change_log.h"
#include "base/error.h"
#include "cluster/counters.h"
#include "cluster/eligibility.h"
#include "cluster/extension.h"
#include "cluster/facts.h"
#include "cluster/feature_sets.h"
#include "cluster/ids.h"
#include "cluster/images.h"
#include "cluster/labels.h"
#include "cluster/matchers.h"
#include "cluster/namespaces.h"
#include "cluster/node_table.h"
#include "cluster/node_tree.h"
#include "cluster/nominator.h"
#include "cluster/placements.h"
#include "cluster/pod_classes.h"
#include "cluster/pod_facts.h"
#include "cluster/pod_table.h"
#include "cluster/ports.h"
#include "cluster/resources.h"
#include "cluster/speculation.h"
#include "cluster/taint_sets.h"
#include "cluster/terms.h"
#include "cluster/topology.h"
#include "cluster/workloads.h"

namespace berth::cluster {

class ClaimIndex;
class ObjectStore;

struct ClusterOptions {
  api::ResourceGates resources;
  // How many changes of nodes a reader may fall behind before it has to read all of them.
  std::size_t change_log_capacity = 1 << 16;
};

// The cluster in memory: everything that a decision reads, and the events that change it.
//
// A pod's way through it:
//
//             SetPending                Assume               AddPod
//   (absent) ------------> pending ------------> assumed ------------> added
//       |                     ^       Forget        |                    |
//       |  AddPod             +---------------------+                    | UpdatePod
//       +--------------------------------------------------------------> +
//   and from anywhere back to absent: RemovePending, RemoveAssumed, RemovePod.
//
// An operation that does not fit the state fails with upstream's words. Where upstream would stop the
// process, because a bound pod is suddenly on another node, the state is mended and the error only reported.
//
// Single-threaded, no clock, no I/O. No event is allowed while a Speculation is open.
class Cluster {
 public:
  explicit Cluster(const ClusterOptions& options = {});
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  // Add and update alike.
  NodeRow SetNode(NodeRef node);
  base::Result<void> RemoveNode(const api::Node& node);

  // A pod without a node came or changed. Fails if it is on a node.
  base::Result<PodSlot> SetPending(PodRecordRef pod);
  // Fails if it is on a node; no effect if there is no such pod.
  base::Result<void> RemovePending(std::string_view uid);
  base::Result<void> Assume(PodSlot pod, std::string_view node_name);
  // Back to pending. No effect if there is no such pod.
  base::Result<void> Forget(std::string_view uid, std::string_view node_name);
  // The pod was deleted while its binding was under way. No effect if there is no such pod.
  base::Result<void> RemoveAssumed(std::string_view uid, std::string_view node_name);
  base::Result<void> AddPod(PodRecordRef pod);
  base::Result<void> UpdatePod(PodRecordRef pod);
  base::Result<void> RemovePod(const api::PodRecord& pod);

  // Nominates the pod to the node, or to the one that its status names if no name is given; an empty name
  // clears. Only pending pods are nominated.
  void Nominate(PodSlot pod, std::optional<std::string_view> node_name = std::nullopt);
  // After an update of a waiting pod. A nomination that only berth knows of survives; else the new status
  // decides.
  void UpdateNomination(PodSlot pod, const api::PodRecord& old);
  void ClearNomination(PodSlot pod) { placements_.Unnominate(pod); }

  void SetNamespace(const api::Namespace& object);
  void RemoveNamespace(std::string_view name);
  WorkloadTable& workloads() { return workloads_; }
  // cluster/object_store.h.
  ObjectStore& objects() { return *objects_; }
  const ObjectStore& objects() const { return *objects_; }

  // Indexes on demand: an id is good until a CollectUnused whose step is later than its last use. Made by a
  // scan of the pods or nodes concerned when new. May be called in a speculation.
  CounterId UseCounter(std::span<const PodCondition> conditions, CountRules rules, std::uint64_t step);
  TallyId UseTally(CounterId counter, std::string_view topology_key, EligibilityId eligibility,
                   std::uint64_t step) {
    return counters_.UseTally(counter, topology_key, eligibility, step);
  }
  EligibilityId UseEligibility(std::string_view name, NodePredicate predicate, std::uint64_t step) {
    return eligibility_.Use(name, std::move(predicate), step);
  }
  void Touch(TallyId id, std::uint64_t step) { counters_.Touch(id, step); }
  void Touch(CounterId id, std::uint64_t step) { counters_.Touch(id, step); }
  // Drops what was last used before `step`.
  void CollectUnused(std::uint64_t step);
  // Keeps the column of a topology key while it is held.
  TopologyKeyId AcquireTopologyKey(std::string_view key) { return topology_.Acquire(key); }
  void ReleaseTopologyKey(TopologyKeyId key) { topology_.Release(key); }
  // The one extension of this type, for plugins of all profiles: made at its first use, which must come
  // before the first node and pod.
  template <class T>
  T& UseExtension() {
    for (const auto& [type, extension] : owned_extensions_) {
      if (type == typeid(T)) return static_cast<T&>(*extension);
    }
    auto made = std::make_unique<T>(*this);
    T& extension = *made;
    owned_extensions_.emplace_back(typeid(T), std::move(made));
    AddExtension(extension);
    return extension;
  }
  // Before the first node and pod; it must live as long as the cluster.
  void AddExtension(Extension& extension) { placements_.AddExtension(extension); }

  const NodeTable& nodes() const { return nodes_; }
  // Round robin over zones; ties and sampling follow it.
  std::span<const NodeRow> NodeOrder() const { return tree_.Order(); }
  std::uint64_t node_order_version() const { return tree_.version(); }
  const PodTable& pods() const { return pods_; }
  const PodFactory& pod_factory() const { return factory_; }
  const Requests& requests(PodSlot pod) const { return resources_.requests(pods_.facts(pod).requests); }
  std::span<const PortId> host_ports(PodSlot pod) const {
    return factory_.ports(pods_.facts(pod).template_id);
  }
  const LabelTable& labels() const { return labels_; }
  const TaintSetTable& taints() const { return taints_; }
  const FeatureSetTable& features() const { return features_; }
  const ImageTable& images() const { return images_; }
  const NamespaceTable& namespaces() const { return namespaces_; }
  const ResourceTable& resources() const { return resources_; }
  const PortTable& ports() const { return ports_; }
  const Topology& topology() const { return topology_; }
  const EligibilityTable& eligibility() const { return eligibility_; }
  const PodClassTable& classes() const { return classes_; }
  const MatcherTable& matchers() const { return matchers_; }
  const CounterTable& counters() const { return counters_; }
  const TermTable& terms() const { return terms_; }
  const WorkloadTable& workloads() const { return workloads_; }
  const Nominator& nominator() const { return nominator_; }
  std::span<const PodSlot> NominatedTo(NodeRow row) const { return nominator_.ForNode(nodes_.name_id(row)); }
  const base::ChangeLog<NodeRow, Facts>& change_log() const { return placements_.change_log(); }
  bool speculating() const { return placements_.speculating(); }

  // Over all state but versions: equal before and after a speculation, and in two processes with one history.
  std::uint64_t Digest() const;
  // Nothing is left, neither objects nor what was interned for them.
  bool IsEmpty() const;

 private:
  friend class Speculation;

  NodeRow EnsureRow(std::string_view name);
  // The extension, without looking for it at every pod.
  ClaimIndex& claim_index();
  void ChangeNode(NodeRow row, NodeTable::Facts facts);
  std::vector<ResourceAmount> AllocatableOf(const api::Node& node);
  void PlaceOn(PodSlot pod, std::string_view node_name);
  void TakeOff(PodSlot pod);
  void EraseFromTable(PodSlot pod);
  // Replaces the record of a pod on a node; moves nothing that did not change.
  void ReplaceFacts(PodSlot pod, PodRecordRef record);
  base::Result<PodSlot> FindAssumed(std::string_view uid, std::string_view node_name) const;

  std::unique_ptr<ObjectStore> objects_;
  LabelTable labels_;
  TaintSetTable taints_;
  FeatureSetTable features_;
  ImageTable images_;
  NamespaceTable namespaces_{labels_};
  ResourceTable resources_;
  PortTable ports_;
  NodeTable nodes_;
  NodeTree tree_;
  Topology topology_{labels_, nodes_};
  EligibilityTable eligibility_{nodes_, topology_};
  PodClassTable classes_{labels_, namespaces_};
  MatcherTable matchers_{labels_, namespaces_, classes_};
  CounterTable counters_{nodes_, topology_, eligibility_, matchers_};
  TermTable terms_{topology_, matchers_};
  WorkloadTable workloads_{labels_};
  PodTable pods_;
  Nominator nominator_;
  PodFactory factory_;
  Placements placements_;
  std::vector<std::pair<std::type_index, std::unique_ptr<Extension>>> owned_extensions_;
  ClaimIndex* claim_index_ = nullptr;
};

}  // namespace berth::cluster
