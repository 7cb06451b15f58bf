#pragma once

#include <string_view>
#include <tuple>

namespace berth::wire {

// Ties a struct of api to a message of the schema: which member holds which field. Specialised once per
// struct in wire/bindings/, where each says
//
//   static constexpr std::string_view kMessage = "core.v1.Taint";
//   static constexpr auto kFields = std::tuple{Bound{"key", &T::key}, ...};
//
// with the protobuf names of the schema. Numbers, JSON names and presence are looked up there: a binding that
// names a field that does not exist stops the program at its first use, and a test uses all of them.
template <class T>
struct Binding;

template <class Struct, class Member>
struct Bound {
  std::string_view name;
  Member Struct::* member;
};
template <class Struct, class Member>
Bound(std::string_view, Member Struct::*) -> Bound<Struct, Member>;

}  // namespace berth::wire
