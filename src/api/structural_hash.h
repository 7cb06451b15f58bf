#pragma once

#include <boost/pfr.hpp>  // house: heavy-include: only .cpp files include this header
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/hash_mix.h"
#include "api/quantity.h"
#include "base/boxed.h"
#include "base/flat_map.h"
#include "base/shared_value.h"

// For .cpp files: hashes the structs of api member by member, so that a new member is hashed as it is
// compared by the defaulted operator==.
namespace berth::api {

class StructuralHasher {
 public:
  std::uint64_t Finish() const { return state_; }

  void Add(std::string_view text) {
    Mix(text.size());
    // FNV-1a over the bytes: names are short, and the result must not depend on the process.
    std::uint64_t hash = 0xCBF29CE484222325U;
    for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
    Mix(hash);
  }
  void Add(const std::string& text) { Add(std::string_view(text)); }
  void Add(const Quantity& quantity) { Mix(quantity.Hash()); }

  template <class T>
  void Add(const std::optional<T>& value) {
    Mix(value.has_value() ? 1 : 0);
    if (value) Add(*value);
  }
  template <class T>
  void Add(const base::Boxed<T>& value) {
    Mix(value.has_value() ? 1 : 0);
    if (value) Add(*value);
  }
  template <class T>
  void Add(const base::SharedValue<T>& value) {
    Add(*value);
  }
  template <class T>
  void Add(const std::vector<T>& values) {
    Mix(values.size());
    for (const T& value : values) Add(value);
  }
  template <class Key, class Value>
  void Add(const base::FlatMap<Key, Value>& map) {
    Mix(map.size());
    for (const auto& [key, value] : map) {
      Add(key);
      Add(value);
    }
  }
  template <class T>
  void Add(const T& value) {
    if constexpr (std::is_integral_v<T>) {
      Mix(static_cast<std::uint64_t>(value));
    } else {
      static_assert(std::is_aggregate_v<T>, "say how to hash this type");
      boost::pfr::for_each_field(value, [this](const auto& member) { Add(member); });
    }
  }

 private:
  void Mix(std::uint64_t value) { state_ = HashMix(state_, value); }

  std::uint64_t state_ = 0;
};

template <class T>
std::size_t StructuralHash(const T& value) {
  StructuralHasher hasher;
  hasher.Add(value);
  return hasher.Finish();
}

}  // namespace berth::api
