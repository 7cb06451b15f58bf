#include "sandbox/label_query.h"

#include <boost/json.hpp>

#include "sandbox/document.h"

namespace berth::sandbox {

namespace json = boost::json;

base::Result<api::Selector> SelectorFrom(const json::object* selector) {
  if (selector == nullptr) return api::Selector::Nothing();
  api::LabelSelector query;
  if (const json::object* labels = FindObject(*selector, {"matchLabels"})) {
    for (const json::key_value_pair& label : *labels) {
      const json::string* value = label.value().if_string();
      if (value != nullptr)
        query.match_labels.insert_or_assign(std::string(label.key()), std::string(ViewOf(*value)));
    }
  }
  if (const json::array* expressions = FindArray(*selector, {"matchExpressions"})) {
    for (const json::value& entry : *expressions) {
      const json::object* expression = entry.if_object();
      if (expression == nullptr) continue;
      auto& requirement = query.match_expressions.emplace_back();
      requirement.key = TextAt(*expression, {"key"});
      requirement.operator_ = TextAt(*expression, {"operator"});
      if (const json::array* values = FindArray(*expression, {"values"})) {
        for (const json::value& value : *values) {
          if (const json::string* text = value.if_string()) requirement.values.emplace_back(ViewOf(*text));
        }
      }
    }
  }
  return api::Selector::Compile(query);
}

}  // namespace berth::sandbox
