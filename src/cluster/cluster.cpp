#include "cluster/cluster.h"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/resource_vector.h"
#include "base/check.h"
#include "base/go_text.h"
#include "cluster/object_store.h"

namespace berth::cluster {
namespace {

// What of a node a change from `before` to `after` may have changed.
Facts FactsBetween(const NodeTable::Facts& before, const NodeTable::Facts& after) {
  if (!before.object || !after.object) return ~Facts{0};
  Facts facts = kObjectFact;
  const api::Node& old = *before.object;
  const api::Node& now = *after.object;
  if (before.label_set != after.label_set) facts |= kLabelsFact;
  if (before.taint_set != after.taint_set || old.spec.unschedulable != now.spec.unschedulable)
    facts |= kTaintsFact;
  if (before.feature_set != after.feature_set) facts |= kFeaturesFact;
  if (before.allocatable != after.allocatable) facts |= kResourcesFact;
  if (old.status.images != now.status.images) facts |= kImagesFact;
  return facts;
}

}  // namespace

Cluster::Cluster(const ClusterOptions& options)
    : objects_(std::make_unique<ObjectStore>()),
      factory_({labels_, namespaces_, classes_, matchers_, resources_, nodes_, ports_, terms_, pods_},
               options.resources),
      placements_({nodes_, pods_, classes_, factory_, matchers_, counters_, terms_, nominator_},
                  options.change_log_capacity) {}

Cluster::~Cluster() = default;

NodeRow Cluster::EnsureRow(std::string_view name) {
  if (const NodeRow row = nodes_.Find(name); row.IsValid()) return row;
  const NodeRow row = nodes_.Ensure(name);
  // Every column must have the row before a pod comes to it.
  topology_.Refresh(row);
  eligibility_.AfterChange(row);
  return row;
}

NodeRow Cluster::SetNode(NodeRef node) {
  BERTH_CHECK(!speculating());
  const NodeRow row = EnsureRow(node->metadata.name);
  NodeTable::Facts facts{.object = node,
                         .label_set = labels_.Intern(node->metadata.labels),
                         .taint_set = taints_.Intern(node->spec.taints),
                         .feature_set = features_.Intern(*node->status.declared_features),
                         .images = {},
                         .allocatable = AllocatableOf(*node)};
  const NodeRef& old = nodes_.object(row);
  if (old && old->status.images == node->status.images) {
    facts.images.assign(nodes_.images(row).begin(), nodes_.images(row).end());
  } else {
    // The old ones go first: an image that only this node has takes its size anew.
    images_.Remove(nodes_.images(row));
    images_.Add(node->status.images, facts.images);
  }
  ChangeNode(row, std::move(facts));
  tree_.Update(row, ZoneKey(node->metadata.labels));
  return row;
}

base::Result<void> Cluster::RemoveNode(const api::Node& node) {
  BERTH_CHECK(!speculating());
  const NodeRow row = nodes_.Find(node.metadata.name);
  if (!row.IsValid()) return base::Fail(fmt::format("node {} is not found", node.metadata.name));
  if (!nodes_.exists(row)) {
    return base::Fail(fmt::format("node {} in group {} was not found", base::QuoteGo(node.metadata.name),
                                  base::QuoteGo(ZoneKey(node.metadata.labels))));
  }
  tree_.Remove(row);
  images_.Remove(nodes_.images(row));
  ChangeNode(row, {});
  nodes_.FreeIfUnused(row);
  return {};
}

void Cluster::ChangeNode(NodeRow row, NodeTable::Facts facts) {
  const NodeTable::Facts before{.object = nodes_.object(row),
                                .label_set = nodes_.label_set()[row.index()],
                                .taint_set = nodes_.taint_set()[row.index()],
                                .feature_set = nodes_.feature_set()[row.index()],
                                .images = {},
                                .allocatable = nodes_.allocatable_of(row)};
  const Facts changed = FactsBetween(before, facts);
  const bool moves = (changed & (kLabelsFact | kTaintsFact)) != 0;
  if (moves) {
    placements_.Lift(row);
    eligibility_.BeforeChange(row);
  }
  const NodeTable::Facts old = nodes_.Exchange(row, std::move(facts));
  if (moves) {
    topology_.Refresh(row);
    eligibility_.AfterChange(row);
    placements_.Lower(row);
  }
  if (old.object) {
    labels_.Release(old.label_set);
    taints_.Release(old.taint_set);
    features_.Release(old.feature_set);
    for (const ResourceAmount& amount : old.allocatable) resources_.Release(amount.resource);
  }
  placements_.NodeChanged(row, changed);
}

std::vector<ResourceAmount> Cluster::AllocatableOf(const api::Node& node) {
  const api::NodeAllocatable allocatable = api::ToAllocatable(*node.status.allocatable);
  std::vector<ResourceAmount> amounts;
  amounts.reserve(4 + allocatable.resources.scalars.size());
  const auto add = [&](std::string_view name, std::int64_t amount) {
    amounts.push_back({factory_.InternResource(name), amount});
  };
  add("cpu", allocatable.resources.milli_cpu);
  add("memory", allocatable.resources.memory);
  add("ephemeral-storage", allocatable.resources.ephemeral_storage);
  add("pods", allocatable.pod_count_max);
  for (const auto& [name, amount] : allocatable.resources.scalars) add(name, amount);
  return amounts;
}

void Cluster::SetNamespace(const api::Namespace& object) {
  const NamespaceId id = namespaces_.Intern(object.metadata.name);
  const LabelSetId labels = labels_.Intern(object.metadata.labels);
  if (labels == namespaces_.label_set(id)) {
    labels_.Release(labels);
  } else {
    placements_.Uncount(id);
    namespaces_.Set(id, labels);
    matchers_.NamespaceChanged();
    placements_.Recount(id);
  }
  namespaces_.Release(id);
}

void Cluster::RemoveNamespace(std::string_view name) {
  const NamespaceId id = namespaces_.Find(name);
  if (!id.IsValid()) return;
  namespaces_.Acquire(id);
  placements_.Uncount(id);
  namespaces_.Unset(id);
  matchers_.NamespaceChanged();
  placements_.Recount(id);
  namespaces_.Release(id);
}

CounterId Cluster::UseCounter(std::span<const PodCondition> conditions, CountRules rules,
                              std::uint64_t step) {
  const auto [id, is_new] = counters_.Use(conditions, rules, step);
  if (is_new) placements_.CountExisting(id);
  return id;
}

void Cluster::CollectUnused(std::uint64_t step) {
  BERTH_CHECK(!speculating());
  counters_.CollectUnused(step);
  eligibility_.CollectUnused(step);
}

std::uint64_t Cluster::Digest() const {
  Digester digest;
  nodes_.AddTo(digest);
  for (const NodeRow row : NodeOrder()) digest.Add(row.value());
  pods_.AddTo(digest);
  counters_.AddTo(digest);
  terms_.AddTo(digest);
  nominator_.AddTo(digest);
  placements_.AddExtensionsTo(digest);
  return digest.value();
}

bool Cluster::IsEmpty() const {
  return labels_.empty() && taints_.empty() && features_.empty() && images_.empty() && namespaces_.empty() &&
         resources_.empty() && ports_.empty() && nodes_.empty() && tree_.size() == 0 && topology_.empty() &&
         eligibility_.empty() && classes_.empty() && matchers_.empty() && counters_.empty() &&
         terms_.empty() && workloads_.empty() && pods_.empty() && nominator_.empty() && factory_.empty();
}

}  // namespace berth::cluster
