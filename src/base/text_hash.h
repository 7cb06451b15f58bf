#pragma once

#include <cstddef>
#include <string_view>

#include "absl/hash/hash.h"
#include "absl/strings/string_view.h"

namespace berth::base {

// Of one text or of several in order. Where absl::string_view is a type of its own, Abseil hashes
// std::string_view by way of std::hash, which takes several times as long.
template <class... Text>
std::size_t HashText(const Text&... texts) {
  const auto as_absl = [](std::string_view text) { return absl::string_view(text.data(), text.size()); };
  return absl::HashOf(as_absl(texts)...);
}

}  // namespace berth::base
