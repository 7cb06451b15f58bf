#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cel/type.h"
#include "cel/value.h"

namespace berth::cel {

// The only variable of an expression.
inline constexpr std::string_view kDeviceVariable = "device";

// A name that stands for a type: in type(x) == int, and before the braces of a message.
struct NamedType {
  std::string name;
  TypeRef type;
  bool exists_at_run_time = true;
  bool message = false;
};

// Null if no type has the name.
const NamedType* FindNamedType(std::string_view name);

// Whether expressions may select fields of values of the type, and the type of one; null if there is no such
// field.
bool HasFields(std::string_view type_name);
TypeRef FindFieldType(std::string_view type_name, std::string_view field);

// The value of name{fields: values}.
Value MakeMessage(std::string_view name, std::span<const std::string> fields, std::span<const Value> values);

}  // namespace berth::cel
