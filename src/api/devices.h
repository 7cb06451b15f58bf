#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/meta.h"
#include "api/node_selector.h"
#include "api/quantity.h"
#include "api/raw_json.h"
#include "api/resource_list.h"
#include "api/time.h"
#include "base/flat_map.h"

// Dynamic resource allocation (resource.k8s.io/v1): claims, slices, classes, taint rules.
namespace berth::api {

struct AllocatedDeviceStatus {
  std::string driver;
  std::string pool;
  std::string device;
  std::optional<std::string> share_id;
  std::vector<Condition> conditions;

  bool operator==(const AllocatedDeviceStatus&) const = default;
};

struct DeviceToleration {
  std::string key;
  std::string operator_;
  std::string value;
  std::string effect;
  std::optional<std::int64_t> toleration_seconds;

  bool operator==(const DeviceToleration&) const = default;
};

struct DeviceRequestAllocationResult {
  std::string request;
  std::string driver;
  std::string pool;
  std::string device;
  std::optional<bool> admin_access;
  std::vector<DeviceToleration> tolerations;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  std::optional<std::string> share_id;
  ResourceList consumed_capacity;
  std::vector<std::string> skip_node_operations;

  bool operator==(const DeviceRequestAllocationResult&) const = default;
};

struct OpaqueDeviceConfiguration {
  std::string driver;
  RawJson parameters;

  bool operator==(const OpaqueDeviceConfiguration&) const = default;
};

struct DeviceConfiguration {
  std::optional<OpaqueDeviceConfiguration> opaque;

  bool operator==(const DeviceConfiguration&) const = default;
};

struct DeviceAllocationConfiguration {
  std::string source;
  std::vector<std::string> requests;
  DeviceConfiguration device_configuration;

  bool operator==(const DeviceAllocationConfiguration&) const = default;
};

struct DeviceAllocationResult {
  std::vector<DeviceRequestAllocationResult> results;
  std::vector<DeviceAllocationConfiguration> config;

  bool operator==(const DeviceAllocationResult&) const = default;
};

struct AllocationResult {
  DeviceAllocationResult devices;
  std::optional<NodeSelector> node_selector;
  std::optional<Time> allocation_timestamp;

  bool operator==(const AllocationResult&) const = default;
};

struct CELDeviceSelector {
  std::string expression;

  bool operator==(const CELDeviceSelector&) const = default;
};

struct CapacityRequestPolicyRange {
  std::optional<Quantity> min;
  std::optional<Quantity> max;
  std::optional<Quantity> step;

  bool operator==(const CapacityRequestPolicyRange&) const = default;
};

struct CapacityRequestPolicy {
  std::optional<Quantity> default_;
  std::vector<Quantity> valid_values;
  std::optional<CapacityRequestPolicyRange> valid_range;

  bool operator==(const CapacityRequestPolicy&) const = default;
};

struct CapacityRequirements {
  ResourceList requests;

  bool operator==(const CapacityRequirements&) const = default;
};

struct Counter {
  Quantity value;

  bool operator==(const Counter&) const = default;
};

struct CounterSet {
  std::string name;
  base::FlatMap<std::string, Counter> counters;

  bool operator==(const CounterSet&) const = default;
};

struct DeviceAttribute {
  std::optional<std::int64_t> int_value;
  std::optional<bool> bool_value;
  std::optional<std::string> string_value;
  std::optional<std::string> version;
  std::vector<std::int64_t> ints;
  std::vector<bool> bools;
  std::vector<std::string> strings;
  std::vector<std::string> versions;

  bool operator==(const DeviceAttribute&) const = default;
};

struct DeviceCapacity {
  Quantity value;
  std::optional<CapacityRequestPolicy> request_policy;

  bool operator==(const DeviceCapacity&) const = default;
};

struct DeviceCounterConsumption {
  std::string counter_set;
  base::FlatMap<std::string, Counter> counters;
  std::vector<std::string> compatibility_groups;

  bool operator==(const DeviceCounterConsumption&) const = default;
};

struct DeviceTaint {
  std::string key;
  std::string value;
  std::string effect;
  std::optional<Time> time_added;

  bool operator==(const DeviceTaint&) const = default;
};

struct NodeAllocatableMapping {
  std::optional<std::string> capacity_key;
  std::optional<Quantity> capacity_multiplier;
  std::optional<Quantity> device_multiplier;

  bool operator==(const NodeAllocatableMapping&) const = default;
};

struct NodeAllocatableOverhead {
  std::optional<Quantity> per_pod;
  std::optional<Quantity> per_container;

  bool operator==(const NodeAllocatableOverhead&) const = default;
};

struct NodeAllocatableResource {
  std::optional<NodeAllocatableMapping> mapping;
  std::optional<NodeAllocatableOverhead> overhead;

  bool operator==(const NodeAllocatableResource&) const = default;
};

struct Device {
  std::string name;
  base::FlatMap<std::string, DeviceAttribute> attributes;
  base::FlatMap<std::string, DeviceCapacity> capacity;
  std::vector<DeviceCounterConsumption> consumes_counters;
  std::optional<std::string> node_name;
  std::optional<NodeSelector> node_selector;
  std::optional<bool> all_nodes;
  std::vector<DeviceTaint> taints;
  std::optional<bool> binds_to_node;
  std::vector<std::string> binding_conditions;
  std::vector<std::string> binding_failure_conditions;
  std::optional<bool> allow_multiple_allocations;
  base::FlatMap<std::string, NodeAllocatableResource> node_allocatable_resources;

  bool operator==(const Device&) const = default;
};

struct DeviceSelector {
  std::optional<CELDeviceSelector> cel;

  bool operator==(const DeviceSelector&) const = default;
};

struct DeviceDerivedAttribute {
  std::string name;
  std::string expression;

  bool operator==(const DeviceDerivedAttribute&) const = default;
};

struct ExactDeviceRequest {
  std::string device_class_name;
  std::vector<DeviceSelector> selectors;
  std::string allocation_mode;
  std::int64_t count = 0;
  std::optional<bool> admin_access;
  std::vector<DeviceToleration> tolerations;
  std::optional<CapacityRequirements> capacity;
  std::vector<DeviceDerivedAttribute> derived_attributes;

  bool operator==(const ExactDeviceRequest&) const = default;
};

struct DeviceSubRequest {
  std::string name;
  std::string device_class_name;
  std::vector<DeviceSelector> selectors;
  std::string allocation_mode;
  std::int64_t count = 0;
  std::vector<DeviceToleration> tolerations;
  std::optional<CapacityRequirements> capacity;
  std::vector<DeviceDerivedAttribute> derived_attributes;

  bool operator==(const DeviceSubRequest&) const = default;
};

struct DeviceRequest {
  std::string name;
  std::optional<ExactDeviceRequest> exactly;
  std::vector<DeviceSubRequest> first_available;

  bool operator==(const DeviceRequest&) const = default;
};

struct DeviceConstraint {
  std::vector<std::string> requests;
  std::optional<std::string> match_attribute;
  std::optional<std::string> distinct_attribute;

  bool operator==(const DeviceConstraint&) const = default;
};

struct DeviceClaimConfiguration {
  std::vector<std::string> requests;
  DeviceConfiguration device_configuration;

  bool operator==(const DeviceClaimConfiguration&) const = default;
};

struct DeviceClaim {
  std::vector<DeviceRequest> requests;
  std::vector<DeviceConstraint> constraints;
  std::vector<DeviceClaimConfiguration> config;

  bool operator==(const DeviceClaim&) const = default;
};

struct DeviceClassConfiguration {
  DeviceConfiguration device_configuration;

  bool operator==(const DeviceClassConfiguration&) const = default;
};

struct DeviceClassSpec {
  std::vector<DeviceSelector> selectors;
  std::vector<DeviceClassConfiguration> config;
  std::optional<std::string> extended_resource_name;

  bool operator==(const DeviceClassSpec&) const = default;
};

struct DeviceClass {
  ObjectMeta metadata;
  DeviceClassSpec spec;

  bool operator==(const DeviceClass&) const = default;
};

struct DeviceTaintSelector {
  std::optional<std::string> driver;
  std::optional<std::string> pool;
  std::optional<std::string> device;

  bool operator==(const DeviceTaintSelector&) const = default;
};

struct DeviceTaintRuleSpec {
  std::optional<DeviceTaintSelector> device_selector;
  DeviceTaint taint;

  bool operator==(const DeviceTaintRuleSpec&) const = default;
};

struct DeviceTaintRule {
  ObjectMeta metadata;
  DeviceTaintRuleSpec spec;

  bool operator==(const DeviceTaintRule&) const = default;
};

struct ResourceClaimSpec {
  DeviceClaim devices;

  bool operator==(const ResourceClaimSpec&) const = default;
};

struct ResourceClaimConsumerReference {
  std::string api_group;
  std::string resource;
  std::string name;
  std::string uid;

  bool operator==(const ResourceClaimConsumerReference&) const = default;
};

struct ResourceClaimStatus {
  std::optional<AllocationResult> allocation;
  std::vector<ResourceClaimConsumerReference> reserved_for;
  std::vector<AllocatedDeviceStatus> devices;

  bool operator==(const ResourceClaimStatus&) const = default;
};

struct ResourceClaim {
  ObjectMeta metadata;
  ResourceClaimSpec spec;
  ResourceClaimStatus status;

  bool operator==(const ResourceClaim&) const = default;
};

struct ResourcePool {
  std::string name;
  std::int64_t generation = 0;
  std::int64_t resource_slice_count = 0;

  bool operator==(const ResourcePool&) const = default;
};

struct ResourceSliceSpec {
  std::string driver;
  ResourcePool pool;
  std::optional<std::string> node_name;
  std::optional<NodeSelector> node_selector;
  std::optional<bool> all_nodes;
  std::vector<Device> devices;
  std::optional<bool> per_device_node_selection;
  std::vector<CounterSet> shared_counters;
  std::vector<std::string> skip_node_operations;

  bool operator==(const ResourceSliceSpec&) const = default;
};

struct ResourceSlice {
  ObjectMeta metadata;
  ResourceSliceSpec spec;

  bool operator==(const ResourceSlice&) const = default;
};

}  // namespace berth::api
