#pragma once

#include <optional>
#include <string>

#include "config/json_tree.h"

// Values of a configuration file that are neither numbers, text nor lists.
namespace berth::config {

// Base64 in the file, bytes here.
struct Base64Bytes {
  std::string bytes;

  bool empty() const { return bytes.empty(); }
  bool operator==(const Base64Bytes&) const = default;
};

// Any JSON value, kept as it is. Nothing: absent or null.
struct RawValue {
  std::optional<JsonNode> node;

  bool operator==(const RawValue&) const = default;
};

}  // namespace berth::config
