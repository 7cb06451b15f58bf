#include "wire/pod_parts.h"

#include <algorithm>

#include "base/check.h"
#include "wire/bindings/pod.h"
#include "wire/typed_members.h"

namespace berth::wire {

Parts::Parts(const TypedTable& table, std::initializer_list<std::pair<std::string_view, Part>> listed) {
  for (const TypedField& field : table.fields) Set(field.field->number, Part::kBound);
  for (const auto& [name, part] : listed) {
    const auto field =
        std::ranges::find(table.fields, name, [](const TypedField& f) { return f.field->name; });
    BERTH_CHECK(field != table.fields.end());
    Set(field->field->number, part);
  }
}

void Parts::Set(std::uint32_t number, Part part) {
  BERTH_CHECK(number < parts_.size());
  parts_[number] = part;
}

PodParts::PodParts()
    : pod(TableOf<api::Pod>(),
          {{"metadata", Part::kMetadata}, {"spec", Part::kSpec}, {"status", Part::kStatus}}),
      meta(TableOf<api::ObjectMeta>(), {{"name", Part::kName},
                                        {"generateName", Part::kUnkeptText},
                                        {"namespace", Part::kNamespace},
                                        {"uid", Part::kUid},
                                        {"resourceVersion", Part::kResourceVersion},
                                        {"generation", Part::kGeneration},
                                        {"creationTimestamp", Part::kCreationTimestamp},
                                        {"deletionTimestamp", Part::kDeletionTimestamp},
                                        {"deletionGracePeriodSeconds", Part::kUnkeptNumber},
                                        {"labels", Part::kLabels},
                                        {"annotations", Part::kAnnotations},
                                        {"ownerReferences", Part::kOwnerReferences},
                                        {"finalizers", Part::kFinalizers}}),
      spec(TableOf<api::PodSpec>(), {{"nodeName", Part::kNodeName},
                                     {"containers", Part::kContainer},
                                     {"initContainers", Part::kContainer},
                                     {"volumes", Part::kVolume},
                                     {"resourceClaims", Part::kResourceClaim}}),
      container(TableOf<api::Container>(), {{"volumeMounts", Part::kVolumeMount}}),
      volume_mount(TableOf<api::VolumeMount>(), {}),
      volume(TableOf<api::Volume>(), {{"volumeSource", Part::kVolumeSource}}),
      volume_source(TableOf<api::VolumeSource>(), {{"persistentVolumeClaim", Part::kVolumeClaim},
                                                   {"secret", Part::kUnreadVolume},
                                                   {"configMap", Part::kUnreadVolume}}),
      volume_claim(TableOf<api::PersistentVolumeClaimVolumeSource>(), {{"claimName", Part::kClaimName}}),
      resource_claim(TableOf<api::PodResourceClaim>(), {{"resourceClaimName", Part::kClaimName}}),
      status(TableOf<api::PodStatus>(), {{"phase", Part::kPhase},
                                         {"conditions", Part::kCondition},
                                         {"nominatedNodeName", Part::kNominatedNodeName},
                                         {"startTime", Part::kStartTime},
                                         {"containerStatuses", Part::kContainerStatus},
                                         {"initContainerStatuses", Part::kContainerStatus},
                                         {"allocatedResources", Part::kResourceStatus},
                                         {"resources", Part::kResourceStatus}}),
      container_status(TableOf<api::ContainerStatus>(), {}),
      condition(TableOf<api::PodCondition>(), {{"type", Part::kConditionType}}) {}

const PodParts& PodParts::Get() {
  static const PodParts parts;
  return parts;
}

}  // namespace berth::wire
