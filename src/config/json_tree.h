#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace berth::config {

// A JSON value as it stands in the text: members in their order, repeated ones too, numbers as they are
// spelled. Strict decoding has to tell 3 from 3.0 and to name what is there twice; a document type forgets
// both.
struct JsonNode {
  enum class Kind : std::uint8_t { kNull, kBool, kNumber, kString, kArray, kObject };
  struct Member;

  Kind kind = Kind::kNull;
  bool truth = false;              // of kBool
  std::string text = {};           // of kNumber its digits, of kString its characters
  std::vector<JsonNode> elements;  // of kArray
  std::vector<Member> members;     // of kObject

  bool is_null() const { return kind == Kind::kNull; }
  bool is_object() const { return kind == Kind::kObject; }
  // As Go's decoder calls it: "string", "number", "array", ...
  std::string_view KindName() const;

  bool operator==(const JsonNode&) const;
};

struct JsonNode::Member {
  std::string key;
  JsonNode value;

  bool operator==(const Member&) const = default;
};

inline bool JsonNode::operator==(const JsonNode&) const = default;

base::Result<JsonNode> ParseJsonTree(std::string_view text);

// The last of several equal keys wins.
boost::json::value ToJson(const JsonNode& node);
std::string ToJsonText(const JsonNode& node);

}  // namespace berth::config
