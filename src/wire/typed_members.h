#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "api/quantity.h"
#include "api/raw_json.h"
#include "api/time.h"
#include "base/boxed.h"
#include "base/flat_map.h"
#include "base/shared_value.h"
#include "wire/binding.h"
#include "wire/typed_table.h"

// From the bindings to tables: the only templates of the typed codecs. Private to wire.
namespace berth::wire {

template <class T>
const TypedTable& TableOf();

template <class T>
constexpr Form FormOf() {
  if constexpr (std::is_same_v<T, std::string>)
    return Form::kString;
  else if constexpr (std::is_same_v<T, bool>)
    return Form::kBool;
  else if constexpr (std::is_same_v<T, std::int32_t>)
    return Form::kInt32;
  else if constexpr (std::is_same_v<T, std::int64_t>)
    return Form::kInt64;
  else if constexpr (std::is_same_v<T, api::Quantity>)
    return Form::kQuantity;
  else if constexpr (std::is_same_v<T, api::Time>)
    return Form::kTime;
  else if constexpr (std::is_same_v<T, api::MicroTime>)
    return Form::kMicroTime;
  else if constexpr (std::is_same_v<T, api::RawJson>)
    return Form::kRawJson;
  else
    return Form::kMessage;
}

template <class T>
constexpr MemberType ElementOnly(Holder holder) {
  MemberType type{};
  type.holder = holder;
  type.form = FormOf<T>();
  type.element_size = sizeof(T);
  if constexpr (FormOf<T>() == Form::kMessage) type.table = &TableOf<T>;
  return type;
}

template <class Member>
struct MemberTypeOf {
  static constexpr MemberType kType = ElementOnly<Member>(Holder::kPlain);
};

// std::optional, and what is used like it.
template <class Optional>
struct OptionalMemberType {
  static constexpr MemberType kType = [] {
    MemberType type = ElementOnly<typename Optional::value_type>(Holder::kOptional);
    type.slot = [](void* member, std::string_view) -> void* {
      Optional& optional = *static_cast<Optional*>(member);
      if (!optional.has_value()) optional.emplace();
      return &*optional;
    };
    type.clear = [](void* member) { static_cast<Optional*>(member)->reset(); };
    type.size = [](const void* member) {
      return std::size_t{static_cast<const Optional*>(member)->has_value()};
    };
    type.element = [](const void* member, std::size_t) -> const void* {
      return &**static_cast<const Optional*>(member);
    };
    return type;
  }();
};

template <class T>
struct MemberTypeOf<std::optional<T>> : OptionalMemberType<std::optional<T>> {};
template <class T>
struct MemberTypeOf<base::Boxed<T>> : OptionalMemberType<base::Boxed<T>> {};

template <class T>
struct MemberTypeOf<std::vector<T>> {
  using List = std::vector<T>;
  static constexpr MemberType kType = [] {
    MemberType type = ElementOnly<T>(Holder::kList);
    if constexpr (!std::is_same_v<T, bool>) {
      type.slot = [](void* member, std::string_view) -> void* {
        return &static_cast<List*>(member)->emplace_back();
      };
      type.element = [](const void* member, std::size_t index) -> const void* {
        return &(*static_cast<const List*>(member))[index];
      };
    }
    type.clear = [](void* member) { static_cast<List*>(member)->clear(); };
    type.size = [](const void* member) { return static_cast<const List*>(member)->size(); };
    return type;
  }();
};

template <class T>
struct MemberTypeOf<base::FlatMap<std::string, T>> {
  using Map = base::FlatMap<std::string, T>;
  static constexpr MemberType kType = [] {
    MemberType type = ElementOnly<T>(Holder::kMap);
    type.slot = [](void* member, std::string_view key) -> void* {
      return &static_cast<Map*>(member)->insert_or_assign(std::string(key), T{});
    };
    type.clear = [](void* member) { static_cast<Map*>(member)->clear(); };
    type.size = [](const void* member) { return static_cast<const Map*>(member)->size(); };
    type.element = [](const void* member, std::size_t index) -> const void* {
      return &(static_cast<const Map*>(member)->begin() + static_cast<std::ptrdiff_t>(index))->second;
    };
    type.key = [](const void* member, std::size_t index) -> std::string_view {
      return (static_cast<const Map*>(member)->begin() + static_cast<std::ptrdiff_t>(index))->first;
    };
    return type;
  }();
};

// What is shared is read like what it holds, and made as a value of its own.
template <class T>
struct MemberTypeOf<base::SharedValue<T>> {
  using Shared = base::SharedValue<T>;
  static constexpr MemberType kType = [] {
    MemberType type = MemberTypeOf<T>::kType;
    type.slot = [](void* member, std::string_view key) -> void* {
      return MemberTypeOf<T>::kType.slot(&static_cast<Shared*>(member)->Edit(), key);
    };
    type.clear = [](void* member) { *static_cast<Shared*>(member) = {}; };
    type.size = [](const void* member) {
      return MemberTypeOf<T>::kType.size(&**static_cast<const Shared*>(member));
    };
    type.element = [](const void* member, std::size_t index) -> const void* {
      return MemberTypeOf<T>::kType.element(&**static_cast<const Shared*>(member), index);
    };
    if constexpr (MemberTypeOf<T>::kType.holder == Holder::kMap) {
      type.key = [](const void* member, std::size_t index) -> std::string_view {
        return MemberTypeOf<T>::kType.key(&**static_cast<const Shared*>(member), index);
      };
    }
    return type;
  }();
};

template <class T>
struct MemberTypeOf<std::vector<base::SharedValue<T>>> {
  using List = std::vector<base::SharedValue<T>>;
  static constexpr MemberType kType = [] {
    MemberType type = ElementOnly<T>(Holder::kList);
    type.slot = [](void* member, std::string_view) -> void* {
      return &static_cast<List*>(member)->emplace_back().Edit();
    };
    type.element = [](const void* member, std::size_t index) -> const void* {
      return &*(*static_cast<const List*>(member))[index];
    };
    type.clear = [](void* member) { static_cast<List*>(member)->clear(); };
    type.size = [](const void* member) { return static_cast<const List*>(member)->size(); };
    return type;
  }();
};

template <class Struct, class Member>
BoundMember Describe(const Struct& probe, const Bound<Struct, Member>& bound) {
  const auto* base = reinterpret_cast<const std::byte*>(&probe);
  const auto* member = reinterpret_cast<const std::byte*>(&(probe.*bound.member));
  return {bound.name, &MemberTypeOf<Member>::kType, static_cast<std::size_t>(member - base)};
}

// Made on first use and kept; safe from any thread.
template <class T>
const TypedTable& TableOf() {
  static const TypedTable table = [] {
    [[maybe_unused]] const T probe{};
    return std::apply(
        [&](const auto&... bound) {
          const std::vector<BoundMember> members{Describe(probe, bound)...};
          return MakeTable(Binding<T>::kMessage, members);
        },
        Binding<T>::kFields);
  }();
  return table;
}

}  // namespace berth::wire
