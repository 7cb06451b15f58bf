#pragma once

#include <string_view>

// Which resource names mean what to a scheduler.
namespace berth::api {

inline constexpr std::string_view kCpu = "cpu";
inline constexpr std::string_view kMemory = "memory";
inline constexpr std::string_view kEphemeralStorage = "ephemeral-storage";
inline constexpr std::string_view kPods = "pods";

bool IsHugePageResource(std::string_view name);
// A resource of somebody's own domain, which can be requested through devices too: "example.com/gpu".
bool IsExtendedResource(std::string_view name);
// A resource counted in whole units beside cpu, memory and ephemeral-storage. Names that are neither are not
// looked at: no node can run out of them.
bool IsScalarResource(std::string_view name);
// Resources that a pod may request for itself, above its containers.
bool IsPodLevelResource(std::string_view name);

}  // namespace berth::api
