#pragma once

#include "api/affinity.h"
#include "wire/binding.h"
#include "wire/bindings/meta.h"
#include "wire/bindings/node_selector.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::NodeAffinity> {
  using T = api::NodeAffinity;
  static constexpr std::string_view kMessage = "core.v1.NodeAffinity";
  static constexpr auto kFields = std::tuple{Bound{"requiredDuringSchedulingIgnoredDuringExecution",
                                                   &T::required_during_scheduling_ignored_during_execution},
                                             Bound{"preferredDuringSchedulingIgnoredDuringExecution",
                                                   &T::preferred_during_scheduling_ignored_during_execution}};
};

template <>
struct Binding<api::PodAffinityTerm> {
  using T = api::PodAffinityTerm;
  static constexpr std::string_view kMessage = "core.v1.PodAffinityTerm";
  static constexpr auto kFields =
      std::tuple{Bound{"labelSelector", &T::label_selector}, Bound{"namespaces", &T::namespaces},
                 Bound{"topologyKey", &T::topology_key}, Bound{"namespaceSelector", &T::namespace_selector}};
};

template <>
struct Binding<api::WeightedPodAffinityTerm> {
  using T = api::WeightedPodAffinityTerm;
  static constexpr std::string_view kMessage = "core.v1.WeightedPodAffinityTerm";
  static constexpr auto kFields =
      std::tuple{Bound{"weight", &T::weight}, Bound{"podAffinityTerm", &T::pod_affinity_term}};
};

template <>
struct Binding<api::PodAffinity> {
  using T = api::PodAffinity;
  static constexpr std::string_view kMessage = "core.v1.PodAffinity";
  static constexpr auto kFields = std::tuple{Bound{"requiredDuringSchedulingIgnoredDuringExecution",
                                                   &T::required_during_scheduling_ignored_during_execution},
                                             Bound{"preferredDuringSchedulingIgnoredDuringExecution",
                                                   &T::preferred_during_scheduling_ignored_during_execution}};
};

template <>
struct Binding<api::PodAntiAffinity> {
  using T = api::PodAntiAffinity;
  static constexpr std::string_view kMessage = "core.v1.PodAntiAffinity";
  static constexpr auto kFields = std::tuple{Bound{"requiredDuringSchedulingIgnoredDuringExecution",
                                                   &T::required_during_scheduling_ignored_during_execution},
                                             Bound{"preferredDuringSchedulingIgnoredDuringExecution",
                                                   &T::preferred_during_scheduling_ignored_during_execution}};
};

template <>
struct Binding<api::Affinity> {
  using T = api::Affinity;
  static constexpr std::string_view kMessage = "core.v1.Affinity";
  static constexpr auto kFields =
      std::tuple{Bound{"nodeAffinity", &T::node_affinity}, Bound{"podAffinity", &T::pod_affinity},
                 Bound{"podAntiAffinity", &T::pod_anti_affinity}};
};

template <>
struct Binding<api::TopologySpreadConstraint> {
  using T = api::TopologySpreadConstraint;
  static constexpr std::string_view kMessage = "core.v1.TopologySpreadConstraint";
  static constexpr auto kFields = std::tuple{Bound{"maxSkew", &T::max_skew},
                                             Bound{"topologyKey", &T::topology_key},
                                             Bound{"whenUnsatisfiable", &T::when_unsatisfiable},
                                             Bound{"labelSelector", &T::label_selector},
                                             Bound{"minDomains", &T::min_domains},
                                             Bound{"nodeAffinityPolicy", &T::node_affinity_policy},
                                             Bound{"nodeTaintsPolicy", &T::node_taints_policy},
                                             Bound{"matchLabelKeys", &T::match_label_keys}};
};

}  // namespace berth::wire
