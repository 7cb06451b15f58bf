#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "api/label_selector.h"
#include "api/pod_record.h"
#include "api/workloads.h"
#include "base/ids.h"
#include "base/interner.h"
#include "cluster/ids.h"
#include "cluster/labels.h"

namespace berth::cluster {

// Services and the controllers of pods, kept for one purpose: the selector by which pods without spread
// constraints of their own are spread.
//
// That selector is remembered per (labels, namespace, owner) until a workload of the namespace changes.
class WorkloadTable {
 public:
  explicit WorkloadTable(const LabelTable& labels);

  // Add and update alike.
  void Set(const api::Service& service);
  void Set(const api::ReplicationController& controller);
  void Set(const api::ReplicaSet& set);
  void Set(const api::StatefulSet& set);
  enum class Kind : std::uint8_t { kService, kReplicationController, kReplicaSet, kStatefulSet };
  void Remove(Kind kind, std::string_view namespace_, std::string_view name);

  // The selectors of every Service that selects the pod, and of its controller if that is a v1
  // ReplicationController or an apps/v1 ReplicaSet or StatefulSet, all together. Everything if there are
  // none: then the pod has no default constraints.
  std::shared_ptr<const api::Selector> DeducedSelector(const api::PodRecord& pod, LabelSetId labels) const;

  bool empty() const { return namespaces_.empty(); }

 private:
  template <class Value>
  using ByName = absl::flat_hash_map<std::string, Value, base::TextHash, std::equal_to<>>;

  struct Namespace {
    std::uint64_t epoch = 0;
    // Sorted by name: their order reaches the selector.
    base::FlatMap<std::string, api::StringMap> services;
    ByName<api::StringMap> replication_controllers;
    ByName<api::Selector> replica_sets;
    ByName<api::Selector> stateful_sets;

    bool empty() const {
      return services.empty() && replication_controllers.empty() && replica_sets.empty() &&
             stateful_sets.empty();
    }
  };
  struct Question {
    base::Versioned<LabelSetId> labels;
    std::string namespace_;
    int owner_kind;
    std::string owner_name;

    bool operator==(const Question&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Question& q) {
      return H::combine(std::move(h), q.labels, q.namespace_, q.owner_kind, q.owner_name);
    }
  };
  struct Answer {
    std::uint64_t epoch;
    std::shared_ptr<const api::Selector> selector;
  };

  Namespace& Changing(std::string_view namespace_);
  api::Selector Deduce(const Namespace& in, const Question& question) const;

  const LabelTable& labels_;
  ByName<Namespace> namespaces_;
  std::uint64_t epoch_ = 0;
  mutable absl::flat_hash_map<Question, Answer> answers_;
};

}  // namespace berth::cluster
