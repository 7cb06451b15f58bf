#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"

#include "framework/status.h"

namespace berth::framework {

// A plugin's number in its profile: its position in the expanded order of plugins.
using PluginIndex = std::uint16_t;

// One reason, as the words that a plugin has in its source and what it puts after them: "Insufficient " and
// "nvidia.com/gpu". The words must live as long as the process.
struct Reason {
  std::string_view words;
  std::string parameter;

  std::string Text() const { return std::string(words) + parameter; }
  bool operator==(const Reason&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Reason& r) {
    return H::combine(std::move(h), r.words, r.parameter);
  }
};

// Why a row was refused: 16 bits per row instead of a status with strings. Zero is "not refused".
class RejectionId {
 public:
  constexpr RejectionId() = default;
  constexpr explicit RejectionId(std::uint16_t value) : value_(value) {}
  constexpr bool IsRefusal() const { return value_ != 0; }
  constexpr std::uint16_t value() const { return value_; }
  friend constexpr auto operator<=>(RejectionId, RejectionId) = default;

 private:
  std::uint16_t value_ = 0;
};
inline constexpr RejectionId kAccepted{};

struct Rejection {
  PluginIndex plugin = 0;
  Code code = Code::kUnschedulable;
  std::vector<Reason> reasons;

  bool operator==(const Rejection&) const = default;
  template <class H>
  friend H AbslHashValue(H h, const Rejection& r) {
    return H::combine(std::move(h), r.plugin, r.code, r.reasons);
  }
};

// A refusal whose words never vary, as a plugin lists them (Plugin::Reasons).
struct ReasonText {
  Code code;
  std::string_view words;
};

// The distinct refusals of one profile.
//
// 1. The fixed ones, which plugins list, come first and are never forgotten.
// 2. Ids of the others are good until Reset(), which the engine calls between two attempts, together with
//    dropping the views and plans that hold such ids. epoch() counts the resets.
// 3. The table never runs over: near its end parameters are left out of reasons that are new, and beyond that
//    the reasons. Messages get coarser; which row is refused by whom, and with what code, stays exact.
class RejectionTable {
 public:
  // Smaller capacities are for tests; at least twice kHeadroom.
  static constexpr std::size_t kCapacityMax = 65'535;
  static constexpr std::size_t kHeadroom = 2'048;
  explicit RejectionTable(std::size_t capacity = kCapacityMax);

  // Before any Intern. Returns the id of the first; the others follow it. Accepted if there are none.
  RejectionId AddFixed(PluginIndex plugin, std::span<const ReasonText> reasons);

  // The code is one of a refusal.
  RejectionId Intern(const Rejection& rejection);
  // Valid until the next Intern or Reset.
  const Rejection& Get(RejectionId id) const;
  Status ToStatus(RejectionId id, std::string_view plugin_name) const;

  std::size_t size() const { return entries_.size(); }
  // Time for a Reset().
  bool IsCrowded() const { return size() > capacity_ / 2; }
  void Reset();
  std::uint64_t epoch() const { return epoch_; }

 private:
  bool HasRoom(std::size_t reserve) const { return size() + reserve < capacity_; }
  RejectionId Put(const Rejection& rejection);

  const std::size_t capacity_;
  std::size_t fixed_count_ = 0;
  std::vector<Rejection> entries_;                   // entry n has the id n + 1
  absl::flat_hash_map<Rejection, RejectionId> ids_;  // looked up, never walked
  std::uint64_t epoch_ = 0;
};

}  // namespace berth::framework
