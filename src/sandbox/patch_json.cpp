#include "sandbox/patch_json.h"

#include <algorithm>
#include <boost/json.hpp>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

constexpr std::size_t kOperationsMax = 10'000;

using Pointer = std::vector<std::string>;

// The steps of a JSON pointer (RFC 6901); nothing if it is none.
std::optional<Pointer> ParsePointer(std::string_view text) {
  Pointer steps;
  if (text.empty()) return steps;
  if (text.front() != '/') return std::nullopt;
  for (const char c : text) {
    if (c == '/') {
      steps.emplace_back();
    } else {
      steps.back() += c;
    }
  }
  for (std::string& step : steps) {
    // ~01 is "~1", so the slash comes first.
    for (std::size_t at = step.find("~1"); at != std::string::npos; at = step.find("~1", at + 1)) {
      step.replace(at, 2, "/");
    }
    for (std::size_t at = step.find("~0"); at != std::string::npos; at = step.find("~0", at + 1)) {
      step.replace(at, 2, "~");
    }
  }
  return steps;
}

// An index of an array of `size` elements; `size` itself only where something is added.
std::optional<std::size_t> IndexAt(std::string_view step, std::size_t size, bool may_append) {
  if (step == "-" && may_append) return size;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), index);
  if (step.empty() || error != std::errc() || end != step.data() + step.size()) return std::nullopt;
  if (index > size || (index == size && !may_append)) return std::nullopt;
  return index;
}

json::value* Child(json::value& parent, const std::string& step) {
  if (json::object* object = parent.if_object()) return object->if_contains(step);
  json::array* array = parent.if_array();
  if (array == nullptr) return nullptr;
  const std::optional<std::size_t> index = IndexAt(step, array->size(), false);
  return index ? &(*array)[*index] : nullptr;
}

json::value* FindAt(json::value& document, const Pointer& steps, std::size_t count) {
  json::value* value = &document;
  for (std::size_t i = 0; i < count && value != nullptr; ++i) value = Child(*value, steps[i]);
  return value;
}

json::value* FindAt(json::value& document, const Pointer& steps) {
  return FindAt(document, steps, steps.size());
}

bool Add(json::value& document, const Pointer& steps, json::value value) {
  if (steps.empty()) {
    document = std::move(value);
    return true;
  }
  json::value* parent = FindAt(document, steps, steps.size() - 1);
  if (parent == nullptr) return false;
  if (json::object* object = parent->if_object()) {
    (*object)[steps.back()] = std::move(value);
    return true;
  }
  json::array* array = parent->if_array();
  if (array == nullptr) return false;
  const std::optional<std::size_t> index = IndexAt(steps.back(), array->size(), true);
  if (!index) return false;
  array->insert(array->begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return true;
}

bool Remove(json::value& document, const Pointer& steps) {
  if (steps.empty() || FindAt(document, steps) == nullptr) return false;
  json::value* parent = FindAt(document, steps, steps.size() - 1);
  if (json::object* object = parent->if_object()) {
    object->erase(steps.back());
    return true;
  }
  json::array& array = parent->get_array();
  array.erase(array.begin() + static_cast<std::ptrdiff_t>(*IndexAt(steps.back(), array.size(), false)));
  return true;
}

struct JsonOperation {
  std::string_view name;
  Pointer path;
  std::optional<Pointer> from;
  const json::value* value = nullptr;
};

// Whether the operation could be done.
bool Apply(json::value& document, const JsonOperation& operation) {
  if (operation.name == "remove") return Remove(document, operation.path);
  if (operation.name == "move" || operation.name == "copy") {
    json::value* source = operation.from ? FindAt(document, *operation.from) : nullptr;
    if (source == nullptr) return false;
    json::value moved = *source;
    if (operation.name == "move" && !Remove(document, *operation.from)) return false;
    return Add(document, operation.path, std::move(moved));
  }
  if (operation.value == nullptr) return false;
  if (operation.name == "add") return Add(document, operation.path, *operation.value);
  json::value* target = FindAt(document, operation.path);
  if (target == nullptr) return operation.name == "test" && operation.value->is_null();
  if (operation.name == "test") return *target == *operation.value;
  *target = *operation.value;
  return true;
}

bool IsKnown(std::string_view name) {
  constexpr std::string_view kNames[] = {"add", "remove", "replace", "move", "copy", "test"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

StatusError CannotApply() {
  return {.code = 422,
          .reason = "Invalid",
          .message = "the server rejected our request due to an error in our request",
          .has_empty_details = true};
}

}  // namespace

ApiResult<void> ApplyJsonPatch(json::value& document, const json::value& patch) {
  const json::array* operations = patch.if_array();
  if (operations == nullptr) return Refuse(BadRequest("a JSON patch is a list of operations"));
  if (operations->size() > kOperationsMax) {
    return Refuse({.code = 413,
                   .reason = "RequestEntityTooLarge",
                   .message = fmt::format("The allowed maximum operations in a JSON patch is {}, got {}",
                                          kOperationsMax, operations->size())});
  }
  for (const json::value& entry : *operations) {
    const json::object* object = entry.if_object();
    if (object == nullptr) return Refuse(BadRequest("an operation of the JSON patch is no object"));
    JsonOperation operation{.name = TextAt(*object, {"op"}), .path = {}, .from = {}};
    const json::value* path = object->if_contains("path");
    std::optional<Pointer> steps =
        path != nullptr && path->is_string() ? ParsePointer(ViewOf(path->get_string())) : std::nullopt;
    if (!IsKnown(operation.name) || !steps) return Refuse(CannotApply());
    operation.path = std::move(*steps);
    if (object->contains("from")) operation.from = ParsePointer(TextAt(*object, {"from"}));
    operation.value = object->if_contains("value");
    if (!Apply(document, operation)) return Refuse(CannotApply());
  }
  return {};
}

}  // namespace berth::sandbox
