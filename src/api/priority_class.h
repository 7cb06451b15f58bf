#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/meta.h"

// PriorityClass: read by admission only, a pod carries the resolved number.
namespace berth::api {

struct PriorityClass {
  ObjectMeta metadata;
  std::int32_t value = 0;
  bool global_default = false;
  std::string description;
  std::optional<std::string> preemption_policy;

  bool operator==(const PriorityClass&) const = default;
};

}  // namespace berth::api
