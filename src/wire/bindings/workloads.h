#pragma once

#include "api/workloads.h"
#include "wire/binding.h"
#include "wire/bindings/meta.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::ReplicaSetSpec> {
  using T = api::ReplicaSetSpec;
  static constexpr std::string_view kMessage = "apps.v1.ReplicaSetSpec";
  static constexpr auto kFields = std::tuple{Bound{"selector", &T::selector}};
};

template <>
struct Binding<api::ReplicaSet> {
  using T = api::ReplicaSet;
  static constexpr std::string_view kMessage = "apps.v1.ReplicaSet";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}};
};

template <>
struct Binding<api::StatefulSetSpec> {
  using T = api::StatefulSetSpec;
  static constexpr std::string_view kMessage = "apps.v1.StatefulSetSpec";
  static constexpr auto kFields = std::tuple{Bound{"selector", &T::selector}};
};

template <>
struct Binding<api::StatefulSet> {
  using T = api::StatefulSet;
  static constexpr std::string_view kMessage = "apps.v1.StatefulSet";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}};
};

template <>
struct Binding<api::Namespace> {
  using T = api::Namespace;
  static constexpr std::string_view kMessage = "core.v1.Namespace";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}};
};

template <>
struct Binding<api::ReplicationControllerSpec> {
  using T = api::ReplicationControllerSpec;
  static constexpr std::string_view kMessage = "core.v1.ReplicationControllerSpec";
  static constexpr auto kFields = std::tuple{Bound{"selector", &T::selector}};
};

template <>
struct Binding<api::ReplicationController> {
  using T = api::ReplicationController;
  static constexpr std::string_view kMessage = "core.v1.ReplicationController";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}};
};

template <>
struct Binding<api::ServiceSpec> {
  using T = api::ServiceSpec;
  static constexpr std::string_view kMessage = "core.v1.ServiceSpec";
  static constexpr auto kFields = std::tuple{Bound{"selector", &T::selector}};
};

template <>
struct Binding<api::Service> {
  using T = api::Service;
  static constexpr std::string_view kMessage = "core.v1.Service";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}};
};

template <>
struct Binding<api::PodDisruptionBudgetSpec> {
  using T = api::PodDisruptionBudgetSpec;
  static constexpr std::string_view kMessage = "policy.v1.PodDisruptionBudgetSpec";
  static constexpr auto kFields = std::tuple{Bound{"selector", &T::selector}};
};

template <>
struct Binding<api::PodDisruptionBudgetStatus> {
  using T = api::PodDisruptionBudgetStatus;
  static constexpr std::string_view kMessage = "policy.v1.PodDisruptionBudgetStatus";
  static constexpr auto kFields = std::tuple{Bound{"disruptedPods", &T::disrupted_pods},
                                             Bound{"disruptionsAllowed", &T::disruptions_allowed}};
};

template <>
struct Binding<api::PodDisruptionBudget> {
  using T = api::PodDisruptionBudget;
  static constexpr std::string_view kMessage = "policy.v1.PodDisruptionBudget";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &T::metadata}, Bound{"spec", &T::spec}, Bound{"status", &T::status}};
};

}  // namespace berth::wire
