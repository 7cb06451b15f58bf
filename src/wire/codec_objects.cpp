#include "wire/bindings/events.h"
#include "wire/bindings/lease.h"
#include "wire/bindings/list.h"
#include "wire/bindings/meta.h"
#include "wire/bindings/node.h"
#include "wire/bindings/object_reference.h"
#include "wire/bindings/priority_class.h"
#include "wire/bindings/workloads.h"
#include "wire/bindings/writes.h"
#include "wire/typed_codec.h"

namespace berth::wire {

BERTH_INSTANTIATE_KIND(api::CoreEvent);
BERTH_INSTANTIATE_KIND(api::Event);
BERTH_INSTANTIATE_KIND(api::Lease);
BERTH_INSTANTIATE_KIND(api::Node);
BERTH_INSTANTIATE_KIND(api::PriorityClass);
BERTH_INSTANTIATE_KIND(api::ReplicaSet);
BERTH_INSTANTIATE_KIND(api::StatefulSet);
BERTH_INSTANTIATE_KIND(api::Namespace);
BERTH_INSTANTIATE_KIND(api::ReplicationController);
BERTH_INSTANTIATE_KIND(api::Service);
BERTH_INSTANTIATE_KIND(api::PodDisruptionBudget);

BERTH_INSTANTIATE_CODEC(api::EventSource);
BERTH_INSTANTIATE_CODEC(api::CoreEventSeries);
BERTH_INSTANTIATE_CODEC(api::EventSeries);
BERTH_INSTANTIATE_CODEC(api::LeaseSpec);
BERTH_INSTANTIATE_CODEC(api::OwnerReference);
BERTH_INSTANTIATE_CODEC(api::ObjectMeta);
BERTH_INSTANTIATE_CODEC(api::LabelSelectorRequirement);
BERTH_INSTANTIATE_CODEC(api::LabelSelector);
BERTH_INSTANTIATE_CODEC(api::Condition);
BERTH_INSTANTIATE_CODEC(api::Preconditions);
BERTH_INSTANTIATE_CODEC(api::DeleteOptions);
BERTH_INSTANTIATE_CODEC(api::ListMeta);
BERTH_INSTANTIATE_CODEC(api::StatusCause);
BERTH_INSTANTIATE_CODEC(api::StatusDetails);
BERTH_INSTANTIATE_CODEC(api::Status);
BERTH_INSTANTIATE_CODEC(api::ContainerImage);
BERTH_INSTANTIATE_CODEC(api::NodePodPreemptionPolicy);
BERTH_INSTANTIATE_CODEC(api::NodeSpec);
BERTH_INSTANTIATE_CODEC(api::NodeCondition);
BERTH_INSTANTIATE_CODEC(api::NodeStatus);
BERTH_INSTANTIATE_CODEC(api::ObjectReference);
BERTH_INSTANTIATE_CODEC(api::SecretReference);
BERTH_INSTANTIATE_CODEC(api::LocalObjectReference);
BERTH_INSTANTIATE_CODEC(api::ReplicaSetSpec);
BERTH_INSTANTIATE_CODEC(api::StatefulSetSpec);
BERTH_INSTANTIATE_CODEC(api::ReplicationControllerSpec);
BERTH_INSTANTIATE_CODEC(api::ServiceSpec);
BERTH_INSTANTIATE_CODEC(api::PodDisruptionBudgetSpec);
BERTH_INSTANTIATE_CODEC(api::PodDisruptionBudgetStatus);
BERTH_INSTANTIATE_CODEC(api::Binding);
BERTH_INSTANTIATE_CODEC(api::Eviction);

template ObjectKind KindOf<api::DeleteOptions>();
template ObjectKind KindOf<api::Status>();
template ObjectKind KindOf<api::Binding>();
template ObjectKind KindOf<api::Eviction>();

}  // namespace berth::wire
