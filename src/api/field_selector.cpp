#include "api/field_selector.h"

#include <algorithm>
#include <fmt/format.h>

#include "base/utf8.h"

namespace berth::api {
namespace {

bool IsSpecial(char c) { return c == '\\' || c == ',' || c == '='; }

// Cuts at the commas that no backslash takes for itself. Escapes stay as they are.
std::vector<std::string_view> SplitTerms(std::string_view text) {
  std::vector<std::string_view> terms;
  std::size_t start = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == ',') {
      terms.push_back(text.substr(start, i - start));
      start = i + 1;
    }
  }
  terms.push_back(text.substr(start));
  return terms;
}

struct Term {
  std::string_view field;
  std::string_view op;
  std::string_view value;  // still escaped
};

// The field has no escapes: the first operator ends it.
std::optional<Term> SplitTerm(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    for (const std::string_view op : {"!=", "==", "="}) {
      if (text.substr(i).starts_with(op)) return Term{text.substr(0, i), op, text.substr(i + op.size())};
    }
  }
  return std::nullopt;
}

base::Result<std::string> Unescape(std::string_view text) {
  if (std::ranges::none_of(text, IsSpecial)) return std::string(text);
  // From here on the text is read as UTF-8: each byte that is none becomes U+FFFD.
  std::string value;
  value.reserve(text.size());
  while (!text.empty()) {
    const bool escaped = text.front() == '\\';
    if (escaped) text.remove_prefix(1);
    if (text.empty()) return base::Fail("invalid field selector: invalid escape sequence: \\");
    const base::DecodedRune character = base::DecodeRune(text);
    if (escaped != IsSpecial(text.front())) {
      if (!escaped) {
        return base::Fail(fmt::format("invalid field selector: unescaped character in value: {}",
                                      static_cast<int>(text.front())));
      }
      std::string message = "invalid field selector: invalid escape sequence: \\";
      base::AppendRune(message, character.rune);
      return base::Fail(std::move(message));
    }
    base::AppendRune(value, character.rune);
    text.remove_prefix(character.width);
  }
  return value;
}

}  // namespace

base::Result<FieldSelector> FieldSelector::Parse(std::string_view text) {
  std::vector<std::string_view> terms = SplitTerms(text);
  std::ranges::sort(terms);
  std::vector<FieldRequirement> requirements;
  for (const std::string_view part : terms) {
    if (part.empty()) continue;
    const std::optional<Term> term = SplitTerm(part);
    if (!term) return base::Fail(fmt::format("invalid selector: '{}'; can't understand '{}'", text, part));
    base::Result<std::string> value = Unescape(term->value);
    if (!value) return std::unexpected(std::move(value).error());
    // A lone operator says nothing about any field.
    if (term->field.empty() && value->empty()) continue;
    requirements.push_back(
        {.field = std::string(term->field), .equal = term->op != "!=", .value = *std::move(value)});
  }
  return FieldSelector(std::move(requirements));
}

std::optional<std::string_view> FieldSelector::RequiredValue(std::string_view field) const {
  for (const FieldRequirement& requirement : requirements_) {
    if (requirement.equal && requirement.field == field) return requirement.value;
  }
  return std::nullopt;
}

std::string FieldSelector::ToString() const {
  std::string text;
  for (const FieldRequirement& requirement : requirements_) {
    if (&requirement != &requirements_.front()) text += ',';
    text += requirement.field;
    text += requirement.equal ? "=" : "!=";
    text += EscapeFieldValue(requirement.value);
  }
  return text;
}

std::string EscapeFieldValue(std::string_view value) {
  std::string text;
  text.reserve(value.size());
  for (const char c : value) {
    if (IsSpecial(c)) text += '\\';
    text += c;
  }
  return text;
}

}  // namespace berth::api
