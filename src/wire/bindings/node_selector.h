#pragma once

#include "api/node_selector.h"
#include "wire/binding.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::NodeSelectorRequirement> {
  using T = api::NodeSelectorRequirement;
  static constexpr std::string_view kMessage = "core.v1.NodeSelectorRequirement";
  static constexpr auto kFields =
      std::tuple{Bound{"key", &T::key}, Bound{"operator", &T::operator_}, Bound{"values", &T::values}};
};

template <>
struct Binding<api::NodeSelectorTerm> {
  using T = api::NodeSelectorTerm;
  static constexpr std::string_view kMessage = "core.v1.NodeSelectorTerm";
  static constexpr auto kFields =
      std::tuple{Bound{"matchExpressions", &T::match_expressions}, Bound{"matchFields", &T::match_fields}};
};

template <>
struct Binding<api::NodeSelector> {
  using T = api::NodeSelector;
  static constexpr std::string_view kMessage = "core.v1.NodeSelector";
  static constexpr auto kFields = std::tuple{Bound{"nodeSelectorTerms", &T::node_selector_terms}};
};

template <>
struct Binding<api::PreferredSchedulingTerm> {
  using T = api::PreferredSchedulingTerm;
  static constexpr std::string_view kMessage = "core.v1.PreferredSchedulingTerm";
  static constexpr auto kFields =
      std::tuple{Bound{"weight", &T::weight}, Bound{"preference", &T::preference}};
};

}  // namespace berth::wire
