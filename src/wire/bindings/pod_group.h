#pragma once

#include "api/pod_group.h"
#include "wire/binding.h"
#include "wire/bindings/meta.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::AllCompositeDisruptionMode> {
  using T = api::AllCompositeDisruptionMode;
  static constexpr std::string_view kMessage = "scheduling.v1alpha3.AllCompositeDisruptionMode";
  static constexpr auto kFields = std::tuple{};
};

template <>
struct Binding<api::CompositeBasicSchedulingPolicy> {
  using T = api::CompositeBasicSchedulingPolicy;
  static constexpr std::string_view kMessage = "scheduling.v1alpha3.CompositeBasicSchedulingPolicy";
  static constexpr auto kFields = std::tuple{};
};

template <>
struct Binding<api::SingleCompositeDisruptionMode> {
  using T = api::SingleCompositeDisruptionMode;
  static constexpr std::string_view kMessage = "scheduling.v1alpha3.SingleCompositeDisruptionMode";
  static constexpr auto kFields = std::tuple{};
};

template <>
struct Binding<api::CompositeDisruptionMode> {
  using T = api::CompositeDisruptionMode;
  static constexpr std::string_view kMessage = "scheduling.v1alpha3.CompositeDisruptionMode";
  static constexpr auto kFields = std::tuple{Bound{"single", &T::single}, Bound{"all", &T::all}};
};

template <>
struct Binding<api::CompositeGangSchedulingPolicy> {
  using T = api::CompositeGangSchedulingPolicy;
  static constexpr std::string_view kMessage = "scheduling.v1alpha3.CompositeGangSchedulingPolicy";
  static constexpr auto kFields = std::tuple{Bound{"minGroupCount", &T::min_group_count}};
};

template <>
struct Binding<api::CompositePodGroupSchedulingPolicy> {
  using T = api::CompositePodGroupSchedulingPolicy;
  static constexpr std::string_view kMessage = "scheduling.v1alpha3.CompositePodGroupSchedulingPolicy";
  static constexpr auto kFields = std::tuple{Bound{"basic", &T::basic}, Bound{"gang", &T::gang}};
};

template <>
struct Binding<api::CompositeTopologyConstraint> {
  using T = api::CompositeTopologyConstraint;
  static constexpr std::string_view kMessage = "scheduling.v1alpha3.TopologyConstraint";
  static constexpr auto kFields = std::tuple{Bound{"key", &T::key}};
};

template <>
struct Binding<api::CompositePodGroupSchedulingConstraints> {
  using T = api::CompositePodGroupSchedulingConstraints;
  static constexpr std::string_view kMessage = "scheduling.v1alpha3.CompositePodGroupSchedulingConstraints";
  static constexpr auto kFields = std::tuple{Bound{"topology", &T::topology}};
};

template <>
struct Binding<api::CompositePodGroupSpec> {
  using T = api::CompositePodGroupSpec;
  static constexpr std::string_view kMessage = "scheduling.v1alpha3.CompositePodGroupSpec";
  static constexpr auto kFields =
      std::tuple{Bound{"parentCompositePodGroupName", &T::parent_composite_pod_group_name},
                 Bound{"schedulingPolicy", &T::scheduling_policy},
                 Bound{"schedulingConstraints", &T::scheduling_constraints},
                 Bound{"disruptionMode", &T::disruption_mode},
                 Bound{"priority", &T::priority},
                 Bound{"preemptionPolicy", &T::preemption_policy}};
};

template <>
struct Binding<api::CompositePodGroupStatus> {
  using T = api::CompositePodGroupStatus;
  static constexpr std::string_view kMessage = "scheduling.v1alpha3.CompositePodGroupStatus";
  static constexpr auto kFields = std::tuple{Bound{"conditions", &T::conditions}};
};

template <>
struct Binding<api::CompositePodGroup> {
  using T = api::CompositePodGroup;
  static constexpr std::string_view kMessage = "scheduling.v1alpha3.CompositePodGroup";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}, Bound{"status", &T::status}};
};

template <>
struct Binding<api::AllDisruptionMode> {
  using T = api::AllDisruptionMode;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.AllDisruptionMode";
  static constexpr auto kFields = std::tuple{};
};

template <>
struct Binding<api::BasicSchedulingPolicy> {
  using T = api::BasicSchedulingPolicy;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.BasicSchedulingPolicy";
  static constexpr auto kFields = std::tuple{};
};

template <>
struct Binding<api::SingleDisruptionMode> {
  using T = api::SingleDisruptionMode;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.SingleDisruptionMode";
  static constexpr auto kFields = std::tuple{};
};

template <>
struct Binding<api::DisruptionMode> {
  using T = api::DisruptionMode;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.DisruptionMode";
  static constexpr auto kFields = std::tuple{Bound{"single", &T::single}, Bound{"all", &T::all}};
};

template <>
struct Binding<api::GangSchedulingPolicy> {
  using T = api::GangSchedulingPolicy;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.GangSchedulingPolicy";
  static constexpr auto kFields = std::tuple{Bound{"minCount", &T::min_count}};
};

template <>
struct Binding<api::PodGroupSchedulingPolicy> {
  using T = api::PodGroupSchedulingPolicy;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.PodGroupSchedulingPolicy";
  static constexpr auto kFields = std::tuple{Bound{"basic", &T::basic}, Bound{"gang", &T::gang}};
};

template <>
struct Binding<api::TopologyConstraint> {
  using T = api::TopologyConstraint;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.TopologyConstraint";
  static constexpr auto kFields = std::tuple{Bound{"key", &T::key}};
};

template <>
struct Binding<api::PodGroupSchedulingConstraints> {
  using T = api::PodGroupSchedulingConstraints;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.PodGroupSchedulingConstraints";
  static constexpr auto kFields = std::tuple{Bound{"topology", &T::topology}};
};

template <>
struct Binding<api::PodGroupResourceClaim> {
  using T = api::PodGroupResourceClaim;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.PodGroupResourceClaim";
  static constexpr auto kFields =
      std::tuple{Bound{"name", &T::name}, Bound{"resourceClaimName", &T::resource_claim_name},
                 Bound{"resourceClaimTemplateName", &T::resource_claim_template_name}};
};

template <>
struct Binding<api::PodGroupSpec> {
  using T = api::PodGroupSpec;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.PodGroupSpec";
  static constexpr auto kFields =
      std::tuple{Bound{"parentCompositePodGroupName", &T::parent_composite_pod_group_name},
                 Bound{"schedulingPolicy", &T::scheduling_policy},
                 Bound{"schedulingConstraints", &T::scheduling_constraints},
                 Bound{"resourceClaims", &T::resource_claims},
                 Bound{"disruptionMode", &T::disruption_mode},
                 Bound{"priority", &T::priority},
                 Bound{"preemptionPolicy", &T::preemption_policy}};
};

template <>
struct Binding<api::PodGroupResourceClaimStatus> {
  using T = api::PodGroupResourceClaimStatus;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.PodGroupResourceClaimStatus";
  static constexpr auto kFields =
      std::tuple{Bound{"name", &T::name}, Bound{"resourceClaimName", &T::resource_claim_name}};
};

template <>
struct Binding<api::PodGroupStatus> {
  using T = api::PodGroupStatus;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.PodGroupStatus";
  static constexpr auto kFields = std::tuple{Bound{"conditions", &T::conditions},
                                             Bound{"resourceClaimStatuses", &T::resource_claim_statuses}};
};

template <>
struct Binding<api::PodGroup> {
  using T = api::PodGroup;
  static constexpr std::string_view kMessage = "scheduling.v1beta1.PodGroup";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}, Bound{"status", &T::status}};
};

}  // namespace berth::wire
