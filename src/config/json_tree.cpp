#include "config/json_tree.h"

#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <charconv>
#include <fmt/format.h>
#include <utility>

#include "wire/json_document.h"
#include "wire/json_text.h"
#include "wire/limits.h"

namespace berth::config {
namespace {

namespace json = boost::json;

// Receives the parser's events. Boost.JSON calls on_* methods and stops when one of them returns false.
class TreeBuilder {
 public:
  static constexpr std::size_t max_object_size = json::object::max_size();
  static constexpr std::size_t max_array_size = json::array::max_size();
  static constexpr std::size_t max_key_size = json::string::max_size();
  static constexpr std::size_t max_string_size = json::string::max_size();

  JsonNode Release() { return std::move(root_); }

  bool on_document_begin(json::error_code&) { return true; }
  bool on_document_end(json::error_code&) { return true; }

  bool on_object_begin(json::error_code&) { return Open(JsonNode::Kind::kObject); }
  bool on_object_end(std::size_t, json::error_code&) { return Close(); }
  bool on_array_begin(json::error_code&) { return Open(JsonNode::Kind::kArray); }
  bool on_array_end(std::size_t, json::error_code&) { return Close(); }

  bool on_key_part(json::string_view part, std::size_t, json::error_code&) { return Keep(part); }
  bool on_key(json::string_view part, std::size_t, json::error_code&) {
    Keep(part);
    key_ = std::exchange(text_, {});
    return true;
  }
  bool on_string_part(json::string_view part, std::size_t, json::error_code&) { return Keep(part); }
  bool on_string(json::string_view part, std::size_t, json::error_code&) {
    return AddText(JsonNode::Kind::kString, part);
  }
  bool on_number_part(json::string_view part, json::error_code&) { return Keep(part); }
  bool on_int64(std::int64_t, json::string_view part, json::error_code&) {
    return AddText(JsonNode::Kind::kNumber, part);
  }
  bool on_uint64(std::uint64_t, json::string_view part, json::error_code&) {
    return AddText(JsonNode::Kind::kNumber, part);
  }
  bool on_double(double, json::string_view part, json::error_code&) {
    return AddText(JsonNode::Kind::kNumber, part);
  }
  bool on_bool(bool value, json::error_code&) {
    Add(JsonNode::Kind::kBool).truth = value;
    return true;
  }
  bool on_null(json::error_code&) {
    Add(JsonNode::Kind::kNull);
    return true;
  }
  bool on_comment_part(json::string_view, json::error_code&) { return true; }
  bool on_comment(json::string_view, json::error_code&) { return true; }

 private:
  bool Keep(json::string_view part) {
    text_.append(part.data(), part.size());
    return true;
  }
  bool AddText(JsonNode::Kind kind, json::string_view part) {
    Keep(part);
    std::string text = std::exchange(text_, {});
    Add(kind).text = std::move(text);
    return true;
  }
  JsonNode& Add(JsonNode::Kind kind) {
    JsonNode* node = &root_;
    if (!open_.empty()) {
      JsonNode& parent = *open_.back();
      if (parent.is_object()) {
        node = &parent.members.emplace_back(std::exchange(key_, {}), JsonNode{}).value;
      } else {
        node = &parent.elements.emplace_back();
      }
    }
    node->kind = kind;
    return *node;
  }
  // A node that is open does not move: its parent gets no other child before it is closed.
  bool Open(JsonNode::Kind kind) {
    open_.push_back(&Add(kind));
    return true;
  }
  bool Close() {
    open_.pop_back();
    return true;
  }

  JsonNode root_;
  std::vector<JsonNode*> open_;
  std::string text_;
  std::string key_;
};

json::value NumberOf(const std::string& digits) {
  std::int64_t integer = 0;
  const char* const end = digits.data() + digits.size();
  if (const auto read = std::from_chars(digits.data(), end, integer);
      read.ec == std::errc() && read.ptr == end) {
    return integer;
  }
  double number = 0;
  std::from_chars(digits.data(), end, number);
  return number;
}

}  // namespace

std::string_view JsonNode::KindName() const {
  static constexpr std::string_view kNames[] = {"null", "bool", "number", "string", "array", "object"};
  return kNames[static_cast<std::size_t>(kind)];
}

base::Result<JsonNode> ParseJsonTree(std::string_view text) {
  const std::string repaired = wire::RepairUtf8(text);
  json::parse_options options;
  options.max_depth = wire::kNestingMax;
  json::basic_parser<TreeBuilder> parser(options);
  json::error_code error;
  const std::size_t read = parser.write_some(false, repaired.data(), repaired.size(), error);
  if (error) return base::Fail(fmt::format("invalid JSON at offset {}: {}", read, error.message()));
  if (read < repaired.size()) {
    return base::Fail(fmt::format("invalid JSON: something follows at offset {}", read));
  }
  return parser.handler().Release();
}

json::value ToJson(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::kNull:
      return nullptr;
    case JsonNode::Kind::kBool:
      return node.truth;
    case JsonNode::Kind::kNumber:
      return NumberOf(node.text);
    case JsonNode::Kind::kString:
      return json::string(node.text);
    case JsonNode::Kind::kArray: {
      json::array array;
      for (const JsonNode& element : node.elements) array.push_back(ToJson(element));
      return array;
    }
    case JsonNode::Kind::kObject:
      break;
  }
  json::object object;
  for (const JsonNode::Member& member : node.members) object[member.key] = ToJson(member.value);
  return object;
}

std::string ToJsonText(const JsonNode& node) { return wire::WriteJson(ToJson(node)); }

}  // namespace berth::config
