// Operators, size, and the string predicates: the functions that look at the types of their operands
// themselves.

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "fmt/format.h"

#include "cel/limits.h"
#include "cel/registry.h"
#include "cel/time.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;

Value OrOverflow(bool overflow, Value value, const char* what) {
  return overflow ? Value::Error(what) : value;
}

constexpr const char* kIntOverflow = "integer overflow";
constexpr const char* kUintOverflow = "unsigned integer overflow";

Value AddTo(const Value& timestamp, std::int64_t nanos) {
  const auto sum = AddDuration(timestamp.instant(), nanos);
  return sum ? Value::Timestamp(*sum) : Value::Error("timestamp overflow");
}

Value AddLists(Value& left, const Value& right) {
  if (left.list().size() + right.list().size() > kListItemsMax) return Value::Error("list is too large");
  if (List* own = left.UniqueList()) {
    own->insert(own->end(), right.list().begin(), right.list().end());
    return std::move(left);
  }
  List sum = left.list();
  sum.insert(sum.end(), right.list().begin(), right.list().end());
  return Value::OfList(std::move(sum));
}

Value AddSameKind(Value& left, const Value& right) {
  switch (left.kind()) {
    case Kind::kInt: {
      std::int64_t sum = 0;
      const bool overflow = __builtin_add_overflow(left.integer(), right.integer(), &sum);
      return OrOverflow(overflow, Value::Int(sum), kIntOverflow);
    }
    case Kind::kUint: {
      std::uint64_t sum = 0;
      const bool overflow = __builtin_add_overflow(left.unsigned_integer(), right.unsigned_integer(), &sum);
      return OrOverflow(overflow, Value::Uint(sum), kUintOverflow);
    }
    case Kind::kDouble:
      return Value::Double(left.number() + right.number());
    case Kind::kString:
      return Value::String(left.text() + right.text());
    case Kind::kBytes:
      return Value::Bytes(left.text() + right.text());
    case Kind::kList:
      return AddLists(left, right);
    case Kind::kDuration: {
      std::int64_t sum = 0;
      const bool overflow = __builtin_add_overflow(left.integer(), right.integer(), &sum);
      return OrOverflow(overflow, Value::Duration(sum), kIntOverflow);
    }
    case Kind::kTimestamp:
      return Value::NoSuchOverload();
    default:
      return RefuseReceiver(left, "_+_");
  }
}

Value Add(Arguments arguments) {
  Value& left = arguments[0];
  const Value& right = arguments[1];
  if (left.kind() == right.kind()) return AddSameKind(left, right);
  if (left.kind() == Kind::kTimestamp && right.kind() == Kind::kDuration) return AddTo(left, right.integer());
  if (left.kind() == Kind::kDuration && right.kind() == Kind::kTimestamp) return AddTo(right, left.integer());
  switch (left.kind()) {
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kBytes:
    case Kind::kList:
      return Value::NoSuchOverload();
    default:
      return RefuseReceiver(left, "_+_");
  }
}

Value SubtractSameKind(const Value& left, const Value& right) {
  switch (left.kind()) {
    case Kind::kUint: {
      std::uint64_t difference = 0;
      const bool overflow =
          __builtin_sub_overflow(left.unsigned_integer(), right.unsigned_integer(), &difference);
      return OrOverflow(overflow, Value::Uint(difference), kUintOverflow);
    }
    case Kind::kDouble:
      return Value::Double(left.number() - right.number());
    case Kind::kTimestamp: {
      const auto difference = Difference(left.instant(), right.instant());
      return difference ? Value::Duration(*difference) : Value::Error(kIntOverflow);
    }
    default: {
      std::int64_t difference = 0;
      if (__builtin_sub_overflow(left.integer(), right.integer(), &difference))
        return Value::Error(kIntOverflow);
      return left.kind() == Kind::kInt ? Value::Int(difference) : Value::Duration(difference);
    }
  }
}

Value Subtract(Arguments arguments) {
  const Value& left = arguments[0];
  const Value& right = arguments[1];
  switch (left.kind()) {
    case Kind::kTimestamp:
      if (right.kind() == Kind::kDuration) {
        if (right.integer() == std::numeric_limits<std::int64_t>::min())
          return Value::Error("timestamp overflow");
        return AddTo(left, -right.integer());
      }
      [[fallthrough]];
    case Kind::kInt:
    case Kind::kUint:
    case Kind::kDouble:
    case Kind::kDuration:
      return left.kind() == right.kind() ? SubtractSameKind(left, right) : Value::NoSuchOverload();
    default:
      return RefuseReceiver(left, "_-_");
  }
}

Value Multiply(Arguments arguments) {
  const Value& left = arguments[0];
  const Value& right = arguments[1];
  if (left.kind() != Kind::kInt && left.kind() != Kind::kUint && left.kind() != Kind::kDouble) {
    return RefuseReceiver(left, "_*_");
  }
  if (left.kind() != right.kind()) return Value::NoSuchOverload();
  if (left.kind() == Kind::kDouble) return Value::Double(left.number() * right.number());
  if (left.kind() == Kind::kInt) {
    std::int64_t product = 0;
    const bool overflow = __builtin_mul_overflow(left.integer(), right.integer(), &product);
    return OrOverflow(overflow, Value::Int(product), kIntOverflow);
  }
  std::uint64_t product = 0;
  const bool overflow = __builtin_mul_overflow(left.unsigned_integer(), right.unsigned_integer(), &product);
  return OrOverflow(overflow, Value::Uint(product), kUintOverflow);
}

bool IsMinByMinusOne(const Value& left, const Value& right) {
  return left.integer() == std::numeric_limits<std::int64_t>::min() && right.integer() == -1;
}

Value Divide(Arguments arguments) {
  const Value& left = arguments[0];
  const Value& right = arguments[1];
  if (left.kind() != Kind::kInt && left.kind() != Kind::kUint && left.kind() != Kind::kDouble) {
    return RefuseReceiver(left, "_/_");
  }
  if (left.kind() != right.kind()) return Value::NoSuchOverload();
  if (left.kind() == Kind::kDouble) return Value::Double(left.number() / right.number());
  // Both kinds of integer are zero in the same bits.
  if (right.unsigned_integer() == 0) return Value::Error("division by zero");
  if (left.kind() == Kind::kUint) return Value::Uint(left.unsigned_integer() / right.unsigned_integer());
  if (IsMinByMinusOne(left, right)) return Value::Error(kIntOverflow);
  return Value::Int(left.integer() / right.integer());
}

Value Modulo(Arguments arguments) {
  const Value& left = arguments[0];
  const Value& right = arguments[1];
  if (left.kind() != Kind::kInt && left.kind() != Kind::kUint) return RefuseReceiver(left, "_%_");
  if (left.kind() != right.kind()) return Value::NoSuchOverload();
  if (right.unsigned_integer() == 0) return Value::Error("modulus by zero");
  if (left.kind() == Kind::kUint) return Value::Uint(left.unsigned_integer() % right.unsigned_integer());
  if (IsMinByMinusOne(left, right)) return Value::Error(kIntOverflow);
  return Value::Int(left.integer() % right.integer());
}

Value Negate(Arguments arguments) {
  const Value& operand = arguments[0];
  switch (operand.kind()) {
    case Kind::kDouble:
      return Value::Double(-operand.number());
    case Kind::kBool:
      return Value::NoSuchOverload();
    case Kind::kInt:
    case Kind::kDuration: {
      if (operand.integer() == std::numeric_limits<std::int64_t>::min()) return Value::Error(kIntOverflow);
      return operand.kind() == Kind::kInt ? Value::Int(-operand.integer())
                                          : Value::Duration(-operand.integer());
    }
    default:
      return RefuseReceiver(operand, "-_");
  }
}

Value Not(Arguments arguments) {
  if (arguments[0].kind() != Kind::kBool) return Value::NoSuchOverload();
  return Value::Bool(!arguments[0].boolean());
}

// holds: what the order must be for the relation to hold.
template <class Holds>
Value Relate(Arguments arguments, std::string_view function, Holds holds) {
  if (!IsOrdered(arguments[0].kind())) return RefuseReceiver(arguments[0], function);
  const Value order = Compare(arguments[0], arguments[1]);
  return order.is_error() ? order : Value::Bool(holds(order.integer()));
}

Value Less(Arguments arguments) {
  return Relate(arguments, "_<_", [](std::int64_t order) { return order < 0; });
}
Value LessEquals(Arguments arguments) {
  return Relate(arguments, "_<=_", [](std::int64_t order) { return order <= 0; });
}
Value Greater(Arguments arguments) {
  return Relate(arguments, "_>_", [](std::int64_t order) { return order > 0; });
}
Value GreaterEquals(Arguments arguments) {
  return Relate(arguments, "_>=_", [](std::int64_t order) { return order >= 0; });
}

Value In(Arguments arguments) {
  const Value& container = arguments[1];
  if (container.kind() == Kind::kMap) return Value::Bool(container.map().Find(arguments[0]) != nullptr);
  if (container.kind() != Kind::kList) return Value::NoSuchOverload();
  for (const Value& item : container.list()) {
    if (IsEqual(arguments[0], item)) return Value::Bool(true);
  }
  return Value::Bool(false);
}

Value Size(Arguments arguments) {
  const Value& value = arguments[0];
  switch (value.kind()) {
    case Kind::kString:
      return Value::Int(CodePointCount(value.text()));
    case Kind::kBytes:
      return Value::Int(static_cast<std::int64_t>(value.text().size()));
    case Kind::kList:
      return Value::Int(static_cast<std::int64_t>(value.list().size()));
    case Kind::kMap:
      return Value::Int(static_cast<std::int64_t>(value.map().entries.size()));
    default:
      return RefuseReceiver(value, "size");
  }
}

template <class Predicate>
Value OfStrings(Arguments arguments, Predicate predicate) {
  if (arguments[0].kind() != Kind::kString || arguments[1].kind() != Kind::kString)
    return Value::NoSuchOverload();
  return Value::Bool(predicate(std::string_view(arguments[0].text()), std::string_view(arguments[1].text())));
}

Value Contains(Arguments arguments) {
  return OfStrings(arguments, [](auto text, auto part) { return text.contains(part); });
}
Value StartsWith(Arguments arguments) {
  return OfStrings(arguments, [](auto text, auto part) { return text.starts_with(part); });
}
Value EndsWith(Arguments arguments) {
  return OfStrings(arguments, [](auto text, auto part) { return text.ends_with(part); });
}

struct RelationName {
  std::string_view function;
  std::string_view prefix;  // of its overloads' ids
  Implementation implementation;
};

constexpr std::array kRelationOperators = {
    RelationName{"_<_", "less", Less},
    RelationName{"_<=_", "less_equals", LessEquals},
    RelationName{"_>_", "greater", Greater},
    RelationName{"_>=_", "greater_equals", GreaterEquals},
};

constexpr std::array<std::array<std::string_view, 2>, 14> kRelationTypes = {{
    {"bool", "(bool, bool)"},
    {"int64", "(int, int)"},
    {"int64_double", "(int, double)"},
    {"int64_uint64", "(int, uint)"},
    {"uint64", "(uint, uint)"},
    {"uint64_double", "(uint, double)"},
    {"uint64_int64", "(uint, int)"},
    {"double", "(double, double)"},
    {"double_int64", "(double, int)"},
    {"double_uint64", "(double, uint)"},
    {"string", "(string, string)"},
    {"bytes", "(bytes, bytes)"},
    {"timestamp", "(timestamp, timestamp)"},
    {"duration", "(duration, duration)"},
}};

void RegisterArithmetic(Registry& r) {
  r.Global("_+_", "add_bytes", "(bytes, bytes) -> bytes");
  r.Global("_+_", "add_double", "(double, double) -> double");
  r.Global("_+_", "add_duration_duration", "(duration, duration) -> duration");
  r.Global("_+_", "add_duration_timestamp", "(duration, timestamp) -> timestamp");
  r.Global("_+_", "add_timestamp_duration", "(timestamp, duration) -> timestamp");
  r.Global("_+_", "add_int64", "(int, int) -> int");
  r.Global("_+_", "add_list", "(list(A), list(A)) -> list(A)");
  r.Global("_+_", "add_string", "(string, string) -> string");
  r.Global("_+_", "add_uint64", "(uint, uint) -> uint");
  r.Any("_+_", Add);
  r.Global("_-_", "subtract_double", "(double, double) -> double");
  r.Global("_-_", "subtract_duration_duration", "(duration, duration) -> duration");
  r.Global("_-_", "subtract_int64", "(int, int) -> int");
  r.Global("_-_", "subtract_timestamp_duration", "(timestamp, duration) -> timestamp");
  r.Global("_-_", "subtract_timestamp_timestamp", "(timestamp, timestamp) -> duration");
  r.Global("_-_", "subtract_uint64", "(uint, uint) -> uint");
  r.Any("_-_", Subtract);
  r.Global("_*_", "multiply_double", "(double, double) -> double");
  r.Global("_*_", "multiply_int64", "(int, int) -> int");
  r.Global("_*_", "multiply_uint64", "(uint, uint) -> uint");
  r.Any("_*_", Multiply);
  r.Global("_/_", "divide_double", "(double, double) -> double");
  r.Global("_/_", "divide_int64", "(int, int) -> int");
  r.Global("_/_", "divide_uint64", "(uint, uint) -> uint");
  r.Any("_/_", Divide);
  r.Global("_%_", "modulo_int64", "(int, int) -> int");
  r.Global("_%_", "modulo_uint64", "(uint, uint) -> uint");
  r.Any("_%_", Modulo);
  r.Global("-_", "negate_double", "(double) -> double");
  r.Global("-_", "negate_int64", "(int) -> int");
  r.Any("-_", Negate);
}

}  // namespace

void RegisterOperators(Registry& r) {
  RegisterArithmetic(r);
  r.Global("!_", "logical_not", "(bool) -> bool");
  r.Any("!_", Not);
  for (const RelationName& relation : kRelationOperators) {
    for (const auto& [id, types] : kRelationTypes) {
      r.Global(relation.function, fmt::format("{}_{}", relation.prefix, id),
               fmt::format("{} -> bool", types));
    }
    r.Any(relation.function, relation.implementation);
  }
  for (const char* name : {"@in", "_in_"}) {
    r.Global(name, "in_list", "(A, list(A)) -> bool");
    r.Global(name, "in_map", "(A, map(A, B)) -> bool");
    r.Any(name, In);
  }
  r.Global("size", "size_bytes", "(bytes) -> int");
  r.Method("size", "bytes_size", "(bytes) -> int");
  r.Global("size", "size_list", "(list(A)) -> int");
  r.Method("size", "list_size", "(list(A)) -> int");
  r.Global("size", "size_map", "(map(A, B)) -> int");
  r.Method("size", "map_size", "(map(A, B)) -> int");
  r.Global("size", "size_string", "(string) -> int");
  r.Method("size", "string_size", "(string) -> int");
  r.Any("size", Size);
  r.Method("contains", "contains_string", "(string, string) -> bool");
  r.Any("contains", Contains);
  r.Method("startsWith", "starts_with_string", "(string, string) -> bool");
  r.Any("startsWith", StartsWith);
  r.Method("endsWith", "ends_with_string", "(string, string) -> bool");
  r.Any("endsWith", EndsWith);
  // The evaluator knows these itself: they do not evaluate all their arguments, or not first.
  r.Global("_==_", "equals", "(A, A) -> bool");
  r.Global("_!=_", "not_equals", "(A, A) -> bool");
  r.Global("_&&_", "logical_and", "(bool, bool) -> bool");
  r.Global("_||_", "logical_or", "(bool, bool) -> bool");
  r.Global("_?_:_", "conditional", "(bool, A, A) -> A");
  for (const char* name : {"@not_strictly_false", "__not_strictly_false__"}) {
    r.Global(name, "not_strictly_false", "(bool) -> bool");
  }
  r.Global("_[_]", "index_list", "(list(A), int) -> A");
  r.Global("_[_]", "index_map", "(map(A, B), A) -> B");
  r.Global("_[_]", "optional_list_index_int", "(optional(list(V)), int) -> optional(V)");
  r.Global("_[_]", "optional_map_index_value", "(optional(map(K, V)), K) -> optional(V)");
  r.Global("_[?_]", "list_optindex_optional_int", "(list(V), int) -> optional(V)");
  r.Global("_[?_]", "optional_list_optindex_optional_int", "(optional(list(V)), int) -> optional(V)");
  r.Global("_[?_]", "map_optindex_optional_value", "(map(K, V), K) -> optional(V)");
  r.Global("_[?_]", "optional_map_optindex_optional_value", "(optional(map(K, V)), K) -> optional(V)");
  r.Global("_?._", "select_optional_field", "(dyn, string) -> optional(V)");
}

}  // namespace berth::cel
