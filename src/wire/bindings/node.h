#pragma once

#include "api/node.h"
#include "wire/binding.h"
#include "wire/bindings/meta.h"
#include "wire/bindings/taints.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::ContainerImage> {
  using T = api::ContainerImage;
  static constexpr std::string_view kMessage = "core.v1.ContainerImage";
  static constexpr auto kFields = std::tuple{Bound{"names", &T::names}, Bound{"sizeBytes", &T::size_bytes}};
};

template <>
struct Binding<api::NodePodPreemptionPolicy> {
  using T = api::NodePodPreemptionPolicy;
  static constexpr std::string_view kMessage = "core.v1.NodePodPreemptionPolicy";
  static constexpr auto kFields = std::tuple{Bound{"disableResizePreemption", &T::disable_resize_preemption}};
};

template <>
struct Binding<api::NodeSpec> {
  using T = api::NodeSpec;
  static constexpr std::string_view kMessage = "core.v1.NodeSpec";
  static constexpr auto kFields =
      std::tuple{Bound{"unschedulable", &T::unschedulable}, Bound{"taints", &T::taints},
                 Bound{"podPreemptionPolicy", &T::pod_preemption_policy}};
};

template <>
struct Binding<api::NodeCondition> {
  using T = api::NodeCondition;
  static constexpr std::string_view kMessage = "core.v1.NodeCondition";
  static constexpr auto kFields = std::tuple{Bound{"type", &T::type}, Bound{"status", &T::status}};
};

template <>
struct Binding<api::NodeStatus> {
  using T = api::NodeStatus;
  static constexpr std::string_view kMessage = "core.v1.NodeStatus";
  static constexpr auto kFields =
      std::tuple{Bound{"allocatable", &T::allocatable}, Bound{"conditions", &T::conditions},
                 Bound{"images", &T::images}, Bound{"declaredFeatures", &T::declared_features}};
};

template <>
struct Binding<api::Node> {
  using T = api::Node;
  static constexpr std::string_view kMessage = "core.v1.Node";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}, Bound{"status", &T::status}};
};

}  // namespace berth::wire
