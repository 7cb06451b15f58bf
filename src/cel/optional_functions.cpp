// Optional values. orValue and or are the evaluator's: they do not evaluate their argument if they need not.

#include <utility>

#include "cel/registry.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;

Value None(Arguments) { return Value::OptionalNone(); }
Value Of(Arguments arguments) { return Value::OptionalOf(std::move(arguments[0])); }

bool IsZero(const Value& value) {
  switch (value.kind()) {
    case Kind::kNull:
      return true;
    case Kind::kBool:
      return !value.boolean();
    case Kind::kInt:
    case Kind::kDuration:
      return value.integer() == 0;
    case Kind::kUint:
      return value.unsigned_integer() == 0;
    case Kind::kDouble:
      return value.number() == 0;
    case Kind::kString:
    case Kind::kBytes:
      return value.text().empty();
    case Kind::kList:
      return value.list().empty();
    case Kind::kMap:
      return value.map().entries.empty();
    default:
      return false;
  }
}

Value OfNonZeroValue(Arguments arguments) {
  return IsZero(arguments[0]) ? Value::OptionalNone() : Value::OptionalOf(std::move(arguments[0]));
}

Value HasValue(Arguments arguments) { return Value::Bool(arguments[0].has_content()); }

Value ContentOf(Arguments arguments) {
  if (!arguments[0].has_content()) return Value::Error("optional.none() dereference");
  return arguments[0].content();
}

Value Unwrap(Arguments arguments) {
  List contents;
  for (const Value& item : arguments[0].list()) {
    if (item.kind() != Kind::kOptional) return Value::Error("value " + KeyText(item) + " is not optional");
    if (item.has_content()) contents.push_back(item.content());
  }
  return Value::OfList(std::move(contents));
}

Value First(Arguments arguments) {
  const List& list = arguments[0].list();
  return list.empty() ? Value::OptionalNone() : Value::OptionalOf(list.front());
}

Value Last(Arguments arguments) {
  const List& list = arguments[0].list();
  return list.empty() ? Value::OptionalNone() : Value::OptionalOf(list.back());
}

}  // namespace

void RegisterOptionals(Registry& r) {
  r.Global("optional.none", "optional_none", "() -> optional(V)", None);
  r.Global("optional.of", "optional_of", "(V) -> optional(V)", Of);
  r.Global("optional.ofNonZeroValue", "optional_ofNonZeroValue", "(V) -> optional(V)", OfNonZeroValue);
  r.Global("optional.unwrap", "optional_unwrap", "(list(optional(V))) -> list(V)", Unwrap);
  r.Method("unwrapOpt", "optional_unwrapOpt", "(list(optional(V))) -> list(V)", Unwrap);
  r.Method("hasValue", "optional_hasValue", "(optional(V)) -> bool", HasValue);
  r.Method("value", "optional_value", "(optional(V)) -> V", ContentOf);
  r.Method("or", "optional_or_optional", "(optional(V), optional(V)) -> optional(V)");
  r.Method("orValue", "optional_orValue_value", "(optional(V), V) -> V");
  r.Method("first", "list_first", "(list(V)) -> optional(V)", First);
  r.Method("last", "list_last", "(list(V)) -> optional(V)", Last);
}

}  // namespace berth::cel
