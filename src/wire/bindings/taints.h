#pragma once

#include "api/taints.h"
#include "wire/binding.h"

// Field names are the protobuf names of fields.tsv; numbers, JSON names and presence come from there.
namespace berth::wire {

template <>
struct Binding<api::Taint> {
  using T = api::Taint;
  static constexpr std::string_view kMessage = "core.v1.Taint";
  static constexpr auto kFields = std::tuple{Bound{"key", &T::key}, Bound{"value", &T::value},
                                             Bound{"effect", &T::effect}, Bound{"timeAdded", &T::time_added}};
};

template <>
struct Binding<api::Toleration> {
  using T = api::Toleration;
  static constexpr std::string_view kMessage = "core.v1.Toleration";
  static constexpr auto kFields =
      std::tuple{Bound{"key", &T::key}, Bound{"operator", &T::operator_}, Bound{"value", &T::value},
                 Bound{"effect", &T::effect}, Bound{"tolerationSeconds", &T::toleration_seconds}};
};

}  // namespace berth::wire
