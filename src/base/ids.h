#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace berth::base {

// A dense 32-bit number that cannot be mistaken for another kind of number:
//
//   using TaintSetId = base::Id<struct TaintSetTag>;
//
// A default-constructed id is invalid and orders after every valid one. Ids of deleted things are reused, so
// whoever keeps one while its thing may be deleted keeps a Versioned one.
template <class Tag>
class Id {
 public:
  static constexpr std::uint32_t kInvalidValue = std::numeric_limits<std::uint32_t>::max();

  constexpr Id() = default;
  constexpr explicit Id(std::uint32_t value) : value_(value) {}

  constexpr bool IsValid() const { return value_ != kInvalidValue; }
  constexpr std::uint32_t value() const { return value_; }
  // For indexing columns.
  constexpr std::size_t index() const { return value_; }

  friend constexpr auto operator<=>(Id, Id) = default;

  template <class H>
  friend H AbslHashValue(H state, Id id) {
    return H::combine(std::move(state), id.value_);
  }

 private:
  std::uint32_t value_ = kInvalidValue;
};

// An id and the generation of its slot: still the same thing only while both agree with the table.
template <class IdType>
struct Versioned {
  IdType id;
  std::uint32_t generation = 0;

  friend constexpr auto operator<=>(const Versioned&, const Versioned&) = default;

  template <class H>
  friend H AbslHashValue(H state, const Versioned& versioned) {
    return H::combine(std::move(state), versioned.id, versioned.generation);
  }
};

}  // namespace berth::base
