#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"

// Pod groups and their hierarchy (scheduling.k8s.io v1beta1 and v1alpha3).
namespace berth::api {

struct AllCompositeDisruptionMode {
  bool operator==(const AllCompositeDisruptionMode&) const = default;
};

struct CompositeBasicSchedulingPolicy {
  bool operator==(const CompositeBasicSchedulingPolicy&) const = default;
};

struct SingleCompositeDisruptionMode {
  bool operator==(const SingleCompositeDisruptionMode&) const = default;
};

struct CompositeDisruptionMode {
  std::optional<SingleCompositeDisruptionMode> single;
  std::optional<AllCompositeDisruptionMode> all;

  bool operator==(const CompositeDisruptionMode&) const = default;
};

struct CompositeGangSchedulingPolicy {
  std::int32_t min_group_count = 0;

  bool operator==(const CompositeGangSchedulingPolicy&) const = default;
};

struct CompositePodGroupSchedulingPolicy {
  std::optional<CompositeBasicSchedulingPolicy> basic;
  std::optional<CompositeGangSchedulingPolicy> gang;

  bool operator==(const CompositePodGroupSchedulingPolicy&) const = default;
};

struct CompositeTopologyConstraint {
  std::string key;

  bool operator==(const CompositeTopologyConstraint&) const = default;
};

struct CompositePodGroupSchedulingConstraints {
  std::vector<CompositeTopologyConstraint> topology;

  bool operator==(const CompositePodGroupSchedulingConstraints&) const = default;
};

struct CompositePodGroupSpec {
  std::optional<std::string> parent_composite_pod_group_name;
  CompositePodGroupSchedulingPolicy scheduling_policy;
  std::optional<CompositePodGroupSchedulingConstraints> scheduling_constraints;
  std::optional<CompositeDisruptionMode> disruption_mode;
  std::optional<std::int32_t> priority;
  std::optional<std::string> preemption_policy;

  bool operator==(const CompositePodGroupSpec&) const = default;
};

struct CompositePodGroupStatus {
  std::vector<Condition> conditions;

  bool operator==(const CompositePodGroupStatus&) const = default;
};

struct CompositePodGroup {
  ObjectMeta metadata;
  CompositePodGroupSpec spec;
  CompositePodGroupStatus status;

  bool operator==(const CompositePodGroup&) const = default;
};

struct AllDisruptionMode {
  bool operator==(const AllDisruptionMode&) const = default;
};

struct BasicSchedulingPolicy {
  bool operator==(const BasicSchedulingPolicy&) const = default;
};

struct SingleDisruptionMode {
  bool operator==(const SingleDisruptionMode&) const = default;
};

struct DisruptionMode {
  std::optional<SingleDisruptionMode> single;
  std::optional<AllDisruptionMode> all;

  bool operator==(const DisruptionMode&) const = default;
};

struct GangSchedulingPolicy {
  std::int32_t min_count = 0;

  bool operator==(const GangSchedulingPolicy&) const = default;
};

struct PodGroupSchedulingPolicy {
  std::optional<BasicSchedulingPolicy> basic;
  std::optional<GangSchedulingPolicy> gang;

  bool operator==(const PodGroupSchedulingPolicy&) const = default;
};

struct TopologyConstraint {
  std::string key;

  bool operator==(const TopologyConstraint&) const = default;
};

struct PodGroupSchedulingConstraints {
  std::vector<TopologyConstraint> topology;

  bool operator==(const PodGroupSchedulingConstraints&) const = default;
};

struct PodGroupResourceClaim {
  std::string name;
  std::optional<std::string> resource_claim_name;
  std::optional<std::string> resource_claim_template_name;

  bool operator==(const PodGroupResourceClaim&) const = default;
};

struct PodGroupSpec {
  std::optional<std::string> parent_composite_pod_group_name;
  PodGroupSchedulingPolicy scheduling_policy;
  std::optional<PodGroupSchedulingConstraints> scheduling_constraints;
  std::vector<PodGroupResourceClaim> resource_claims;
  std::optional<DisruptionMode> disruption_mode;
  std::optional<std::int32_t> priority;
  std::optional<std::string> preemption_policy;

  bool operator==(const PodGroupSpec&) const = default;
};

struct PodGroupResourceClaimStatus {
  std::string name;
  std::optional<std::string> resource_claim_name;

  bool operator==(const PodGroupResourceClaimStatus&) const = default;
};

struct PodGroupStatus {
  std::vector<Condition> conditions;
  std::vector<PodGroupResourceClaimStatus> resource_claim_statuses;

  bool operator==(const PodGroupStatus&) const = default;
};

struct PodGroup {
  ObjectMeta metadata;
  PodGroupSpec spec;
  PodGroupStatus status;

  bool operator==(const PodGroup&) const = default;
};

}  // namespace berth::api
