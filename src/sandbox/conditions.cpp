#include "sandbox/conditions.h"

#include <boost/json.hpp>

#include "sandbox/document.h"

namespace berth::sandbox {
namespace {

namespace json = boost::json;

bool IsOfType(const json::value& entry, std::string_view type) {
  return entry.is_object() && TextAt(entry.get_object(), {"type"}) == type;
}

bool SetText(json::object& condition, std::string_view key, std::string_view text) {
  if (TextAt(condition, {key}) == text) return false;
  if (text.empty()) {
    condition.erase(key);
  } else {
    condition[key] = text;
  }
  return true;
}

}  // namespace

const json::object* FindCondition(const json::object& document, std::string_view type) {
  const json::array* conditions = FindArray(document, {"status", "conditions"});
  if (conditions == nullptr) return nullptr;
  for (const json::value& entry : *conditions) {
    if (IsOfType(entry, type)) return &entry.get_object();
  }
  return nullptr;
}

bool HasTrueCondition(const json::object& document, std::string_view type) {
  const json::object* condition = FindCondition(document, type);
  return condition != nullptr && TextAt(*condition, {"status"}) == "True";
}

bool SetCondition(json::object& document, const ConditionWish& wish, const std::string& now) {
  json::array& conditions = ArrayAt(document, {"status", "conditions"});
  for (json::value& entry : conditions) {
    if (!IsOfType(entry, wish.type)) continue;
    json::object& condition = entry.get_object();
    const bool turned = SetText(condition, "status", wish.status);
    const bool reasoned = SetText(condition, "reason", wish.reason);
    const bool worded = SetText(condition, "message", wish.message);
    if (turned) condition["lastTransitionTime"] = now;
    return turned || reasoned || worded;
  }
  json::object condition;
  condition["type"] = wish.type;
  condition["status"] = wish.status;
  condition["lastTransitionTime"] = now;
  SetText(condition, "reason", wish.reason);
  SetText(condition, "message", wish.message);
  conditions.push_back(std::move(condition));
  return true;
}

void RemoveCondition(json::object& document, std::string_view type) {
  json::array* conditions = FindArray(document, {"status", "conditions"});
  if (conditions == nullptr) return;
  for (auto it = conditions->begin(); it != conditions->end();) {
    it = IsOfType(*it, type) ? conditions->erase(it) : it + 1;
  }
}

}  // namespace berth::sandbox
