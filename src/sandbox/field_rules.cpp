#include "sandbox/field_rules.h"

#include <algorithm>
#include <boost/json.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "api/validation.h"
#include "base/go_text.h"
#include "wire/json_document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::size_t kNameLengthMax = 253;
constexpr std::size_t kLabelLengthMax = 63;

constexpr std::string_view kDnsLabelRule =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and "
    "end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kConfigKeyRule =
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or "
    "'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";

std::string TooLong(std::size_t length_max) {
  return fmt::format("must be no more than {} characters", length_max);
}

bool IsConfigKeyLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
         c == '.';
}

void CheckRequirement(const json::object& requirement, const std::string& path, FieldErrorList& errors) {
  const std::string_view op = TextAt(requirement, {"operator"});
  const json::array* values = FindArray(requirement, {"values"});
  const bool has_values = values != nullptr && !values->empty();
  if (op == "In" || op == "NotIn") {
    if (!has_values) {
      RequireField(errors, path + ".values", "must be specified when `operator` is 'In' or 'NotIn'");
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (has_values) {
      ForbidField(errors, path + ".values",
                  "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    }
  } else {
    AddError(errors, FieldErrorType::kInvalid, path + ".operator", base::QuoteGo(op),
             "not a valid selector operator");
  }
  CheckLabelKey(TextAt(requirement, {"key"}), path + ".key", errors);
  for (std::size_t i = 0; has_values && i < values->size(); ++i) {
    const std::string_view value = TextOf((*values)[i]);
    AddProblems(errors, fmt::format("{}.values[{}]", path, i), value, api::LabelValueProblems(value));
  }
}

}  // namespace

void RequireField(FieldErrorList& errors, std::string_view field, std::string_view detail) {
  AddError(errors, FieldErrorType::kRequired, field, "", detail);
}

void ForbidField(FieldErrorList& errors, std::string_view field, std::string_view detail) {
  AddError(errors, FieldErrorType::kForbidden, field, "", detail);
}

void AddProblems(FieldErrorList& errors, std::string_view field, std::string_view text,
                 std::span<const std::string> problems) {
  for (const std::string& problem : problems) {
    AddError(errors, FieldErrorType::kInvalid, field, base::QuoteGo(text), problem);
  }
}

std::vector<std::string> NameProblems(std::string_view name) {
  std::vector<std::string> problems = api::SubdomainProblems(name);
  if (name.size() > kNameLengthMax) problems.front() = TooLong(kNameLengthMax);
  return problems;
}

std::vector<std::string> DnsLabelProblems(std::string_view name) {
  std::vector<std::string> problems;
  if (name.size() > kLabelLengthMax) problems.push_back(TooLong(kLabelLengthMax));
  // A label is a subdomain without dots; its own length has been judged already.
  const std::size_t about_length = name.size() > kNameLengthMax ? 1 : 0;
  const bool is_subdomain = api::SubdomainProblems(name).size() == about_length;
  if (is_subdomain && name.find('.') != std::string_view::npos) {
    problems.emplace_back("must not contain dots");
  } else if (!is_subdomain) {
    problems.emplace_back(kDnsLabelRule);
  }
  return problems;
}

std::vector<std::string> ConfigKeyProblems(std::string_view key) {
  std::vector<std::string> problems;
  if (key.size() > kNameLengthMax) problems.push_back(TooLong(kNameLengthMax));
  if (key.empty() || !std::ranges::all_of(key, IsConfigKeyLetter)) problems.emplace_back(kConfigKeyRule);
  if (key == ".") problems.emplace_back("must not be '.'");
  if (key == "..") problems.emplace_back("must not be '..'");
  if (key.size() > 2 && key.starts_with("..")) problems.emplace_back("must not start with '..'");
  return problems;
}

void CheckSubdomain(std::string_view text, std::string_view field, FieldErrorList& errors) {
  AddProblems(errors, field, text, NameProblems(text));
}

void CheckDnsLabel(std::string_view text, std::string_view field, FieldErrorList& errors) {
  AddProblems(errors, field, text, DnsLabelProblems(text));
}

void CheckLabelKey(std::string_view key, std::string_view field, FieldErrorList& errors) {
  AddProblems(errors, field, key, api::LabelKeyProblems(key));
}

void CheckLabels(const json::object* labels, std::string_view field, FieldErrorList& errors) {
  if (labels == nullptr) return;
  for (const json::key_value_pair& label : *labels) {
    CheckLabelKey({label.key().data(), label.key().size()}, field, errors);
    const std::string_view value = TextOf(label.value());
    AddProblems(errors, field, value, api::LabelValueProblems(value));
  }
}

void CheckLabelSelector(const json::object* selector, const std::string& path, FieldErrorList& errors) {
  if (selector == nullptr) return;
  CheckLabels(FindObject(*selector, {"matchLabels"}), path + ".matchLabels", errors);
  ForEachElement(*selector, "matchExpressions", path,
                 [&](const json::object& requirement, const std::string& at) {
                   CheckRequirement(requirement, at, errors);
                 });
}

void UnsupportedChoice(FieldErrorList& errors, std::string_view field, std::string_view value,
                       std::span<const std::string_view> choices) {
  std::vector<std::string> quoted;
  for (const std::string_view choice : choices) quoted.push_back(base::QuoteGo(choice));
  AddError(errors, FieldErrorType::kNotSupported, field, base::QuoteGo(value),
           fmt::format("supported values: {}", fmt::join(quoted, ", ")));
}

void CheckChoice(const json::object& object, std::string_view key, std::span<const std::string_view> choices,
                 const std::string& path, FieldErrorList& errors) {
  const std::string_view value = TextAt(object, {key});
  if (value.empty() || std::ranges::find(choices, value) != choices.end()) return;
  UnsupportedChoice(errors, fmt::format("{}.{}", path, key), value, choices);
}

void CheckNotNegative(const json::object& object, std::string_view key, const std::string& path,
                      FieldErrorList& errors) {
  const std::optional<std::int64_t> number = FindNumber(object, {key});
  if (!number || *number >= 0) return;
  AddError(errors, FieldErrorType::kInvalid, fmt::format("{}.{}", path, key), std::to_string(*number),
           "must be greater than or equal to 0");
}

void CheckPort(std::int64_t port, std::string_view field, FieldErrorList& errors) {
  if (port >= 1 && port <= 65'535) return;
  AddError(errors, FieldErrorType::kInvalid, field, std::to_string(port),
           "must be between 1 and 65535, inclusive");
}

bool Differs(const json::object& a, const json::object& b, Path path) {
  const json::value* left = FindValue(a, path);
  const json::value* right = FindValue(b, path);
  return left == nullptr || right == nullptr ? left != right : *left != *right;
}

std::string Shown(const json::object& document, Path path) {
  const json::value* value = FindValue(document, path);
  return value != nullptr ? wire::WriteJson(*value) : "null";
}

std::string_view TextOf(const json::value& value) {
  return value.is_string() ? ViewOf(value.get_string()) : std::string_view();
}

void ForEachElement(const json::object& holder, std::string_view list, const std::string& path,
                    const ElementCheck& check) {
  const json::array* elements = FindArray(holder, {list});
  for (std::size_t i = 0; elements != nullptr && i < elements->size(); ++i) {
    if ((*elements)[i].is_object()) {
      check((*elements)[i].get_object(), fmt::format("{}.{}[{}]", path, list, i));
    }
  }
}

}  // namespace berth::sandbox
