#include "sandbox/document.h"

#include <boost/json.hpp>
#include <span>

namespace berth::sandbox {
namespace {

namespace json = boost::json;

const json::value* Walk(const json::object& document, std::span<const std::string_view> path) {
  const json::object* object = &document;
  const json::value* value = nullptr;
  for (const std::string_view key : path) {
    if (object == nullptr) return nullptr;
    value = object->if_contains(key);
    if (value == nullptr) return nullptr;
    object = value->if_object();
  }
  return value;
}

std::span<const std::string_view> Steps(Path path) { return {path.begin(), path.size()}; }

}  // namespace

std::string_view ViewOf(const json::string& text) { return {text.data(), text.size()}; }

const json::value* FindValue(const json::object& document, Path path) { return Walk(document, Steps(path)); }

const json::object* FindObject(const json::object& document, Path path) {
  const json::value* value = FindValue(document, path);
  return value != nullptr ? value->if_object() : nullptr;
}

json::object* FindObject(json::object& document, Path path) {
  return const_cast<json::object*>(FindObject(std::as_const(document), path));
}

const json::array* FindArray(const json::object& document, Path path) {
  const json::value* value = FindValue(document, path);
  return value != nullptr ? value->if_array() : nullptr;
}

json::array* FindArray(json::object& document, Path path) {
  return const_cast<json::array*>(FindArray(std::as_const(document), path));
}

std::string_view TextAt(const json::object& document, Path path) {
  const json::value* value = FindValue(document, path);
  const json::string* text = value != nullptr ? value->if_string() : nullptr;
  return text != nullptr ? ViewOf(*text) : std::string_view();
}

std::optional<std::int64_t> FindNumber(const json::object& document, Path path) {
  const json::value* value = FindValue(document, path);
  if (value == nullptr) return std::nullopt;
  if (const std::int64_t* number = value->if_int64()) return *number;
  if (const std::uint64_t* number = value->if_uint64()) {
    return *number <= INT64_MAX ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
  }
  return std::nullopt;
}

std::int64_t NumberAt(const json::object& document, Path path) {
  return FindNumber(document, path).value_or(0);
}

bool FlagAt(const json::object& document, Path path) {
  const json::value* value = FindValue(document, path);
  const bool* flag = value != nullptr ? value->if_bool() : nullptr;
  return flag != nullptr && *flag;
}

json::object& ObjectAt(json::object& document, Path path) {
  json::object* object = &document;
  for (const std::string_view key : path) {
    json::value& value = (*object)[key];
    object = value.if_object();
    if (object == nullptr) object = &value.emplace_object();
  }
  return *object;
}

json::array& ArrayAt(json::object& document, Path path) {
  json::object* object = &document;
  const std::span<const std::string_view> steps = Steps(path);
  for (const std::string_view key : steps.first(steps.size() - 1)) object = &ObjectAt(*object, {key});
  json::value& value = (*object)[steps.back()];
  json::array* array = value.if_array();
  return array != nullptr ? *array : value.emplace_array();
}

void SetDefault(json::object& object, std::string_view key, json::value value) {
  if (object.if_contains(key) == nullptr) object[key] = std::move(value);
}

void RemoveAt(json::object& document, Path path) {
  const std::span<const std::string_view> steps = Steps(path);
  const json::value* parent = Walk(document, steps.first(steps.size() - 1));
  json::object* object = steps.size() == 1   ? &document
                         : parent != nullptr ? const_cast<json::object*>(parent->if_object())
                                             : nullptr;
  if (object != nullptr) object->erase(steps.back());
}

}  // namespace berth::sandbox
