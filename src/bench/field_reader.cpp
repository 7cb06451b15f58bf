#include "bench/field_reader.h"

#include <fmt/format.h>
#include <utility>

#include "net/http_message.h"
#include "wire/json_document.h"

namespace berth::bench {
namespace {

namespace json = boost::json;

std::optional<bool> FlagOf(const json::value& value) {
  if (!value.is_bool()) return std::nullopt;
  return value.as_bool();
}

std::optional<std::int64_t> IntegerOf(const json::value& value) {
  if (value.is_int64()) return value.as_int64();
  return std::nullopt;
}

std::optional<std::vector<std::string>> TextsOf(const json::value& value) {
  if (!value.is_array()) return std::nullopt;
  std::vector<std::string> texts;
  for (const json::value& one : value.as_array()) {
    auto text = TextOf(one);
    if (!text) return std::nullopt;
    texts.push_back(*std::move(text));
  }
  return texts;
}

template <class T>
std::optional<std::map<std::string, T>> MapOf(const json::value& value,
                                              std::optional<T> (*convert)(const json::value&)) {
  if (!value.is_object()) return std::nullopt;
  std::map<std::string, T> map;
  for (const auto& [key, member] : value.as_object()) {
    auto converted = convert(member);
    if (!converted) return std::nullopt;
    map.emplace(key, *std::move(converted));
  }
  return map;
}

}  // namespace

std::optional<std::string> TextOf(const json::value& value) {
  if (value.is_string()) return std::string(value.as_string());
  if (value.is_number() || value.is_bool()) return wire::WriteJson(value);
  return std::nullopt;
}

std::unexpected<base::Error> FailIn(std::string_view field, std::string_view why) {
  return base::Fail(fmt::format("field \"{}\": {}", field, why));
}

FieldReader::FieldReader(const json::value& value) {
  if (value.is_object()) {
    object_ = &value.as_object();
  } else {
    error_ = base::Error{"expected an object"};
  }
}

const json::value* FieldReader::Take(std::string_view name) {
  const json::value* found = nullptr;
  if (object_ == nullptr) return found;
  for (const auto& [key, value] : *object_) {
    if (!net::EqualsIgnoringCase(key, name)) continue;
    taken_.emplace(key);
    if (!value.is_null()) found = &value;
  }
  return found;
}

void FieldReader::Refuse(std::string_view name, std::string_view why) {
  if (!error_) error_ = FailIn(name, why).error();
}

template <class T>
void FieldReader::ReadWith(std::string_view name, T& out, std::optional<T> (*convert)(const json::value&),
                           std::string_view wanted) {
  const json::value* const value = Take(name);
  if (value == nullptr) return;
  auto converted = convert(*value);
  if (converted) {
    out = *std::move(converted);
  } else {
    Refuse(name, fmt::format("expected {}, got {}", wanted, wire::WriteJson(*value)));
  }
}

void FieldReader::Read(std::string_view name, std::string& out) { ReadWith(name, out, TextOf, "text"); }

void FieldReader::Read(std::string_view name, std::optional<std::string>& out) {
  if (Take(name) == nullptr) return;
  Read(name, out.emplace());
}

void FieldReader::Read(std::string_view name, bool& out) { ReadWith(name, out, FlagOf, "true or false"); }

void FieldReader::Read(std::string_view name, std::int64_t& out) {
  ReadWith(name, out, IntegerOf, "a whole number");
}

void FieldReader::Read(std::string_view name, std::optional<std::int64_t>& out) {
  if (Take(name) == nullptr) return;
  Read(name, out.emplace());
}

void FieldReader::Read(std::string_view name, std::vector<std::string>& out) {
  ReadWith(name, out, TextsOf, "a list of texts");
}

void FieldReader::Read(std::string_view name, std::map<std::string, std::string>& out) {
  ReadWith<std::map<std::string, std::string>>(
      name, out, [](const json::value& value) { return MapOf<std::string>(value, TextOf); },
      "a map of texts");
}

void FieldReader::Read(std::string_view name, std::map<std::string, bool>& out) {
  ReadWith<std::map<std::string, bool>>(
      name, out, [](const json::value& value) { return MapOf<bool>(value, FlagOf); },
      "a map to true or false");
}

void FieldReader::Read(std::string_view name, json::object& out) {
  const json::value* const value = Take(name);
  if (value == nullptr) return;
  if (value->is_object()) {
    out = value->as_object();
  } else {
    Refuse(name, "expected a map");
  }
}

base::Result<void> FieldReader::Finish() {
  if (error_) return std::unexpected(*error_);
  for (const auto& [key, value] : *object_) {
    if (!taken_.contains(std::string_view(key))) {
      return base::Fail(fmt::format("unknown field \"{}\"", std::string_view(key)));
    }
  }
  return {};
}

}  // namespace berth::bench
