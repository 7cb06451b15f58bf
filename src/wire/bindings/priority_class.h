#pragma once

#include "api/priority_class.h"
#include "wire/binding.h"
#include "wire/bindings/meta.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::PriorityClass> {
  using T = api::PriorityClass;
  static constexpr std::string_view kMessage = "scheduling.v1.PriorityClass";
  static constexpr auto kFields = std::tuple{
      Bound{"metadata", &T::metadata}, Bound{"value", &T::value}, Bound{"globalDefault", &T::global_default},
      Bound{"description", &T::description}, Bound{"preemptionPolicy", &T::preemption_policy}};
};

}  // namespace berth::wire
