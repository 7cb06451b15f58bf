#include "wire/bindings/list.h"
#include "wire/bindings/pod_group.h"
#include "wire/typed_codec.h"

namespace berth::wire {

BERTH_INSTANTIATE_KIND(api::CompositePodGroup);
BERTH_INSTANTIATE_KIND(api::PodGroup);

BERTH_INSTANTIATE_CODEC(api::AllCompositeDisruptionMode);
BERTH_INSTANTIATE_CODEC(api::CompositeBasicSchedulingPolicy);
BERTH_INSTANTIATE_CODEC(api::SingleCompositeDisruptionMode);
BERTH_INSTANTIATE_CODEC(api::CompositeDisruptionMode);
BERTH_INSTANTIATE_CODEC(api::CompositeGangSchedulingPolicy);
BERTH_INSTANTIATE_CODEC(api::CompositePodGroupSchedulingPolicy);
BERTH_INSTANTIATE_CODEC(api::CompositeTopologyConstraint);
BERTH_INSTANTIATE_CODEC(api::CompositePodGroupSchedulingConstraints);
BERTH_INSTANTIATE_CODEC(api::CompositePodGroupSpec);
BERTH_INSTANTIATE_CODEC(api::CompositePodGroupStatus);
BERTH_INSTANTIATE_CODEC(api::AllDisruptionMode);
BERTH_INSTANTIATE_CODEC(api::BasicSchedulingPolicy);
BERTH_INSTANTIATE_CODEC(api::SingleDisruptionMode);
BERTH_INSTANTIATE_CODEC(api::DisruptionMode);
BERTH_INSTANTIATE_CODEC(api::GangSchedulingPolicy);
BERTH_INSTANTIATE_CODEC(api::PodGroupSchedulingPolicy);
BERTH_INSTANTIATE_CODEC(api::TopologyConstraint);
BERTH_INSTANTIATE_CODEC(api::PodGroupSchedulingConstraints);
BERTH_INSTANTIATE_CODEC(api::PodGroupResourceClaim);
BERTH_INSTANTIATE_CODEC(api::PodGroupSpec);
BERTH_INSTANTIATE_CODEC(api::PodGroupResourceClaimStatus);
BERTH_INSTANTIATE_CODEC(api::PodGroupStatus);

}  // namespace berth::wire
