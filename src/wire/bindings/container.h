#pragma once

#include "api/container.h"
#include "wire/binding.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::ContainerPort> {
  using T = api::ContainerPort;
  static constexpr std::string_view kMessage = "core.v1.ContainerPort";
  static constexpr auto kFields = std::tuple{Bound{"hostPort", &T::host_port},
                                             Bound{"protocol", &T::protocol}, Bound{"hostIP", &T::host_ip}};
};

template <>
struct Binding<api::ContainerResourceClaim> {
  using T = api::ContainerResourceClaim;
  static constexpr std::string_view kMessage = "core.v1.ResourceClaim";
  static constexpr auto kFields = std::tuple{Bound{"name", &T::name}, Bound{"request", &T::request}};
};

template <>
struct Binding<api::ResourceRequirements> {
  using T = api::ResourceRequirements;
  static constexpr std::string_view kMessage = "core.v1.ResourceRequirements";
  static constexpr auto kFields =
      std::tuple{Bound{"limits", &T::limits}, Bound{"requests", &T::requests}, Bound{"claims", &T::claims}};
};

template <>
struct Binding<api::ContainerRestartRule> {
  using T = api::ContainerRestartRule;
  static constexpr std::string_view kMessage = "core.v1.ContainerRestartRule";
  static constexpr auto kFields = std::tuple{Bound{"action", &T::action}};
};

template <>
struct Binding<api::VolumeMount> {
  using T = api::VolumeMount;
  static constexpr std::string_view kMessage = "core.v1.VolumeMount";
  static constexpr auto kFields = std::tuple{Bound{"bindMountOptions", &T::bind_mount_options}};
};

template <>
struct Binding<api::Container> {
  using T = api::Container;
  static constexpr std::string_view kMessage = "core.v1.Container";
  static constexpr auto kFields = std::tuple{Bound{"name", &T::name},
                                             Bound{"image", &T::image},
                                             Bound{"ports", &T::ports},
                                             Bound{"resources", &T::resources},
                                             Bound{"restartPolicy", &T::restart_policy},
                                             Bound{"restartPolicyRules", &T::restart_policy_rules},
                                             Bound{"volumeMounts", &T::volume_mounts}};
};

template <>
struct Binding<api::ContainerExtendedResourceRequest> {
  using T = api::ContainerExtendedResourceRequest;
  static constexpr std::string_view kMessage = "core.v1.ContainerExtendedResourceRequest";
  static constexpr auto kFields =
      std::tuple{Bound{"containerName", &T::container_name}, Bound{"resourceName", &T::resource_name},
                 Bound{"requestName", &T::request_name}};
};

template <>
struct Binding<api::ContainerStatus> {
  using T = api::ContainerStatus;
  static constexpr std::string_view kMessage = "core.v1.ContainerStatus";
  static constexpr auto kFields =
      std::tuple{Bound{"name", &T::name}, Bound{"allocatedResources", &T::allocated_resources},
                 Bound{"resources", &T::resources}};
};

template <>
struct Binding<api::EphemeralContainerCommon> {
  using T = api::EphemeralContainerCommon;
  static constexpr std::string_view kMessage = "core.v1.EphemeralContainerCommon";
  static constexpr auto kFields = std::tuple{Bound{"volumeMounts", &T::volume_mounts}};
};

template <>
struct Binding<api::EphemeralContainer> {
  using T = api::EphemeralContainer;
  static constexpr std::string_view kMessage = "core.v1.EphemeralContainer";
  static constexpr auto kFields =
      std::tuple{Bound{"ephemeralContainerCommon", &T::ephemeral_container_common}};
};

}  // namespace berth::wire
