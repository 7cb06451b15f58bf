#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "config/json_tree.h"

namespace berth::config {

// group/version and kind of an object.
struct ObjectKind {
  std::string group;
  std::string version;
  std::string kind;

  std::string ApiVersion() const;  // "group/version", or "version" without a group
  bool operator==(const ObjectKind&) const = default;
};

// What the object says it is; parts that it does not say are empty. Looks at keys without regard to their
// case, as Kubernetes does before it knows how to read the rest.
base::Result<ObjectKind> ReadObjectKind(const JsonNode& object);

// What a scheme says about a kind that it does not have.
std::string NotRegistered(const ObjectKind& kind);

}  // namespace berth::config
