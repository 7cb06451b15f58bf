#pragma once

#include <optional>

#include "api/meta.h"
#include "api/object_reference.h"

// Bodies of the writes that have no life of their own in the cluster: binding and eviction.
namespace berth::api {

struct Binding {
  ObjectMeta metadata;
  ObjectReference target;

  bool operator==(const Binding&) const = default;
};

struct Eviction {
  ObjectMeta metadata;
  std::optional<DeleteOptions> delete_options;

  bool operator==(const Eviction&) const = default;
};

}  // namespace berth::api
