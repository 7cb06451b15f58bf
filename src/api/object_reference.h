#pragma once

#include <string>

// A reference to any object, as events and bindings carry it.
namespace berth::api {

struct ObjectReference {
  std::string kind;
  std::string namespace_;
  std::string name;
  std::string uid;
  std::string api_version;
  std::string resource_version;

  bool operator==(const ObjectReference&) const = default;
};

struct SecretReference {
  bool operator==(const SecretReference&) const = default;
};

struct LocalObjectReference {
  bool operator==(const LocalObjectReference&) const = default;
};

}  // namespace berth::api
