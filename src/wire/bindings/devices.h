#pragma once

#include "api/devices.h"
#include "wire/binding.h"
#include "wire/bindings/meta.h"
#include "wire/bindings/node_selector.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::AllocatedDeviceStatus> {
  using T = api::AllocatedDeviceStatus;
  static constexpr std::string_view kMessage = "resource.v1.AllocatedDeviceStatus";
  static constexpr auto kFields =
      std::tuple{Bound{"driver", &T::driver}, Bound{"pool", &T::pool}, Bound{"device", &T::device},
                 Bound{"shareID", &T::share_id}, Bound{"conditions", &T::conditions}};
};

template <>
struct Binding<api::DeviceToleration> {
  using T = api::DeviceToleration;
  static constexpr std::string_view kMessage = "resource.v1.DeviceToleration";
  static constexpr auto kFields =
      std::tuple{Bound{"key", &T::key}, Bound{"operator", &T::operator_}, Bound{"value", &T::value},
                 Bound{"effect", &T::effect}, Bound{"tolerationSeconds", &T::toleration_seconds}};
};

template <>
struct Binding<api::DeviceRequestAllocationResult> {
  using T = api::DeviceRequestAllocationResult;
  static constexpr std::string_view kMessage = "resource.v1.DeviceRequestAllocationResult";
  static constexpr auto kFields =
      std::tuple{Bound{"request", &T::request},
                 Bound{"driver", &T::driver},
                 Bound{"pool", &T::pool},
                 Bound{"device", &T::device},
                 Bound{"adminAccess", &T::admin_access},
                 Bound{"tolerations", &T::tolerations},
                 Bound{"bindingConditions", &T::binding_conditions},
                 Bound{"bindingFailureConditions", &T::binding_failure_conditions},
                 Bound{"shareID", &T::share_id},
                 Bound{"consumedCapacity", &T::consumed_capacity},
                 Bound{"skipNodeOperations", &T::skip_node_operations}};
};

template <>
struct Binding<api::OpaqueDeviceConfiguration> {
  using T = api::OpaqueDeviceConfiguration;
  static constexpr std::string_view kMessage = "resource.v1.OpaqueDeviceConfiguration";
  static constexpr auto kFields =
      std::tuple{Bound{"driver", &T::driver}, Bound{"parameters", &T::parameters}};
};

template <>
struct Binding<api::DeviceConfiguration> {
  using T = api::DeviceConfiguration;
  static constexpr std::string_view kMessage = "resource.v1.DeviceConfiguration";
  static constexpr auto kFields = std::tuple{Bound{"opaque", &T::opaque}};
};

template <>
struct Binding<api::DeviceAllocationConfiguration> {
  using T = api::DeviceAllocationConfiguration;
  static constexpr std::string_view kMessage = "resource.v1.DeviceAllocationConfiguration";
  static constexpr auto kFields = std::tuple{Bound{"source", &T::source}, Bound{"requests", &T::requests},
                                             Bound{"deviceConfiguration", &T::device_configuration}};
};

template <>
struct Binding<api::DeviceAllocationResult> {
  using T = api::DeviceAllocationResult;
  static constexpr std::string_view kMessage = "resource.v1.DeviceAllocationResult";
  static constexpr auto kFields = std::tuple{Bound{"results", &T::results}, Bound{"config", &T::config}};
};

template <>
struct Binding<api::AllocationResult> {
  using T = api::AllocationResult;
  static constexpr std::string_view kMessage = "resource.v1.AllocationResult";
  static constexpr auto kFields =
      std::tuple{Bound{"devices", &T::devices}, Bound{"nodeSelector", &T::node_selector},
                 Bound{"allocationTimestamp", &T::allocation_timestamp}};
};

template <>
struct Binding<api::CELDeviceSelector> {
  using T = api::CELDeviceSelector;
  static constexpr std::string_view kMessage = "resource.v1.CELDeviceSelector";
  static constexpr auto kFields = std::tuple{Bound{"expression", &T::expression}};
};

template <>
struct Binding<api::CapacityRequestPolicyRange> {
  using T = api::CapacityRequestPolicyRange;
  static constexpr std::string_view kMessage = "resource.v1.CapacityRequestPolicyRange";
  static constexpr auto kFields =
      std::tuple{Bound{"min", &T::min}, Bound{"max", &T::max}, Bound{"step", &T::step}};
};

template <>
struct Binding<api::CapacityRequestPolicy> {
  using T = api::CapacityRequestPolicy;
  static constexpr std::string_view kMessage = "resource.v1.CapacityRequestPolicy";
  static constexpr auto kFields =
      std::tuple{Bound{"default", &T::default_}, Bound{"validValues", &T::valid_values},
                 Bound{"validRange", &T::valid_range}};
};

template <>
struct Binding<api::CapacityRequirements> {
  using T = api::CapacityRequirements;
  static constexpr std::string_view kMessage = "resource.v1.CapacityRequirements";
  static constexpr auto kFields = std::tuple{Bound{"requests", &T::requests}};
};

template <>
struct Binding<api::Counter> {
  using T = api::Counter;
  static constexpr std::string_view kMessage = "resource.v1.Counter";
  static constexpr auto kFields = std::tuple{Bound{"value", &T::value}};
};

template <>
struct Binding<api::CounterSet> {
  using T = api::CounterSet;
  static constexpr std::string_view kMessage = "resource.v1.CounterSet";
  static constexpr auto kFields = std::tuple{Bound{"name", &T::name}, Bound{"counters", &T::counters}};
};

template <>
struct Binding<api::DeviceAttribute> {
  using T = api::DeviceAttribute;
  static constexpr std::string_view kMessage = "resource.v1.DeviceAttribute";
  static constexpr auto kFields = std::tuple{
      Bound{"int", &T::int_value},   Bound{"bool", &T::bool_value},  Bound{"string", &T::string_value},
      Bound{"version", &T::version}, Bound{"ints", &T::ints},        Bound{"bools", &T::bools},
      Bound{"strings", &T::strings}, Bound{"versions", &T::versions}};
};

template <>
struct Binding<api::DeviceCapacity> {
  using T = api::DeviceCapacity;
  static constexpr std::string_view kMessage = "resource.v1.DeviceCapacity";
  static constexpr auto kFields =
      std::tuple{Bound{"value", &T::value}, Bound{"requestPolicy", &T::request_policy}};
};

template <>
struct Binding<api::DeviceCounterConsumption> {
  using T = api::DeviceCounterConsumption;
  static constexpr std::string_view kMessage = "resource.v1.DeviceCounterConsumption";
  static constexpr auto kFields =
      std::tuple{Bound{"counterSet", &T::counter_set}, Bound{"counters", &T::counters},
                 Bound{"compatibilityGroups", &T::compatibility_groups}};
};

template <>
struct Binding<api::DeviceTaint> {
  using T = api::DeviceTaint;
  static constexpr std::string_view kMessage = "resource.v1.DeviceTaint";
  static constexpr auto kFields = std::tuple{Bound{"key", &T::key}, Bound{"value", &T::value},
                                             Bound{"effect", &T::effect}, Bound{"timeAdded", &T::time_added}};
};

template <>
struct Binding<api::NodeAllocatableMapping> {
  using T = api::NodeAllocatableMapping;
  static constexpr std::string_view kMessage = "resource.v1.NodeAllocatableMapping";
  static constexpr auto kFields =
      std::tuple{Bound{"capacityKey", &T::capacity_key}, Bound{"capacityMultiplier", &T::capacity_multiplier},
                 Bound{"deviceMultiplier", &T::device_multiplier}};
};

template <>
struct Binding<api::NodeAllocatableOverhead> {
  using T = api::NodeAllocatableOverhead;
  static constexpr std::string_view kMessage = "resource.v1.NodeAllocatableOverhead";
  static constexpr auto kFields =
      std::tuple{Bound{"perPod", &T::per_pod}, Bound{"perContainer", &T::per_container}};
};

template <>
struct Binding<api::NodeAllocatableResource> {
  using T = api::NodeAllocatableResource;
  static constexpr std::string_view kMessage = "resource.v1.NodeAllocatableResource";
  static constexpr auto kFields = std::tuple{Bound{"mapping", &T::mapping}, Bound{"overhead", &T::overhead}};
};

template <>
struct Binding<api::Device> {
  using T = api::Device;
  static constexpr std::string_view kMessage = "resource.v1.Device";
  static constexpr auto kFields =
      std::tuple{Bound{"name", &T::name},
                 Bound{"attributes", &T::attributes},
                 Bound{"capacity", &T::capacity},
                 Bound{"consumesCounters", &T::consumes_counters},
                 Bound{"nodeName", &T::node_name},
                 Bound{"nodeSelector", &T::node_selector},
                 Bound{"allNodes", &T::all_nodes},
                 Bound{"taints", &T::taints},
                 Bound{"bindsToNode", &T::binds_to_node},
                 Bound{"bindingConditions", &T::binding_conditions},
                 Bound{"bindingFailureConditions", &T::binding_failure_conditions},
                 Bound{"allowMultipleAllocations", &T::allow_multiple_allocations},
                 Bound{"nodeAllocatableResources", &T::node_allocatable_resources}};
};

template <>
struct Binding<api::DeviceSelector> {
  using T = api::DeviceSelector;
  static constexpr std::string_view kMessage = "resource.v1.DeviceSelector";
  static constexpr auto kFields = std::tuple{Bound{"cel", &T::cel}};
};

template <>
struct Binding<api::DeviceDerivedAttribute> {
  using T = api::DeviceDerivedAttribute;
  static constexpr std::string_view kMessage = "resource.v1.DeviceDerivedAttribute";
  static constexpr auto kFields = std::tuple{Bound{"name", &T::name}, Bound{"expression", &T::expression}};
};

template <>
struct Binding<api::ExactDeviceRequest> {
  using T = api::ExactDeviceRequest;
  static constexpr std::string_view kMessage = "resource.v1.ExactDeviceRequest";
  static constexpr auto kFields = std::tuple{Bound{"deviceClassName", &T::device_class_name},
                                             Bound{"selectors", &T::selectors},
                                             Bound{"allocationMode", &T::allocation_mode},
                                             Bound{"count", &T::count},
                                             Bound{"adminAccess", &T::admin_access},
                                             Bound{"tolerations", &T::tolerations},
                                             Bound{"capacity", &T::capacity},
                                             Bound{"derivedAttributes", &T::derived_attributes}};
};

template <>
struct Binding<api::DeviceSubRequest> {
  using T = api::DeviceSubRequest;
  static constexpr std::string_view kMessage = "resource.v1.DeviceSubRequest";
  static constexpr auto kFields =
      std::tuple{Bound{"name", &T::name},           Bound{"deviceClassName", &T::device_class_name},
                 Bound{"selectors", &T::selectors}, Bound{"allocationMode", &T::allocation_mode},
                 Bound{"count", &T::count},         Bound{"tolerations", &T::tolerations},
                 Bound{"capacity", &T::capacity},   Bound{"derivedAttributes", &T::derived_attributes}};
};

template <>
struct Binding<api::DeviceRequest> {
  using T = api::DeviceRequest;
  static constexpr std::string_view kMessage = "resource.v1.DeviceRequest";
  static constexpr auto kFields = std::tuple{Bound{"name", &T::name}, Bound{"exactly", &T::exactly},
                                             Bound{"firstAvailable", &T::first_available}};
};

template <>
struct Binding<api::DeviceConstraint> {
  using T = api::DeviceConstraint;
  static constexpr std::string_view kMessage = "resource.v1.DeviceConstraint";
  static constexpr auto kFields =
      std::tuple{Bound{"requests", &T::requests}, Bound{"matchAttribute", &T::match_attribute},
                 Bound{"distinctAttribute", &T::distinct_attribute}};
};

template <>
struct Binding<api::DeviceClaimConfiguration> {
  using T = api::DeviceClaimConfiguration;
  static constexpr std::string_view kMessage = "resource.v1.DeviceClaimConfiguration";
  static constexpr auto kFields =
      std::tuple{Bound{"requests", &T::requests}, Bound{"deviceConfiguration", &T::device_configuration}};
};

template <>
struct Binding<api::DeviceClaim> {
  using T = api::DeviceClaim;
  static constexpr std::string_view kMessage = "resource.v1.DeviceClaim";
  static constexpr auto kFields = std::tuple{
      Bound{"requests", &T::requests}, Bound{"constraints", &T::constraints}, Bound{"config", &T::config}};
};

template <>
struct Binding<api::DeviceClassConfiguration> {
  using T = api::DeviceClassConfiguration;
  static constexpr std::string_view kMessage = "resource.v1.DeviceClassConfiguration";
  static constexpr auto kFields = std::tuple{Bound{"deviceConfiguration", &T::device_configuration}};
};

template <>
struct Binding<api::DeviceClassSpec> {
  using T = api::DeviceClassSpec;
  static constexpr std::string_view kMessage = "resource.v1.DeviceClassSpec";
  static constexpr auto kFields = std::tuple{Bound{"selectors", &T::selectors}, Bound{"config", &T::config},
                                             Bound{"extendedResourceName", &T::extended_resource_name}};
};

template <>
struct Binding<api::DeviceClass> {
  using T = api::DeviceClass;
  static constexpr std::string_view kMessage = "resource.v1.DeviceClass";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}};
};

template <>
struct Binding<api::DeviceTaintSelector> {
  using T = api::DeviceTaintSelector;
  static constexpr std::string_view kMessage = "resource.v1.DeviceTaintSelector";
  static constexpr auto kFields =
      std::tuple{Bound{"driver", &T::driver}, Bound{"pool", &T::pool}, Bound{"device", &T::device}};
};

template <>
struct Binding<api::DeviceTaintRuleSpec> {
  using T = api::DeviceTaintRuleSpec;
  static constexpr std::string_view kMessage = "resource.v1.DeviceTaintRuleSpec";
  static constexpr auto kFields =
      std::tuple{Bound{"deviceSelector", &T::device_selector}, Bound{"taint", &T::taint}};
};

template <>
struct Binding<api::DeviceTaintRule> {
  using T = api::DeviceTaintRule;
  static constexpr std::string_view kMessage = "resource.v1.DeviceTaintRule";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}};
};

template <>
struct Binding<api::ResourceClaimSpec> {
  using T = api::ResourceClaimSpec;
  static constexpr std::string_view kMessage = "resource.v1.ResourceClaimSpec";
  static constexpr auto kFields = std::tuple{Bound{"devices", &T::devices}};
};

template <>
struct Binding<api::ResourceClaimConsumerReference> {
  using T = api::ResourceClaimConsumerReference;
  static constexpr std::string_view kMessage = "resource.v1.ResourceClaimConsumerReference";
  static constexpr auto kFields =
      std::tuple{Bound{"apiGroup", &T::api_group}, Bound{"resource", &T::resource}, Bound{"name", &T::name},
                 Bound{"uid", &T::uid}};
};

template <>
struct Binding<api::ResourceClaimStatus> {
  using T = api::ResourceClaimStatus;
  static constexpr std::string_view kMessage = "resource.v1.ResourceClaimStatus";
  static constexpr auto kFields =
      std::tuple{Bound{"allocation", &T::allocation}, Bound{"reservedFor", &T::reserved_for},
                 Bound{"devices", &T::devices}};
};

template <>
struct Binding<api::ResourceClaim> {
  using T = api::ResourceClaim;
  static constexpr std::string_view kMessage = "resource.v1.ResourceClaim";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}, Bound{"status", &T::status}};
};

template <>
struct Binding<api::ResourcePool> {
  using T = api::ResourcePool;
  static constexpr std::string_view kMessage = "resource.v1.ResourcePool";
  static constexpr auto kFields = std::tuple{Bound{"name", &T::name}, Bound{"generation", &T::generation},
                                             Bound{"resourceSliceCount", &T::resource_slice_count}};
};

template <>
struct Binding<api::ResourceSliceSpec> {
  using T = api::ResourceSliceSpec;
  static constexpr std::string_view kMessage = "resource.v1.ResourceSliceSpec";
  static constexpr auto kFields = std::tuple{Bound{"driver", &T::driver},
                                             Bound{"pool", &T::pool},
                                             Bound{"nodeName", &T::node_name},
                                             Bound{"nodeSelector", &T::node_selector},
                                             Bound{"allNodes", &T::all_nodes},
                                             Bound{"devices", &T::devices},
                                             Bound{"perDeviceNodeSelection", &T::per_device_node_selection},
                                             Bound{"sharedCounters", &T::shared_counters},
                                             Bound{"skipNodeOperations", &T::skip_node_operations}};
};

template <>
struct Binding<api::ResourceSlice> {
  using T = api::ResourceSlice;
  static constexpr std::string_view kMessage = "resource.v1.ResourceSlice";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}};
};

}  // namespace berth::wire
