#pragma once

#include <boost/json/fwd.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace berth::wire {
struct Field;
struct Message;
}  // namespace berth::wire

// How server-side apply divides an object among its managers: which parts can have owners of their own, and
// which are owned and replaced whole. The API's schema says so by listType, listMapKey and mapType; here it
// follows from the patch rules of the field table, with the exceptions in one place.
namespace berth::sandbox {

enum class MergeKind : std::uint8_t {
  kAtomic,   // a scalar, or something that is replaced whole
  kStruct,   // fields of a message
  kMap,      // any keys, scalar values
  kListMap,  // elements with keys
  kListSet,  // scalars
};

struct MergeRule {
  MergeKind kind = MergeKind::kAtomic;
  const wire::Message* message = nullptr;   // of kStruct, and of the elements of kListMap
  std::vector<std::string_view> keys = {};  // of kListMap
};

// The rule for a field of a message; atomic if the message does not have it.
MergeRule RuleOf(const wire::Message& message, std::string_view json_key);

// The path element of a list's entry: `k:{"name":"c"}`. Keys that it lacks have the values that the schema
// has for them; nothing if it has none of them and the schema neither.
std::optional<std::string> EntryElement(const MergeRule& rule, const boost::json::value& entry);

}  // namespace berth::sandbox
