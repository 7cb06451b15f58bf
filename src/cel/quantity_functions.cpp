// Kubernetes' quantity library.

#include <cstdint>
#include <string>
#include <utility>

#include "cel/quantity_value.h"
#include "cel/registry.h"

namespace berth::cel {
namespace {

using Arguments = std::span<Value>;

Value ToQuantity(Arguments arguments) {
  auto quantity = api::Quantity::Parse(arguments[0].text());
  if (!quantity) return Value::Error(std::string(api::Quantity::ParseErrorText(quantity.error())));
  return Value::Quantity({std::move(*quantity), FastFormOf(arguments[0].text())});
}

Value IsQuantity(Arguments arguments) {
  return Value::Bool(api::Quantity::Parse(arguments[0].text()).has_value());
}

Value SignOfQuantity(Arguments arguments) { return Value::Int(arguments[0].quantity().quantity.Sign()); }

int OrderOfQuantities(Arguments arguments) {
  return arguments[0].quantity().quantity.Compare(arguments[1].quantity().quantity);
}

Value IsGreaterThan(Arguments arguments) { return Value::Bool(OrderOfQuantities(arguments) > 0); }
Value IsLessThan(Arguments arguments) { return Value::Bool(OrderOfQuantities(arguments) < 0); }
Value CompareTo(Arguments arguments) { return Value::Int(OrderOfQuantities(arguments)); }

Value IsInteger(Arguments arguments) { return Value::Bool(AsInteger(arguments[0].quantity()).has_value()); }

Value ToInteger(Arguments arguments) {
  const auto integer = AsInteger(arguments[0].quantity());
  return integer ? Value::Int(*integer) : Value::Error("cannot convert value to integer");
}

Value AsApproximateFloat(Arguments arguments) {
  return Value::Double(arguments[0].quantity().quantity.AsApproximateFloat());
}

// The right operand of add and sub: a quantity or an integer.
QuantityValue Operand(const Value& value) {
  if (value.kind() != Kind::kInt) return value.quantity();
  return {api::Quantity::FromInt(value.integer(), api::Quantity::Format::kDecimalExponent),
          FastForm{value.integer(), 0}};
}

Value AddToQuantity(Arguments arguments) {
  return Value::Quantity(AddQuantities(arguments[0].quantity(), Operand(arguments[1])));
}

Value SubtractFromQuantity(Arguments arguments) {
  return Value::Quantity(SubtractQuantities(arguments[0].quantity(), Operand(arguments[1])));
}

}  // namespace

void RegisterQuantity(Registry& r) {
  r.Global("quantity", "string_to_quantity", "(string) -> kubernetes.Quantity", ToQuantity);
  r.Global("isQuantity", "is_quantity_string", "(string) -> bool", IsQuantity);
  r.Global("sign", "quantity_sign", "(kubernetes.Quantity) -> int", SignOfQuantity);
  r.Method("isGreaterThan", "quantity_is_greater_than", "(kubernetes.Quantity, kubernetes.Quantity) -> bool",
           IsGreaterThan);
  r.Method("isLessThan", "quantity_is_less_than", "(kubernetes.Quantity, kubernetes.Quantity) -> bool",
           IsLessThan);
  r.Method("compareTo", "quantity_compare_to", "(kubernetes.Quantity, kubernetes.Quantity) -> int",
           CompareTo);
  r.Method("isInteger", "quantity_is_integer", "(kubernetes.Quantity) -> bool", IsInteger);
  r.Method("asInteger", "quantity_get_int", "(kubernetes.Quantity) -> int", ToInteger);
  r.Method("asApproximateFloat", "quantity_get_float", "(kubernetes.Quantity) -> double", AsApproximateFloat);
  r.Method("add", "quantity_add", "(kubernetes.Quantity, kubernetes.Quantity) -> kubernetes.Quantity",
           AddToQuantity);
  r.Method("add", "quantity_add_int", "(kubernetes.Quantity, int) -> kubernetes.Quantity", AddToQuantity);
  r.Method("sub", "quantity_sub", "(kubernetes.Quantity, kubernetes.Quantity) -> kubernetes.Quantity",
           SubtractFromQuantity);
  r.Method("sub", "quantity_sub_int", "(kubernetes.Quantity, int) -> kubernetes.Quantity",
           SubtractFromQuantity);
}

}  // namespace berth::cel
