#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/time.h"

// Taints and tolerations. Matching rules: tolerations.h.
namespace berth::api {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;
  std::optional<Time> time_added;

  bool operator==(const Taint&) const = default;
};

struct Toleration {
  std::string key;
  std::string operator_;
  std::string value;
  std::string effect;
  std::optional<std::int64_t> toleration_seconds;

  bool operator==(const Toleration&) const = default;
};

}  // namespace berth::api
