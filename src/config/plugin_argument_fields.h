#pragma once

#include <string_view>
#include <tuple>

#include "config/fields.h"
#include "config/plugin_arguments.h"

namespace berth::config {

inline constexpr Emptiness kOmitEmpty = Emptiness::kLeftOut;

template <>
struct Fields<DefaultPreemptionArgs> {
  static constexpr bool kHasTypeMeta = true;
  static constexpr std::string_view kGoStruct = "DefaultPreemptionArgs";
  static constexpr std::string_view kGoType = "v1.DefaultPreemptionArgs";
  static constexpr auto kList = std::make_tuple(
      Field{"minCandidateNodesPercentage", &DefaultPreemptionArgs::min_candidate_nodes_percentage},
      Field{"minCandidateNodesAbsolute", &DefaultPreemptionArgs::min_candidate_nodes_absolute});
};

template <>
struct Fields<DynamicResourcesArgs> {
  static constexpr bool kHasTypeMeta = true;
  static constexpr std::string_view kGoStruct = "DynamicResourcesArgs";
  static constexpr std::string_view kGoType = "v1.DynamicResourcesArgs";
  static constexpr auto kList =
      std::make_tuple(Field{"filterTimeout", &DynamicResourcesArgs::filter_timeout},
                      Field{"bindingTimeout", &DynamicResourcesArgs::binding_timeout});
};

template <>
struct Fields<InterPodAffinityArgs> {
  static constexpr bool kHasTypeMeta = true;
  static constexpr std::string_view kGoStruct = "InterPodAffinityArgs";
  static constexpr std::string_view kGoType = "v1.InterPodAffinityArgs";
  static constexpr auto kList =
      std::make_tuple(Field{"hardPodAffinityWeight", &InterPodAffinityArgs::hard_pod_affinity_weight},
                      Field{"ignorePreferredTermsOfExistingPods",
                            &InterPodAffinityArgs::ignore_preferred_terms_of_existing_pods});
};

template <>
struct Fields<api::NodeSelectorRequirement> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "NodeSelectorRequirement";
  static constexpr std::string_view kGoType = "v1.NodeSelectorRequirement";
  static constexpr auto kList = std::make_tuple(
      Field{"key", &api::NodeSelectorRequirement::key},
      Named(Field{"operator", &api::NodeSelectorRequirement::operator_}, "v1.NodeSelectorOperator"),
      Field{"values", &api::NodeSelectorRequirement::values, kOmitEmpty});
};

template <>
struct Fields<api::NodeSelectorTerm> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "NodeSelectorTerm";
  static constexpr std::string_view kGoType = "v1.NodeSelectorTerm";
  static constexpr auto kList =
      std::make_tuple(Field{"matchExpressions", &api::NodeSelectorTerm::match_expressions, kOmitEmpty},
                      Field{"matchFields", &api::NodeSelectorTerm::match_fields, kOmitEmpty});
};

template <>
struct Fields<api::PreferredSchedulingTerm> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "PreferredSchedulingTerm";
  static constexpr std::string_view kGoType = "v1.PreferredSchedulingTerm";
  static constexpr auto kList =
      std::make_tuple(Field{"weight", &api::PreferredSchedulingTerm::weight},
                      Field{"preference", &api::PreferredSchedulingTerm::preference});
};

template <>
struct Fields<AddedNodeSelector> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "NodeSelector";
  static constexpr std::string_view kGoType = "v1.NodeSelector";
  static constexpr auto kList =
      std::make_tuple(Field{"nodeSelectorTerms", &AddedNodeSelector::node_selector_terms});
};

template <>
struct Fields<AddedAffinity> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "NodeAffinity";
  static constexpr std::string_view kGoType = "v1.NodeAffinity";
  static constexpr auto kList = std::make_tuple(
      Field{"requiredDuringSchedulingIgnoredDuringExecution", &AddedAffinity::required, kOmitEmpty},
      Field{"preferredDuringSchedulingIgnoredDuringExecution", &AddedAffinity::preferred, kOmitEmpty});
};

template <>
struct Fields<NodeAffinityArgs> {
  static constexpr bool kHasTypeMeta = true;
  static constexpr std::string_view kGoStruct = "NodeAffinityArgs";
  static constexpr std::string_view kGoType = "v1.NodeAffinityArgs";
  static constexpr auto kList =
      std::make_tuple(Field{"addedAffinity", &NodeAffinityArgs::added_affinity, kOmitEmpty});
};

template <>
struct Fields<ResourceSpec> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "ResourceSpec";
  static constexpr std::string_view kGoType = "v1.ResourceSpec";
  static constexpr auto kList =
      std::make_tuple(Field{"name", &ResourceSpec::name}, Field{"weight", &ResourceSpec::weight});
};

template <>
struct Fields<NodeResourcesBalancedAllocationArgs> {
  static constexpr bool kHasTypeMeta = true;
  static constexpr std::string_view kGoStruct = "NodeResourcesBalancedAllocationArgs";
  static constexpr std::string_view kGoType = "v1.NodeResourcesBalancedAllocationArgs";
  static constexpr auto kList =
      std::make_tuple(Field{"resources", &NodeResourcesBalancedAllocationArgs::resources});
};

template <>
struct Fields<UtilizationShapePoint> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "UtilizationShapePoint";
  static constexpr std::string_view kGoType = "v1.UtilizationShapePoint";
  static constexpr auto kList = std::make_tuple(Field{"utilization", &UtilizationShapePoint::utilization},
                                                Field{"score", &UtilizationShapePoint::score});
};

template <>
struct Fields<RequestedToCapacityRatio> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "RequestedToCapacityRatioParam";
  static constexpr std::string_view kGoType = "v1.RequestedToCapacityRatioParam";
  static constexpr auto kList = std::make_tuple(Field{"shape", &RequestedToCapacityRatio::shape, kOmitEmpty});
};

template <>
struct Fields<ScoringStrategy> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "ScoringStrategy";
  static constexpr std::string_view kGoType = "v1.ScoringStrategy";
  static constexpr auto kList = std::make_tuple(
      Named(Field{"type", &ScoringStrategy::type}, "v1.ScoringStrategyType"),
      Field{"resources", &ScoringStrategy::resources},
      Field{"requestedToCapacityRatio", &ScoringStrategy::requested_to_capacity_ratio, kOmitEmpty});
};

template <>
struct Fields<NodeResourcesFitArgs> {
  static constexpr bool kHasTypeMeta = true;
  static constexpr std::string_view kGoStruct = "NodeResourcesFitArgs";
  static constexpr std::string_view kGoType = "v1.NodeResourcesFitArgs";
  static constexpr auto kList = std::make_tuple(
      Field{"ignoredResources", &NodeResourcesFitArgs::ignored_resources, kOmitEmpty},
      Field{"ignoredResourceGroups", &NodeResourcesFitArgs::ignored_resource_groups, kOmitEmpty},
      Field{"scoringStrategy", &NodeResourcesFitArgs::scoring_strategy});
};

template <>
struct Fields<api::LabelSelectorRequirement> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "LabelSelectorRequirement";
  static constexpr std::string_view kGoType = "v1.LabelSelectorRequirement";
  static constexpr auto kList = std::make_tuple(
      Field{"key", &api::LabelSelectorRequirement::key},
      Named(Field{"operator", &api::LabelSelectorRequirement::operator_}, "v1.LabelSelectorOperator"),
      Field{"values", &api::LabelSelectorRequirement::values, kOmitEmpty});
};

template <>
struct Fields<api::LabelSelector> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "LabelSelector";
  static constexpr std::string_view kGoType = "v1.LabelSelector";
  static constexpr auto kList =
      std::make_tuple(Field{"matchLabels", &api::LabelSelector::match_labels, kOmitEmpty},
                      Field{"matchExpressions", &api::LabelSelector::match_expressions, kOmitEmpty});
};

template <>
struct Fields<api::TopologySpreadConstraint> {
  static constexpr bool kHasTypeMeta = false;
  static constexpr std::string_view kGoStruct = "TopologySpreadConstraint";
  static constexpr std::string_view kGoType = "v1.TopologySpreadConstraint";
  static constexpr auto kList = std::make_tuple(
      Field{"maxSkew", &api::TopologySpreadConstraint::max_skew},
      Field{"topologyKey", &api::TopologySpreadConstraint::topology_key},
      Named(Field{"whenUnsatisfiable", &api::TopologySpreadConstraint::when_unsatisfiable},
            "v1.UnsatisfiableConstraintAction"),
      Field{"labelSelector", &api::TopologySpreadConstraint::label_selector, kOmitEmpty},
      Field{"minDomains", &api::TopologySpreadConstraint::min_domains, kOmitEmpty},
      Named(Field{"nodeAffinityPolicy", &api::TopologySpreadConstraint::node_affinity_policy, kOmitEmpty},
            "v1.NodeInclusionPolicy"),
      Named(Field{"nodeTaintsPolicy", &api::TopologySpreadConstraint::node_taints_policy, kOmitEmpty},
            "v1.NodeInclusionPolicy"),
      Field{"matchLabelKeys", &api::TopologySpreadConstraint::match_label_keys, kOmitEmpty});
};

template <>
struct Fields<PodTopologySpreadArgs> {
  static constexpr bool kHasTypeMeta = true;
  static constexpr std::string_view kGoStruct = "PodTopologySpreadArgs";
  static constexpr std::string_view kGoType = "v1.PodTopologySpreadArgs";
  static constexpr auto kList =
      std::make_tuple(Field{"defaultConstraints", &PodTopologySpreadArgs::default_constraints, kOmitEmpty},
                      Named(Field{"defaultingType", &PodTopologySpreadArgs::defaulting_type},
                            "v1.PodTopologySpreadConstraintsDefaulting"));
};

template <>
struct Fields<VolumeBindingArgs> {
  static constexpr bool kHasTypeMeta = true;
  static constexpr std::string_view kGoStruct = "VolumeBindingArgs";
  static constexpr std::string_view kGoType = "v1.VolumeBindingArgs";
  static constexpr auto kList =
      std::make_tuple(Field{"bindTimeoutSeconds", &VolumeBindingArgs::bind_timeout_seconds},
                      Field{"shape", &VolumeBindingArgs::shape, kOmitEmpty});
};

}  // namespace berth::config
