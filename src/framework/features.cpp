#include "framework/features.h"

#include <algorithm>

namespace berth::framework {
namespace {

constexpr FeatureGate kGates[] = {
    {"SchedulerPopFromBackoffQ", &Features::scheduler_pop_from_backoff_q, true},
    {"SchedulerPreQueueingHints", &Features::scheduler_pre_queueing_hints, false},
    {"SchedulerPreEnqueuePodStatus", &Features::scheduler_pre_enqueue_pod_status, false},
    {"NominatedNodeNameForExpectation", &Features::nominated_node_name_for_expectation, true},
    {"SchedulerAsyncAPICalls", &Features::scheduler_async_api_calls, false},
    {"SchedulerAsyncPreemption", &Features::scheduler_async_preemption, true},
    {"OpportunisticBatching", &Features::opportunistic_batching, true},
    {"GenericWorkload", &Features::generic_workload, false},
    {"TopologyAwareWorkloadScheduling", &Features::topology_aware_workload_scheduling, false},
    {"PodGroupPreemptionPolicy", &Features::pod_group_preemption_policy, false},
    {"CompositePodGroup", &Features::composite_pod_group, false},
    {"InPlacePodVerticalScaling", &Features::in_place_pod_vertical_scaling, true},
    {"InPlacePodLevelResourcesVerticalScaling", &Features::in_place_pod_level_resources_vertical_scaling,
     true},
    {"InPlacePodVerticalScalingSchedulerPreemption",
     &Features::in_place_pod_vertical_scaling_scheduler_preemption, false},
    {"NodeDeclaredFeatures", &Features::node_declared_features, true},
    {"VolumeAttributesClass", &Features::volume_attributes_class, true},
    {"NodeInclusionPolicyInPodTopologySpread", &Features::node_inclusion_policy_in_pod_topology_spread, true},
    {"PodLevelResources", &Features::pod_level_resources, true},
    {"StorageCapacityScoring", &Features::storage_capacity_scoring, true},
    {"VolumeLimitScaling", &Features::volume_limit_scaling, true},
    {"MatchLabelKeysInPodTopologySpread", &Features::match_label_keys_in_pod_topology_spread, true},
    {"TaintTolerationComparisonOperators", &Features::taint_toleration_comparison_operators, false},
    {"InterPodAffinityHostnameFastPath", &Features::inter_pod_affinity_hostname_fast_path, false},
    {"DynamicResourceAllocation", &Features::dynamic_resource_allocation, true},
    {"DRAResourceClaimDeviceStatus", &Features::dra_resource_claim_device_status, true},
    {"DRAAdminAccess", &Features::dra_admin_access, true},
    {"DRAPrioritizedList", &Features::dra_prioritized_list, true},
    {"DRAExtendedResource", &Features::dra_extended_resource, true},
    {"DRADeviceTaints", &Features::dra_device_taints, true},
    {"DRADeviceTaintRules", &Features::dra_device_taint_rules, true},
    {"DRAConsumableCapacity", &Features::dra_consumable_capacity, true},
    {"DRAPartitionableDevices", &Features::dra_partitionable_devices, true},
    {"DRASchedulerFilterTimeout", &Features::dra_scheduler_filter_timeout, true},
    {"DRADeviceBindingConditions", &Features::dra_device_binding_conditions, true},
    {"DRAFractionalCapacityRange", &Features::dra_fractional_capacity_range, false},
    {"DRAWorkloadResourceClaims", &Features::dra_workload_resource_claims, false},
    {"DRANodeAllocatableResources", &Features::dra_node_allocatable_resources, false},
    {"DRAListTypeAttributes", &Features::dra_list_type_attributes, false},
    {"DRADerivedAttributes", &Features::dra_derived_attributes, false},
    {"DRADeviceCompatibilityGroups", &Features::dra_device_compatibility_groups, false},
    {"DRAOptionalNodeOperations", &Features::dra_optional_node_operations, false},
    {"CoordinatedLeaderElection", &Features::coordinated_leader_election, false},
    {"ComponentFlagz", &Features::component_flagz, true},
    {"ComponentStatusz", &Features::component_statusz, true},
    {"NativeHistograms", &Features::native_histograms, true},
    {"ContextualLogging", &Features::contextual_logging, true},
    {"LoggingBetaOptions", &Features::logging_beta_options, true},
    {"RemoteRequestHeaderUID", &Features::remote_request_header_uid, true},
    {"WatchListClient", &Features::watch_list_client, true},
    {"InOrderInformersBatchProcess", &Features::in_order_informers_batch_process, true},
    {"AtomicFIFO", &Features::atomic_fifo, true},
    {"UnlockWhileProcessingFIFO", &Features::unlock_while_processing_fifo, true},
    {"LoggingAlphaOptions", &Features::logging_alpha_options, false},
    {"CBORServingAndStorage", &Features::cbor_serving_and_storage, false},
};

}  // namespace

std::span<const FeatureGate> FeatureGates() { return kGates; }

const FeatureGate* FindFeatureGate(std::string_view name) {
  const auto* const found = std::ranges::find(kGates, name, &FeatureGate::name);
  return found == std::end(kGates) ? nullptr : found;
}

Features Features::Upstream() {
  Features features;
  for (const FeatureGate& gate : kGates) features.*gate.value = gate.upstream_default;
  return features;
}

api::ResourceGates Features::ForResources() const {
  return {.pod_level_resources = pod_level_resources,
          .in_place_pod_vertical_scaling = in_place_pod_vertical_scaling,
          .in_place_pod_level_resources_vertical_scaling = in_place_pod_level_resources_vertical_scaling,
          .dra_node_allocatable_resources = dra_node_allocatable_resources};
}

}  // namespace berth::framework
