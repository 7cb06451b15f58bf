#pragma once

#include <span>
#include <string_view>

#include "api/pod_requests.h"

namespace berth::framework {

// Every feature gate that a scheduler reads, read once. The values here are berth's defaults; where they
// differ from kube-scheduler v1.37 the comment says so.
struct Features {
  bool scheduler_pop_from_backoff_q = true;
  bool scheduler_pre_queueing_hints = true;      // upstream: off
  bool scheduler_pre_enqueue_pod_status = true;  // not known upstream
  bool nominated_node_name_for_expectation = true;
  bool scheduler_async_api_calls = true;  // upstream: off
  bool scheduler_async_preemption = true;
  bool opportunistic_batching = true;
  bool generic_workload = false;
  bool topology_aware_workload_scheduling = false;
  bool pod_group_preemption_policy = false;
  bool composite_pod_group = false;
  bool in_place_pod_vertical_scaling = true;
  bool in_place_pod_level_resources_vertical_scaling = true;
  bool in_place_pod_vertical_scaling_scheduler_preemption = false;
  bool node_declared_features = true;
  bool volume_attributes_class = true;
  bool node_inclusion_policy_in_pod_topology_spread = true;
  bool pod_level_resources = true;
  bool storage_capacity_scoring = true;
  bool volume_limit_scaling = true;
  bool match_label_keys_in_pod_topology_spread = true;
  bool taint_toleration_comparison_operators = false;
  bool inter_pod_affinity_hostname_fast_path = false;
  bool dynamic_resource_allocation = true;
  bool dra_resource_claim_device_status = true;
  bool dra_admin_access = true;
  bool dra_prioritized_list = true;
  bool dra_extended_resource = true;
  bool dra_device_taints = true;
  bool dra_device_taint_rules = true;
  bool dra_consumable_capacity = true;
  bool dra_partitionable_devices = true;
  bool dra_scheduler_filter_timeout = true;
  bool dra_device_binding_conditions = true;
  bool dra_fractional_capacity_range = false;
  bool dra_workload_resource_claims = false;
  bool dra_node_allocatable_resources = false;
  bool dra_list_type_attributes = false;
  bool dra_derived_attributes = false;
  bool dra_device_compatibility_groups = false;
  bool dra_optional_node_operations = false;
  bool coordinated_leader_election = false;
  bool component_flagz = true;
  bool component_statusz = true;
  bool native_histograms = true;
  bool contextual_logging = true;
  bool logging_beta_options = true;
  bool remote_request_header_uid = true;
  bool watch_list_client = true;
  bool in_order_informers_batch_process = true;
  bool atomic_fifo = true;
  bool unlock_while_processing_fifo = true;
  bool logging_alpha_options = false;
  bool cbor_serving_and_storage = false;

  // The defaults of kube-scheduler v1.37, for comparing decisions with it.
  static Features Upstream();
  // Those that the room that keeps requests wants to know.
  api::ResourceGates ForResources() const;

  bool operator==(const Features&) const = default;
};

// A gate by the name that users type.
struct FeatureGate {
  std::string_view name;
  bool Features::* value;
  bool upstream_default;
};

// All of them, in the order of the struct.
std::span<const FeatureGate> FeatureGates();
// Null: no gate of that name is read here.
const FeatureGate* FindFeatureGate(std::string_view name);

}  // namespace berth::framework
