#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/resource_list.h"
#include "base/boxed.h"

// Containers: ports, images, resources, restart rules.
namespace berth::api {

struct ContainerPort {
  std::int32_t host_port = 0;
  std::string protocol;
  std::string host_ip;

  bool operator==(const ContainerPort&) const = default;
};

struct ContainerResourceClaim {
  std::string name;
  std::string request;

  bool operator==(const ContainerResourceClaim&) const = default;
};

struct ResourceRequirements {
  ResourceList limits;
  ResourceList requests;
  std::vector<ContainerResourceClaim> claims;

  bool operator==(const ResourceRequirements&) const = default;
};

struct ContainerRestartRule {
  std::string action;

  bool operator==(const ContainerRestartRule&) const = default;
};

struct VolumeMount {
  std::vector<std::string> bind_mount_options;

  bool operator==(const VolumeMount&) const = default;
};

struct Container {
  std::string name;
  std::string image;
  std::vector<ContainerPort> ports;
  ResourceRequirements resources;
  base::Boxed<std::string> restart_policy;
  std::vector<ContainerRestartRule> restart_policy_rules;
  std::vector<VolumeMount> volume_mounts;

  bool operator==(const Container&) const = default;
};

struct ContainerExtendedResourceRequest {
  std::string container_name;
  std::string resource_name;
  std::string request_name;

  bool operator==(const ContainerExtendedResourceRequest&) const = default;
};

struct ContainerStatus {
  std::string name;
  ResourceList allocated_resources;
  std::optional<ResourceRequirements> resources;

  bool operator==(const ContainerStatus&) const = default;
};

struct EphemeralContainerCommon {
  std::vector<VolumeMount> volume_mounts;

  bool operator==(const EphemeralContainerCommon&) const = default;
};

struct EphemeralContainer {
  EphemeralContainerCommon ephemeral_container_common;

  bool operator==(const EphemeralContainer&) const = default;
};

}  // namespace berth::api
