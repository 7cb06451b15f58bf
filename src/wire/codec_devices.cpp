#include "wire/bindings/devices.h"
#include "wire/bindings/list.h"
#include "wire/typed_codec.h"

namespace berth::wire {

BERTH_INSTANTIATE_KIND(api::DeviceClass);
BERTH_INSTANTIATE_KIND(api::DeviceTaintRule);
BERTH_INSTANTIATE_KIND(api::ResourceClaim);
BERTH_INSTANTIATE_KIND(api::ResourceSlice);

BERTH_INSTANTIATE_CODEC(api::AllocatedDeviceStatus);
BERTH_INSTANTIATE_CODEC(api::DeviceToleration);
BERTH_INSTANTIATE_CODEC(api::DeviceRequestAllocationResult);
BERTH_INSTANTIATE_CODEC(api::OpaqueDeviceConfiguration);
BERTH_INSTANTIATE_CODEC(api::DeviceConfiguration);
BERTH_INSTANTIATE_CODEC(api::DeviceAllocationConfiguration);
BERTH_INSTANTIATE_CODEC(api::DeviceAllocationResult);
BERTH_INSTANTIATE_CODEC(api::AllocationResult);
BERTH_INSTANTIATE_CODEC(api::CELDeviceSelector);
BERTH_INSTANTIATE_CODEC(api::CapacityRequestPolicyRange);
BERTH_INSTANTIATE_CODEC(api::CapacityRequestPolicy);
BERTH_INSTANTIATE_CODEC(api::CapacityRequirements);
BERTH_INSTANTIATE_CODEC(api::Counter);
BERTH_INSTANTIATE_CODEC(api::CounterSet);
BERTH_INSTANTIATE_CODEC(api::DeviceAttribute);
BERTH_INSTANTIATE_CODEC(api::DeviceCapacity);
BERTH_INSTANTIATE_CODEC(api::DeviceCounterConsumption);
BERTH_INSTANTIATE_CODEC(api::DeviceTaint);
BERTH_INSTANTIATE_CODEC(api::NodeAllocatableMapping);
BERTH_INSTANTIATE_CODEC(api::NodeAllocatableOverhead);
BERTH_INSTANTIATE_CODEC(api::NodeAllocatableResource);
BERTH_INSTANTIATE_CODEC(api::Device);
BERTH_INSTANTIATE_CODEC(api::DeviceSelector);
BERTH_INSTANTIATE_CODEC(api::DeviceDerivedAttribute);
BERTH_INSTANTIATE_CODEC(api::ExactDeviceRequest);
BERTH_INSTANTIATE_CODEC(api::DeviceSubRequest);
BERTH_INSTANTIATE_CODEC(api::DeviceRequest);
BERTH_INSTANTIATE_CODEC(api::DeviceConstraint);
BERTH_INSTANTIATE_CODEC(api::DeviceClaimConfiguration);
BERTH_INSTANTIATE_CODEC(api::DeviceClaim);
BERTH_INSTANTIATE_CODEC(api::DeviceClassConfiguration);
BERTH_INSTANTIATE_CODEC(api::DeviceClassSpec);
BERTH_INSTANTIATE_CODEC(api::DeviceTaintSelector);
BERTH_INSTANTIATE_CODEC(api::DeviceTaintRuleSpec);
BERTH_INSTANTIATE_CODEC(api::ResourceClaimSpec);
BERTH_INSTANTIATE_CODEC(api::ResourceClaimConsumerReference);
BERTH_INSTANTIATE_CODEC(api::ResourceClaimStatus);
BERTH_INSTANTIATE_CODEC(api::ResourcePool);
BERTH_INSTANTIATE_CODEC(api::ResourceSliceSpec);

}  // namespace berth::wire
