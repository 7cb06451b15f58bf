#pragma once

#include <boost/json/fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace berth::wire {
struct Message;
}  // namespace berth::wire

namespace berth::sandbox {

struct Resource;

// The two dialects differ in where definitions stand and in how a value of several types is written.
enum class OpenApiVersion { kV2, kV3 };

// The name of a message's definition: "io.k8s.api.core.v1.Pod".
std::string DefinitionName(std::string_view message);

// Definitions of these resources' kinds and of everything that they are made of, from the field table.
boost::json::object Definitions(std::span<const Resource* const> resources, OpenApiVersion version);

}  // namespace berth::sandbox
