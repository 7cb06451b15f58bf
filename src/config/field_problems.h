#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "api/validation.h"
#include "base/clock.h"
#include "config/problem.h"

namespace berth::config {

// Collects what is wrong with fields, in the words that Kubernetes has for each kind of mistake.
class FieldProblems {
 public:
  void Invalid(const api::FieldPath& path, std::int64_t value, std::string_view detail);
  void Invalid(const api::FieldPath& path, std::string_view value, std::string_view detail);
  void Invalid(const api::FieldPath& path, base::Duration value, std::string_view detail);
  // `json` is printed as it is.
  void InvalidJson(const api::FieldPath& path, std::string_view json, std::string_view detail);
  void Required(const api::FieldPath& path, std::string_view detail = {});
  // `value` is printed as it is.
  void Duplicate(const api::FieldPath& path, std::string_view value);
  void Unsupported(const api::FieldPath& path, std::string_view value,
                   std::span<const std::string_view> supported);
  void Forbidden(const api::FieldPath& path, std::string_view detail);
  // Messages that are complete.
  void Add(const api::FieldPath& path, std::span<const std::string> messages);
  // Every problem of a name that must be a qualified one.
  void CheckQualifiedName(const api::FieldPath& path, std::string_view name);

  const Problems& list() const { return problems_; }
  bool empty() const { return problems_.empty(); }

 private:
  void Add(const api::FieldPath& path, std::string_view text);

  Problems problems_;
};

}  // namespace berth::config
