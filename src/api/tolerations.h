#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "api/taints.h"

// Which taints a pod may ignore. How long it may do so (tolerationSeconds) is no matter of scheduling.
namespace berth::api {

inline constexpr std::string_view kNoSchedule = "NoSchedule";
inline constexpr std::string_view kPreferNoSchedule = "PreferNoSchedule";
inline constexpr std::string_view kNoExecute = "NoExecute";

// The effects that keep a pod off a node.
inline constexpr std::array<std::string_view, 2> kHardEffects = {kNoSchedule, kNoExecute};

// `comparison_operators` is the feature gate TaintTolerationComparisonOperators: without it the operators Gt
// and Lt tolerate nothing. An empty key matches every key, an empty effect every effect.
bool Tolerates(const Toleration& toleration, const Taint& taint, bool comparison_operators);

// True if any of them tolerates it.
bool Tolerates(std::span<const Toleration> tolerations, const Taint& taint, bool comparison_operators);

// The first taint with one of these effects that nothing tolerates, or null.
const Taint* FindUntolerated(std::span<const Toleration> tolerations, std::span<const Taint> taints,
                             std::span<const std::string_view> effects, bool comparison_operators);

// What TaintToleration scores a node by: the fewer the better.
std::size_t CountIntolerablePreferNoSchedule(std::span<const Toleration> tolerations,
                                             std::span<const Taint> taints, bool comparison_operators);

}  // namespace berth::api
