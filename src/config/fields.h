#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <tuple>

// One description per struct of a configuration file; decoding, encoding and comparing all follow it.
//
//   template <>
//   struct Fields<LeaderElection> {
//     static constexpr bool kHasTypeMeta = false;  // whether its object may say kind and apiVersion
//     static constexpr std::string_view kGoStruct = "LeaderElectionConfiguration";  // as errors call it
//     static constexpr std::string_view kGoType = "v1alpha1.LeaderElectionConfiguration";
//     static constexpr auto kList = std::make_tuple(Field{"leaderElect", &LeaderElection::leader_elect},
//     ...);
//   };
namespace berth::config {

template <class T>
struct Fields;

template <class T>
concept Described = requires { Fields<T>::kList; };

enum class Emptiness : std::uint8_t { kWritten, kLeftOut };

// `access` is anything that std::invoke takes with the struct: a pointer to a member, or a callable.
template <class Access>
struct Field {
  std::string_view name;
  Access access;
  Emptiness when_empty = Emptiness::kWritten;
  // As Go's decoder names it in errors, where that is not the name: fields of an embedded struct.
  std::string_view go_name = {};
  // The name of its type in errors, where it has one of its own: texts with a meaning.
  std::string_view go_type = {};
};
template <class Access>
Field(std::string_view, Access) -> Field<Access>;
template <class Access>
Field(std::string_view, Access, Emptiness) -> Field<Access>;
template <class Access>
Field(std::string_view, Access, Emptiness, std::string_view) -> Field<Access>;

// A field whose type has a name in Go.
template <class Access>
constexpr Field<Access> Named(Field<Access> field, std::string_view go_type) {
  field.go_type = go_type;
  return field;
}

template <Described T, class Visitor>
constexpr void ForEachField(Visitor&& visit) {
  std::apply([&](const auto&... field) { (visit(field), ...); }, Fields<T>::kList);
}

}  // namespace berth::config
