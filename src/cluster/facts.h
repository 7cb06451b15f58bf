#pragma once

#include <cstdint>

namespace berth::cluster {

// Kinds of facts about a node, as bits. A change-log entry says which of them may have changed; a reader
// names the ones that it reads.
using Facts = std::uint32_t;

inline constexpr Facts kResourcesFact = 1u << 0;  // allocatable, requested
inline constexpr Facts kPodsFact = 1u << 1;       // which pods are on the node
inline constexpr Facts kLabelsFact = 1u << 2;
inline constexpr Facts kTaintsFact = 1u << 3;  // spec.unschedulable too
inline constexpr Facts kImagesFact = 1u << 4;
inline constexpr Facts kPortsFact = 1u << 5;
inline constexpr Facts kFeaturesFact = 1u << 6;
inline constexpr Facts kVolumesFact = 1u << 7;
inline constexpr Facts kDevicesFact = 1u << 8;
inline constexpr Facts kNominationsFact = 1u << 9;
inline constexpr Facts kExistsFact = 1u << 10;  // the node came, went, or its row has another node now
inline constexpr Facts kObjectFact = 1u << 11;  // anything else in the Node object

}  // namespace berth::cluster
