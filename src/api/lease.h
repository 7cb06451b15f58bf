#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "api/meta.h"
#include "api/time.h"

// The leader election lock.
namespace berth::api {

struct LeaseSpec {
  std::optional<std::string> holder_identity;
  std::optional<std::int32_t> lease_duration_seconds;
  std::optional<MicroTime> acquire_time;
  std::optional<MicroTime> renew_time;
  std::optional<std::int32_t> lease_transitions;
  std::optional<std::string> strategy;
  std::optional<std::string> preferred_holder;

  bool operator==(const LeaseSpec&) const = default;
};

struct Lease {
  ObjectMeta metadata;
  LeaseSpec spec;

  bool operator==(const Lease&) const = default;
};

}  // namespace berth::api
