#pragma once

#include "api/writes.h"
#include "wire/binding.h"
#include "wire/bindings/meta.h"
#include "wire/bindings/object_reference.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::Binding> {
  using T = api::Binding;
  static constexpr std::string_view kMessage = "core.v1.Binding";
  static constexpr auto kFields = std::tuple{Bound{"metadata", &T::metadata}, Bound{"target", &T::target}};
};

template <>
struct Binding<api::Eviction> {
  using T = api::Eviction;
  static constexpr std::string_view kMessage = "policy.v1.Eviction";
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &T::metadata}, Bound{"deleteOptions", &T::delete_options}};
};

}  // namespace berth::wire
