#include "api/validation.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

#include "base/go_text.h"

namespace berth::api {
namespace {

constexpr std::size_t kLabelPartBytesMax = 63;
constexpr std::size_t kSubdomainBytesMax = 253;

constexpr std::string_view kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start "
    "and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation "
    "is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start "
    "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";

bool IsLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlphanumeric(char c) { return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

// A label value that is not empty, and the part of a label key behind its prefix.
bool IsLabelName(std::string_view text) {
  if (text.empty() || !IsAlphanumeric(text.front()) || !IsAlphanumeric(text.back())) return false;
  return std::ranges::all_of(text,
                             [](char c) { return IsAlphanumeric(c) || c == '-' || c == '_' || c == '.'; });
}

bool IsDnsLabel(std::string_view text) {
  if (text.empty() || !IsLowerOrDigit(text.front()) || !IsLowerOrDigit(text.back())) return false;
  return std::ranges::all_of(text, [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

bool IsSubdomain(std::string_view text) {
  for (;;) {
    const std::size_t dot = text.find('.');
    if (!IsDnsLabel(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

std::string TooManyBytes(std::size_t bytes_max) {
  return fmt::format("must be no more than {} bytes", bytes_max);
}

}  // namespace

std::vector<std::string> SubdomainProblems(std::string_view name) {
  std::vector<std::string> problems;
  if (name.size() > kSubdomainBytesMax) problems.push_back(TooManyBytes(kSubdomainBytesMax));
  if (!IsSubdomain(name)) problems.emplace_back(kSubdomainRule);
  return problems;
}

std::vector<std::string> LabelKeyProblems(std::string_view key) {
  std::vector<std::string> problems;
  std::string_view name = key;
  if (const std::size_t slash = key.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = key.substr(0, slash);
    name = key.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      problems.push_back(fmt::format(
          "a valid label key {} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')",
          kNameRule));
      return problems;
    }
    if (prefix.empty()) {
      problems.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& problem : SubdomainProblems(prefix))
        problems.push_back("prefix part " + problem);
    }
  }
  if (name.empty()) {
    problems.emplace_back("name part must be non-empty");
  } else if (name.size() > kLabelPartBytesMax) {
    problems.push_back("name part " + TooManyBytes(kLabelPartBytesMax));
  }
  if (!IsLabelName(name)) problems.push_back(fmt::format("name part {}", kNameRule));
  return problems;
}

std::vector<std::string> LabelValueProblems(std::string_view value) {
  std::vector<std::string> problems;
  if (value.size() > kLabelPartBytesMax) problems.push_back(TooManyBytes(kLabelPartBytesMax));
  if (!value.empty() && !IsLabelName(value)) problems.emplace_back(kValueRule);
  return problems;
}

FieldPath FieldPath::Child(std::string_view name) const {
  return FieldPath(text_.empty() ? std::string(name) : fmt::format("{}.{}", text_, name));
}

FieldPath FieldPath::Index(std::size_t index) const { return FieldPath(fmt::format("{}[{}]", text_, index)); }

FieldPath FieldPath::Key(std::string_view key) const { return FieldPath(fmt::format("{}[{}]", text_, key)); }

std::string InvalidField(const FieldPath& path, std::string_view value, std::string_view detail) {
  return fmt::format("{}: Invalid value: {}: {}", path.ToString(), base::QuoteGo(value), detail);
}

std::string InvalidField(const FieldPath& path, std::span<const std::string> values,
                         std::string_view detail) {
  // An empty list reads null: on its way through the API server it becomes an absent one.
  std::string list = values.empty() ? "null" : "[";
  for (const std::string& value : values) {
    if (list.size() > 1) list += ',';
    base::AppendQuotedJson(list, value, /*escape_html=*/true);
  }
  if (!values.empty()) list += ']';
  return fmt::format("{}: Invalid value: {}: {}", path.ToString(), list, detail);
}

std::string UnsupportedField(const FieldPath& path, std::string_view value,
                             std::span<const std::string_view> supported) {
  std::string list;
  for (const std::string_view choice : supported) {
    if (!list.empty()) list += ", ";
    base::AppendQuotedGo(list, choice);
  }
  std::string quoted;
  base::AppendQuotedJson(quoted, value, /*escape_html=*/true);
  return fmt::format("{}: Unsupported value: {}: supported values: {}", path.ToString(), quoted, list);
}

std::string AggregateErrors(std::span<const std::string> messages) {
  std::unordered_set<std::string_view> seen;
  std::string text;
  for (const std::string& message : messages) {
    if (!seen.insert(message).second) continue;
    if (seen.size() > 1) text += ", ";
    text += message;
  }
  return seen.size() > 1 ? fmt::format("[{}]", text) : text;
}

}  // namespace berth::api
