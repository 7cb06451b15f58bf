#include "cluster/workloads.h"

#include <optional>

namespace berth::cluster {
namespace {

// Answers are cheap to make again, so the memory is emptied rather than managed.
constexpr std::size_t kAnswersMax = 1 << 16;
constexpr int kNoOwner = -1;

struct Owner {
  int kind = kNoOwner;
  std::string_view name;
};

Owner ControllerOf(const api::PodRecord& pod) {
  if (!pod.owner_references) return {};
  for (const api::OwnerReference& owner : *pod.owner_references) {
    if (!owner.controller.value_or(false)) continue;
    using Kind = WorkloadTable::Kind;
    std::optional<Kind> kind;
    if (owner.api_version == "v1" && owner.kind == "ReplicationController")
      kind = Kind::kReplicationController;
    if (owner.api_version == "apps/v1" && owner.kind == "ReplicaSet") kind = Kind::kReplicaSet;
    if (owner.api_version == "apps/v1" && owner.kind == "StatefulSet") kind = Kind::kStatefulSet;
    if (!kind) return {};
    return {static_cast<int>(*kind), owner.name};
  }
  return {};
}

// A selector that is absent or wrong adds nothing.
api::Selector CompileOrEverything(const std::optional<api::LabelSelector>& selector) {
  if (!selector) return {};
  auto compiled = api::Selector::Compile(*selector);
  return compiled ? std::move(*compiled) : api::Selector();
}

}  // namespace

WorkloadTable::WorkloadTable(const LabelTable& labels) : labels_(labels) {}

WorkloadTable::Namespace& WorkloadTable::Changing(std::string_view namespace_) {
  Namespace& in = namespaces_[namespace_];
  in.epoch = ++epoch_;
  return in;
}

void WorkloadTable::Set(const api::Service& service) {
  Changing(service.metadata.namespace_)
      .services.insert_or_assign(service.metadata.name, service.spec.selector);
}

void WorkloadTable::Set(const api::ReplicationController& controller) {
  Changing(controller.metadata.namespace_)
      .replication_controllers.insert_or_assign(controller.metadata.name, controller.spec.selector);
}

void WorkloadTable::Set(const api::ReplicaSet& set) {
  Changing(set.metadata.namespace_)
      .replica_sets.insert_or_assign(set.metadata.name, CompileOrEverything(set.spec.selector));
}

void WorkloadTable::Set(const api::StatefulSet& set) {
  Changing(set.metadata.namespace_)
      .stateful_sets.insert_or_assign(set.metadata.name, CompileOrEverything(set.spec.selector));
}

void WorkloadTable::Remove(Kind kind, std::string_view namespace_, std::string_view name) {
  if (!namespaces_.contains(namespace_)) return;
  Namespace& in = Changing(namespace_);
  switch (kind) {
    case Kind::kService:
      in.services.erase(name);
      break;
    case Kind::kReplicationController:
      in.replication_controllers.erase(name);
      break;
    case Kind::kReplicaSet:
      in.replica_sets.erase(name);
      break;
    case Kind::kStatefulSet:
      in.stateful_sets.erase(name);
      break;
  }
  if (in.empty()) namespaces_.erase(namespace_);
}

std::shared_ptr<const api::Selector> WorkloadTable::DeducedSelector(const api::PodRecord& pod,
                                                                    LabelSetId labels) const {
  static const auto kEverything = std::make_shared<const api::Selector>();
  const auto in = namespaces_.find(pod.namespace_);
  if (in == namespaces_.end()) return kEverything;
  const Owner owner = ControllerOf(pod);
  Question question{labels_.Version(labels), pod.namespace_, owner.kind, std::string(owner.name)};
  const auto known = answers_.find(question);
  if (known != answers_.end() && known->second.epoch == in->second.epoch) return known->second.selector;
  auto selector = std::make_shared<const api::Selector>(Deduce(in->second, question));
  if (answers_.size() >= kAnswersMax) answers_.clear();
  answers_.insert_or_assign(std::move(question), Answer{in->second.epoch, selector});
  return selector;
}

api::Selector WorkloadTable::Deduce(const Namespace& in, const Question& question) const {
  const LabelView labels = labels_.View(question.labels.id);
  api::StringMap merged;
  const auto merge = [&](const api::StringMap& from) {
    for (const auto& [key, value] : from) merged.insert_or_assign(key, value);
  };
  for (const auto& [name, selector] : in.services) {
    if (api::Selector::FromMap(selector).Matches(labels)) merge(selector);
  }
  std::vector<api::Requirement> more;
  const auto take = [&](const auto& owners) {
    const auto owner = owners.find(question.owner_name);
    if (owner == owners.end()) return;
    if constexpr (requires { owner->second.requirements(); }) {
      more.assign(owner->second.requirements().begin(), owner->second.requirements().end());
    } else {
      merge(owner->second);
    }
  };
  if (question.owner_kind == static_cast<int>(Kind::kReplicationController)) take(in.replication_controllers);
  if (question.owner_kind == static_cast<int>(Kind::kReplicaSet)) take(in.replica_sets);
  if (question.owner_kind == static_cast<int>(Kind::kStatefulSet)) take(in.stateful_sets);
  std::vector<api::Requirement> requirements;
  for (const auto& [key, value] : merged) requirements.push_back(api::Requirement::Equal(key, value));
  requirements.insert(requirements.end(), more.begin(), more.end());
  return api::Selector(std::move(requirements));
}

}  // namespace berth::cluster
