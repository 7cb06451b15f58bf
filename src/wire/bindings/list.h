#pragma once

#include <algorithm>
#include <array>
#include <string_view>

#include "api/list.h"
#include "wire/binding.h"
#include "wire/bindings/meta.h"

namespace berth::wire {

// The list of a kind is the message with the kind's name and "List" behind it.
template <class T>
struct Binding<api::List<T>> {
  static constexpr std::string_view kSuffix = "List";
  static constexpr auto kName = [] {
    std::array<char, Binding<T>::kMessage.size() + kSuffix.size()> name{};
    std::ranges::copy(kSuffix, std::ranges::copy(Binding<T>::kMessage, name.begin()).out);
    return name;
  }();
  static constexpr std::string_view kMessage{kName.data(), kName.size()};
  static constexpr auto kFields =
      std::tuple{Bound{"metadata", &api::List<T>::metadata}, Bound{"items", &api::List<T>::items}};
};

}  // namespace berth::wire
