#include "config/field_problems.h"

#include <fmt/format.h>
#include <vector>

#include "base/go_duration.h"
#include "base/go_text.h"

namespace berth::config {

void FieldProblems::Add(const api::FieldPath& path, std::string_view text) {
  problems_.push_back({path.ToString(), fmt::format("{}: {}", path.ToString(), text)});
}

void FieldProblems::Add(const api::FieldPath& path, std::span<const std::string> messages) {
  for (const std::string& message : messages) problems_.push_back({path.ToString(), message});
}

void FieldProblems::Invalid(const api::FieldPath& path, std::int64_t value, std::string_view detail) {
  Add(path, fmt::format("Invalid value: {}: {}", value, detail));
}

void FieldProblems::Invalid(const api::FieldPath& path, std::string_view value, std::string_view detail) {
  Add(path, fmt::format("Invalid value: {}: {}", base::QuoteGo(value), detail));
}

void FieldProblems::Invalid(const api::FieldPath& path, base::Duration value, std::string_view detail) {
  Add(path, fmt::format("Invalid value: \"{}\": {}", base::FormatGoDuration(value), detail));
}

void FieldProblems::InvalidJson(const api::FieldPath& path, std::string_view json, std::string_view detail) {
  Add(path, fmt::format("Invalid value: {}: {}", json, detail));
}

void FieldProblems::Required(const api::FieldPath& path, std::string_view detail) {
  Add(path, detail.empty() ? std::string("Required value") : fmt::format("Required value: {}", detail));
}

void FieldProblems::Duplicate(const api::FieldPath& path, std::string_view value) {
  Add(path, fmt::format("Duplicate value: {}", value));
}

void FieldProblems::Unsupported(const api::FieldPath& path, std::string_view value,
                                std::span<const std::string_view> supported) {
  problems_.push_back({path.ToString(), api::UnsupportedField(path, value, supported)});
}

void FieldProblems::Forbidden(const api::FieldPath& path, std::string_view detail) {
  Add(path, fmt::format("Forbidden: {}", detail));
}

void FieldProblems::CheckQualifiedName(const api::FieldPath& path, std::string_view name) {
  for (const std::string& problem : api::LabelKeyProblems(name)) Invalid(path, name, problem);
}

}  // namespace berth::config
