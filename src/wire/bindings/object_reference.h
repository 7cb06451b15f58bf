#pragma once

#include "api/object_reference.h"
#include "wire/binding.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::ObjectReference> {
  using T = api::ObjectReference;
  static constexpr std::string_view kMessage = "core.v1.ObjectReference";
  static constexpr auto kFields = std::tuple{Bound{"kind", &T::kind},
                                             Bound{"namespace", &T::namespace_},
                                             Bound{"name", &T::name},
                                             Bound{"uid", &T::uid},
                                             Bound{"apiVersion", &T::api_version},
                                             Bound{"resourceVersion", &T::resource_version}};
};

template <>
struct Binding<api::SecretReference> {
  using T = api::SecretReference;
  static constexpr std::string_view kMessage = "core.v1.SecretReference";
  static constexpr auto kFields = std::tuple{};
};

template <>
struct Binding<api::LocalObjectReference> {
  using T = api::LocalObjectReference;
  static constexpr std::string_view kMessage = "core.v1.LocalObjectReference";
  static constexpr auto kFields = std::tuple{};
};

}  // namespace berth::wire
