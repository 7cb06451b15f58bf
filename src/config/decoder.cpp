#include "config/decoder.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "base/go_duration.h"
#include "config/base64.h"

namespace berth::config {
namespace {

// More than anybody reads; a file of nothing but mistakes must not fill the memory with them.
constexpr std::size_t kStrictErrorsMax = 100;

}  // namespace

void Decoder::Value(const JsonNode& node, std::string& out, std::string_view go_type) {
  if (node.is_null()) return;
  if (node.kind != JsonNode::Kind::kString) return WrongType(node, go_type);
  out = node.text;
}

void Decoder::Value(const JsonNode& node, bool& out, std::string_view go_type) {
  if (node.is_null()) return;
  if (node.kind != JsonNode::Kind::kBool) return WrongType(node, go_type);
  out = node.truth;
}

void Decoder::Integer(const JsonNode& node, std::int64_t min, std::int64_t max, std::string_view go_type,
                      std::int64_t& out) {
  if (node.is_null()) return;
  if (node.kind != JsonNode::Kind::kNumber) return WrongType(node, go_type);
  std::int64_t number = 0;
  const char* const end = node.text.data() + node.text.size();
  const auto read = std::from_chars(node.text.data(), end, number);
  if (read.ec != std::errc() || read.ptr != end || number < min || number > max) {
    return WrongType(node, go_type, /*with_digits=*/true);
  }
  out = number;
}

void Decoder::Value(const JsonNode& node, std::int32_t& out, std::string_view go_type) {
  std::int64_t number = out;
  Integer(node, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max(), go_type,
          number);
  out = static_cast<std::int32_t>(number);
}

void Decoder::Value(const JsonNode& node, std::int64_t& out, std::string_view go_type) {
  Integer(node, std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(), go_type,
          out);
}

void Decoder::Value(const JsonNode& node, float& out, std::string_view go_type) {
  if (node.is_null()) return;
  if (node.kind != JsonNode::Kind::kNumber) return WrongType(node, go_type);
  double number = 0;
  std::from_chars(node.text.data(), node.text.data() + node.text.size(), number);
  const auto narrow = static_cast<float>(number);
  if (!std::isfinite(number) || !std::isfinite(narrow)) {
    return WrongType(node, go_type, /*with_digits=*/true);
  }
  out = narrow;
}

void Decoder::Value(const JsonNode& node, base::Duration& out, std::string_view) {
  if (!node.is_null() && node.kind != JsonNode::Kind::kString) {
    return SaveFinal(TypeError(node, "string"));
  }
  // A null that reaches a duration is read as an empty text, which is no duration.
  const auto duration = base::ParseGoDuration(node.text);
  if (!duration) return SaveFinal(duration.error().message);
  out = *duration;
}

void Decoder::Value(const JsonNode& node, Base64Bytes& out, std::string_view go_type) {
  out.bytes.clear();
  if (node.is_null()) return;
  // Go takes a list of numbers for bytes as well.
  if (node.kind == JsonNode::Kind::kArray) {
    for (const JsonNode& element : node.elements) {
      std::int64_t byte = 0;
      Integer(element, 0, std::numeric_limits<std::uint8_t>::max(), "uint8", byte);
      out.bytes += static_cast<char>(byte);
    }
    return;
  }
  if (node.kind != JsonNode::Kind::kString) return WrongType(node, go_type);
  auto bytes = DecodeBase64(node.text);
  if (!bytes) return Save(std::move(bytes.error().message));
  out.bytes = *std::move(bytes);
}

void Decoder::Value(const JsonNode& node, RawValue& out, std::string_view) {
  out.node.reset();
  if (!node.is_null()) out.node = node;
}

void Decoder::Value(const JsonNode& node, api::StringMap& out, std::string_view go_type) {
  if (node.is_null()) return out.clear();
  if (!node.is_object()) return WrongType(node, go_type);
  std::vector<std::string_view> seen;
  for (const JsonNode::Member& member : node.members) {
    CheckRepeated(seen, member.key);
    steps_.push_back({.name = member.key, .go_name = {}});  // Go names fields, and no keys
    std::string value;
    Value(member.value, value, "string");
    out.insert_or_assign(member.key, std::move(value));
    steps_.pop_back();
  }
}

void Decoder::CheckRepeated(std::vector<std::string_view>& seen, std::string_view key) {
  if (std::ranges::find(seen, key) != seen.end()) Strict("duplicate field", key);
  seen.push_back(key);
}

std::string Decoder::Path() const {
  std::string path;
  for (const Step& step : steps_) {
    if (step.name.empty()) {
      path += fmt::format("[{}]", step.index);
    } else {
      if (!path.empty()) path += '.';
      path += step.name;
    }
  }
  return path;
}

void Decoder::Strict(std::string_view what, std::string_view key) {
  std::string path = Path();
  if (!path.empty()) path += '.';
  path += key;
  Problem problem{path, fmt::format("{} \"{}\"", what, path)};
  const bool seen = std::ranges::find(strict_errors_, problem) != strict_errors_.end();
  if (!seen && strict_errors_.size() < kStrictErrorsMax) strict_errors_.push_back(std::move(problem));
}

void Decoder::WrongType(const JsonNode& node, std::string_view go_type, bool with_digits) {
  Save(TypeError(node, go_type, with_digits));
}

std::string Decoder::TypeError(const JsonNode& node, std::string_view go_type, bool with_digits) const {
  std::string path;
  for (const Step& step : steps_) {
    if (step.go_name.empty()) continue;
    if (!path.empty()) path += '.';
    path += step.go_name;
  }
  const std::string kind = std::string(node.KindName()) + (with_digits ? " " + node.text : "");
  if (path.empty()) return fmt::format("json: cannot unmarshal {} into Go value of type {}", kind, go_type);
  return fmt::format("json: cannot unmarshal {} into Go struct field {}.{} of type {}", kind, go_struct_,
                     path, go_type);
}

void Decoder::Save(std::string error) {
  all_errors_.push_back({Path(), std::move(error)});
  if (!first_error_) first_error_ = all_errors_.back();
}

void Decoder::SaveFinal(std::string error) {
  all_errors_.push_back({Path(), std::move(error)});
  if (!final_error_) final_error_ = all_errors_.back();
}

}  // namespace berth::config
