#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <string_view>

// The status.conditions that most kinds have.
namespace berth::sandbox {

struct ConditionWish {
  std::string_view type;
  std::string_view status;  // "True", "False", "Unknown"
  std::string_view reason = {};
  std::string_view message = {};
};

// The condition of that type, or null.
const boost::json::object* FindCondition(const boost::json::object& document, std::string_view type);
bool HasTrueCondition(const boost::json::object& document, std::string_view type);

// Sets status, reason and message; lastTransitionTime moves only when the status does, and other fields of
// the condition stay. True if anything changed.
bool SetCondition(boost::json::object& document, const ConditionWish& wish, const std::string& now);
void RemoveCondition(boost::json::object& document, std::string_view type);

}  // namespace berth::sandbox
