#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/string_map.h"
#include "base/clock.h"
#include "config/fields.h"
#include "config/json_tree.h"
#include "config/problem.h"
#include "config/values.h"

namespace berth::config {

// Fills described structs from a JSON tree as Kubernetes' strict decoder does, with its errors.
//
// 1. A value of the wrong type is remembered and decoding goes on; the first is the error. What a duration
// says
//    about itself ends it at once. So Go works, and which of several errors a user sees depends on it.
// 2. Unknown and repeated fields are collected apart: they only count if nothing else was wrong.
// 3. null leaves a value as it was and empties a pointer (std::optional).
class Decoder {
 public:
  template <Described T>
  void Decode(const JsonNode& node, T& out) {
    Value(node, out, Fields<T>::kGoType);
  }

  // The error that wins over all strict ones; nothing if every value could be read.
  const std::optional<Problem>& error() const { return final_error_ ? final_error_ : first_error_; }
  // All such errors, for those who want to mend them in one go.
  const std::vector<Problem>& all_errors() const { return all_errors_; }
  // In the order in which they were met.
  const std::vector<Problem>& strict_errors() const { return strict_errors_; }

 private:
  struct Step {
    std::string_view name;     // of a field or a key; empty for an element
    std::string_view go_name;  // as errors about types spell it; empty for an element or a key
    std::size_t index = 0;
  };

  template <class T>
  void Value(const JsonNode& node, std::optional<T>& out, std::string_view go_type) {
    if (node.is_null()) return out.reset();
    if (!out) out.emplace();
    Value(node, *out, go_type);
  }
  template <Described T>
  void Value(const JsonNode& node, T& out, std::string_view) {
    if (node.is_null()) return;
    if (!node.is_object()) return WrongType(node, Fields<T>::kGoType);
    Members(node, out);
  }
  template <class T>
  void Value(const JsonNode& node, std::vector<T>& out, std::string_view) {
    out.clear();
    if (node.is_null()) return;
    if (node.kind != JsonNode::Kind::kArray) return WrongType(node, "[]" + std::string(GoType<T>()));
    for (std::size_t i = 0; i < node.elements.size(); ++i) {
      steps_.push_back({.name = {}, .go_name = {}, .index = i});
      Value(node.elements[i], out.emplace_back(), GoType<T>());
      steps_.pop_back();
    }
  }
  void Value(const JsonNode& node, std::string& out, std::string_view go_type);
  void Value(const JsonNode& node, bool& out, std::string_view go_type);
  void Value(const JsonNode& node, std::int32_t& out, std::string_view go_type);
  void Value(const JsonNode& node, std::int64_t& out, std::string_view go_type);
  void Value(const JsonNode& node, float& out, std::string_view go_type);
  void Value(const JsonNode& node, base::Duration& out, std::string_view go_type);
  void Value(const JsonNode& node, Base64Bytes& out, std::string_view go_type);
  void Value(const JsonNode& node, RawValue& out, std::string_view go_type);
  void Value(const JsonNode& node, api::StringMap& out, std::string_view go_type);

  template <Described T>
  void Members(const JsonNode& node, T& out) {
    const std::string_view outer = go_struct_;
    std::vector<std::string_view> seen;
    for (const JsonNode::Member& member : node.members) {
      go_struct_ = Fields<T>::kGoStruct;
      bool known = false;
      ForEachField<T>([&](const auto& field) {
        if (field.name != member.key) return;
        known = true;
        CheckRepeated(seen, member.key);
        auto& value = std::invoke(field.access, out);
        steps_.push_back({.name = field.name, .go_name = field.go_name.empty() ? field.name : field.go_name});
        using Type = std::remove_cvref_t<decltype(value)>;
        Value(member.value, value, field.go_type.empty() ? GoType<Type>() : field.go_type);
        steps_.pop_back();
      });
      // Every object may say what it is; who reads it has looked at that already.
      if (!known && Fields<T>::kHasTypeMeta && (member.key == "kind" || member.key == "apiVersion")) {
        CheckRepeated(seen, member.key);
        known = true;
      }
      if (!known) Strict("unknown field", member.key);
    }
    go_struct_ = outer;
  }

  template <class T>
  struct Unwrapped {
    using type = T;
  };
  template <class T>
  struct Unwrapped<std::optional<T>> {
    using type = T;
  };
  template <class T>
  static std::string_view GoType() {
    using Bare = typename Unwrapped<T>::type;
    if constexpr (Described<Bare>) return Fields<Bare>::kGoType;
    if constexpr (std::is_same_v<Bare, bool>) return "bool";
    if constexpr (std::is_same_v<Bare, std::int32_t>) return "int32";
    if constexpr (std::is_same_v<Bare, std::int64_t>) return "int64";
    if constexpr (std::is_same_v<Bare, float>) return "float32";
    if constexpr (std::is_same_v<Bare, Base64Bytes>) return "[]uint8";
    if constexpr (std::is_same_v<Bare, api::StringMap>) return "map[string]string";
    return "string";
  }

  void CheckRepeated(std::vector<std::string_view>& seen, std::string_view key);
  void Strict(std::string_view what, std::string_view key);
  void WrongType(const JsonNode& node, std::string_view go_type, bool with_digits = false);
  std::string TypeError(const JsonNode& node, std::string_view go_type, bool with_digits = false) const;
  void Integer(const JsonNode& node, std::int64_t min, std::int64_t max, std::string_view go_type,
               std::int64_t& out);
  void Save(std::string error);
  void SaveFinal(std::string error);
  std::string Path() const;

  std::vector<Step> steps_;
  std::string_view go_struct_;  // whose fields are being read
  std::optional<Problem> first_error_;
  std::optional<Problem> final_error_;
  std::vector<Problem> all_errors_;
  std::vector<Problem> strict_errors_;
};

}  // namespace berth::config
