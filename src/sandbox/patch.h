#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>
#include <string_view>

#include "sandbox/kinds.h"
#include "sandbox/status_error.h"

namespace berth::sandbox {

enum class PatchType : std::uint8_t { kJson, kMerge, kStrategic, kApply };

// Nothing if the content type is no patch.
std::optional<PatchType> PatchTypeOf(std::string_view bare_content_type);

struct PatchRequest {
  PatchType type = PatchType::kStrategic;
  std::string_view body = {};           // JSON; YAML too for kApply
  std::string_view field_manager = {};  // for kApply
  bool force = false;                   // for kApply: take over fields that others own
  std::string_view subresource = {};    // for kApply
  std::string_view now = {};            // for kApply
};

// The object as the patch leaves it, in the form of the served resource. Pure: `current` is a whole document
// (for kApply of an object that does not exist, one with kind, apiVersion and name alone). The caller
// normalizes, defaults and validates what comes back, and looks after metadata that nobody may write.
ApiResult<boost::json::object> ApplyPatch(const Resource& served, const PatchRequest& request,
                                          const boost::json::object& current);

}  // namespace berth::sandbox
