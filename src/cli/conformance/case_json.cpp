#include "cli/conformance/case_json.h"

#include <boost/json.hpp>

namespace berth::cli {

namespace json = boost::json;

std::string Serialized(const json::value& value) { return json::serialize(value); }

std::string StringAt(const boost::json::object& object, std::string_view key) {
  return std::string(TextAt(object, key));
}

std::string_view TextAt(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  return value != nullptr && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
}

const json::value* ValueAt(const json::object& object, std::string_view key) {
  const json::value* const value = object.if_contains(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

std::vector<std::string> TextsAt(const json::object& object, std::string_view key) {
  std::vector<std::string> texts;
  if (const json::value* const list = ValueAt(object, key)) {
    for (const json::value& text : list->as_array()) texts.emplace_back(text.as_string());
  }
  return texts;
}

}  // namespace berth::cli
