#include "cel/evaluator.h"

#include <cmath>
#include <cstddef>
#include <span>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "fmt/format.h"

#include "cel/environment.h"

namespace berth::cel {
namespace {

constexpr std::uint64_t kIterationsPerInterruptCheck = 100;

// A call with a constant pattern takes whatever it is given and refuses all but strings.
Value CallRegex(const CallSite& call, std::span<const Value> arguments) {
  if (arguments[0].kind() != Kind::kString) return Value::NoSuchOverload();
  const std::string& text = arguments[0].text();
  if (call.function->name == "matches") return Value::Bool(call.regex->Matches(text));
  if (call.function->name == "find") return Value::String(call.regex->Find(text));
  std::int64_t count = -1;
  if (arguments.size() == 3) {
    if (arguments[2].kind() != Kind::kInt) return Value::NoSuchOverload();
    count = arguments[2].integer();
  }
  return Value::OfList(call.regex->FindAll(text, count));
}

Value Call(const CallSite& call, std::span<Value> arguments) {
  if (call.regex != nullptr) return CallRegex(call, arguments);
  if (call.function->any != nullptr) return call.function->any(arguments);
  return CallOverloads(call, arguments);
}

}  // namespace

Evaluator::Evaluator(const Plan& plan, const Value& device, const Budget& budget)
    : plan_(plan), device_(device), budget_(budget), slots_(plan.slot_count) {}

Value Evaluator::Run() {
  Value value = Eval(plan_.root);
  return cancelled_ ? cancellation_ : value;
}

void Evaluator::Charge(std::uint64_t cost) {
  if (cancelled_) return;
  cost_ += cost;
  if (cost_ > budget_.cost_limit) Cancel("operation cancelled: actual cost limit exceeded");
}

void Evaluator::Cancel(std::string why) {
  cancelled_ = true;
  cancellation_ = Value::Error(std::move(why));
}

Value Evaluator::Eval(NodeIndex index) {
  if (cancelled_) return cancellation_;
  const Node& node = plan_.nodes[index];
  switch (node.op) {
    case Op::kConstant:
      return plan_.constants[node.detail];
    case Op::kChain:
      return EvalChain(plan_.chains[node.detail]);
    case Op::kAnd:
      return EvalLogical(node, false);
    case Op::kOr:
      return EvalLogical(node, true);
    case Op::kCall:
      return EvalCall(node);
    case Op::kEqual:
    case Op::kNotEqual:
      return EvalEquality(node);
    case Op::kNotStrictlyFalse: {
      const Value value = Eval(Child(node, 0));
      Charge(1);
      return Value::Bool(!value.is_false());
    }
    case Op::kInSet: {
      Value holder;
      const Value& value = EvalInPlace(Child(node, 0), holder);
      if (value.is_error()) return value;
      const ConstantSet& set = plan_.sets[node.detail];
      if (value.kind() == Kind::kString) return Value::Bool(set.texts.contains(value.text()));
      const std::string key = SetKey(value);
      return Value::Bool(!key.empty() && set.others.contains(key));
    }
    case Op::kOptionalOr:
    case Op::kOptionalOrValue:
      return EvalOptionalOr(node);
    case Op::kList:
      return EvalList(node);
    case Op::kMap:
      return EvalMap(node);
    case Op::kMessage:
      return EvalMessage(node);
    case Op::kLoop:
      return EvalLoop(node);
  }
  return Value::NoSuchOverload();
}

Value Evaluator::EvalPart(NodeIndex index) {
  if (cancelled_) return cancellation_;
  const Node& node = plan_.nodes[index];
  return node.op == Op::kChain ? ResolveChain(plan_.chains[node.detail]) : Eval(index);
}

// absorbing: the value that decides, whatever the others are: true for ||, false for &&.
Value Evaluator::EvalLogical(const Node& node, bool absorbing) {
  Value error;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    Value value = Eval(Child(node, i));
    if (cancelled_) return cancellation_;
    if (value.kind() == Kind::kBool) {
      if (value.boolean() == absorbing) return value;
    } else if (!error.is_error()) {
      error = value.is_error() ? std::move(value) : Value::NoSuchOverload();
    }
  }
  return error.is_error() ? error : Value::Bool(!absorbing);
}

Value Evaluator::EvalCall(const Node& node) {
  const CallSite& call = plan_.calls[node.detail];
  if (call.known) {
    Charge(call.known_cost);
    return *call.known;
  }
  absl::InlinedVector<Value, 3> arguments;
  Value error;
  for (std::uint32_t i = 0; i < node.child_count; ++i) {
    Value argument;
    if (i == 0 && call.grows_accumulator) {
      // Reading the accumulator costs what any name costs; taking it out of its slot lets it grow in place.
      const Chain& chain = plan_.chains[plan_.nodes[Child(node, 0)].detail];
      ReadSlot(chain.slot);
      argument = std::move(slots_[chain.slot].value);
      Charge(1);
    } else {
      argument = Eval(Child(node, i));
    }
    if (argument.is_error() && !error.is_error()) error = argument;
    const bool failed = argument.is_error();
    arguments.push_back(std::move(argument));
    if (failed && call.stops_at_error && i + 1 < node.child_count) return error;
  }
  if (cancelled_) return cancellation_;
  const std::uint64_t cost = DependsOnResult(call.cost) ? 0 : CostOfCall(call.cost, arguments);
  Value result = error.is_error() ? std::move(error) : Call(call, std::span<Value>(arguments));
  Charge(DependsOnResult(call.cost) ? CostOfResult(call.cost, result) : cost);
  return result;
}

Value Evaluator::EvalEquality(const Node& node) {
  Value left_holder;
  Value right_holder;
  const Value& left = EvalInPlace(Child(node, 0), left_holder);
  const Value& right = EvalInPlace(Child(node, 1), right_holder);
  Charge(CostOfComparison(node.op == Op::kEqual ? CostRule::kEqual : CostRule::kSmaller, left, right));
  if (left.is_error()) return left;
  if (right.is_error()) return right;
  Value equal = Equal(left, right);
  // != is "not exactly true": an equality that is an error makes it true.
  return node.op == Op::kEqual ? equal : Value::Bool(!equal.is_true());
}

Value Evaluator::EvalOptionalOr(const Node& node) {
  const Node& operand = plan_.nodes[Child(node, 0)];
  if (operand.op == Op::kChain && node.op == Op::kOptionalOrValue) {
    // The usual x.?a.orValue(b): nobody else sees the optional, so none is made.
    const Chain& chain = plan_.chains[operand.detail];
    const Value* const start = !chain.is_path || !chain.has_optional  ? nullptr
                               : chain.start == Chain::Start::kDevice ? &device_
                                                                      : &ReadSlot(chain.slot);
    if (start != nullptr && start->kind() != Kind::kOptional && !start->is_error()) {
      Value holder;
      const Value* const found = FollowOptionalPath(chain, *start, holder);
      Charge(1);
      return found == nullptr ? Eval(Child(node, 1)) : *found;
    }
  }
  Value value = Eval(Child(node, 0));
  if (value.is_error()) return value;
  if (value.kind() != Kind::kOptional) return Value::NoSuchOverload();
  if (!value.has_content()) return Eval(Child(node, 1));
  return node.op == Op::kOptionalOr ? value : value.content();
}

Value Evaluator::EvalList(const Node& node) {
  const LiteralPlan& literal = plan_.literals[node.detail];
  List list;
  Value error;
  for (std::uint32_t i = 0; i < node.child_count && !error.is_error(); ++i) {
    Value item = Eval(Child(node, i));
    if (item.is_error()) {
      error = std::move(item);
    } else if (!literal.has_optional || !literal.optional[i]) {
      list.push_back(std::move(item));
    } else if (item.kind() != Kind::kOptional) {
      error =
          Value::Error("cannot initialize optional list element from non-optional value " + KeyText(item));
    } else if (item.has_content()) {
      list.push_back(item.content());
    }
  }
  Charge(kListLiteralCost);
  return error.is_error() ? error : Value::OfList(std::move(list));
}

Value Evaluator::EvalMap(const Node& node) {
  const LiteralPlan& literal = plan_.literals[node.detail];
  Map map;
  Value error;
  for (std::uint32_t i = 0; i < node.child_count && !error.is_error(); i += 2) {
    Value key = Eval(Child(node, i));
    if (key.is_error()) {
      error = std::move(key);
      break;
    }
    Value value = Eval(Child(node, i + 1));
    if (value.is_error()) {
      error = std::move(value);
    } else if (!literal.has_optional || !literal.optional[i / 2]) {
      map.entries.insert_or_assign(std::move(key), std::move(value));
    } else if (value.kind() != Kind::kOptional) {
      error = Value::Error(fmt::format("cannot initialize optional entry '{}' from non-optional value {}",
                                       KeyText(key), KeyText(value)));
    } else if (value.has_content()) {
      map.entries.insert_or_assign(std::move(key), value.content());
    } else {
      map.entries.erase(key);
    }
  }
  Charge(kMapLiteralCost);
  return error.is_error() ? error : Value::OfMap(std::move(map));
}

Value Evaluator::EvalMessage(const Node& node) {
  const LiteralPlan& literal = plan_.literals[node.detail];
  std::vector<std::string> fields;
  std::vector<Value> values;
  Value error;
  for (std::uint32_t i = 0; i < node.child_count && !error.is_error(); ++i) {
    Value value = Eval(Child(node, i));
    if (value.is_error()) {
      error = std::move(value);
      continue;
    }
    if (literal.optional[i]) {
      if (value.kind() != Kind::kOptional) {
        error = Value::Error(fmt::format("cannot initialize optional entry '{}' from non-optional value {}",
                                         literal.fields[i], KeyText(value)));
        continue;
      }
      if (!value.has_content()) continue;
      value = Value(value.content());
    }
    fields.push_back(literal.fields[i]);
    values.push_back(std::move(value));
  }
  Charge(kMessageLiteralCost);
  return error.is_error() ? error : MakeMessage(literal.message, fields, values);
}

Value Evaluator::EvalLoop(const Node& node) {
  const LoopPlan& loop = plan_.loops[node.detail];
  Value range = Eval(loop.range);
  if (range.is_error()) return range;
  Variable& accumulator = slots_[loop.accumulator];
  accumulator.value = Value();
  accumulator.pending = loop.start;
  accumulator.is_pending = true;
  const auto set = [this](Slot slot, Value value) {
    slots_[slot].value = std::move(value);
    slots_[slot].is_pending = false;
  };
  if (range.kind() == Kind::kList) {
    const List& list = range.list();
    for (std::size_t i = 0; i < list.size(); ++i) {
      set(loop.variable, loop.two_variables ? Value::Int(static_cast<std::int64_t>(i)) : list[i]);
      if (loop.two_variables) set(loop.second_variable, list[i]);
      if (!Iterate(loop)) break;
    }
  } else if (range.kind() == Kind::kMap) {
    for (const auto& [key, value] : range.map().entries) {
      set(loop.variable, key);
      if (loop.two_variables) set(loop.second_variable, value);
      if (!Iterate(loop)) break;
    }
  } else if (loop.two_variables) {
    return Value::Error(fmt::format("unsupported comprehension range type: {}", GoTypeName(range)));
  } else {
    return Value::Error(fmt::format("got '{}', expected iterable type", GoTypeName(range)));
  }
  return Eval(loop.result);
}

// One turn of a loop; false: it is the last.
bool Evaluator::Iterate(const LoopPlan& loop) {
  const Value condition = Eval(loop.condition);
  if (cancelled_ || condition.is_false()) return false;
  Value next = Eval(loop.step);
  Variable& accumulator = slots_[loop.accumulator];
  accumulator.value = std::move(next);
  accumulator.is_pending = false;
  if (++iterations_ % kIterationsPerInterruptCheck == 0 && budget_.interrupted && budget_.interrupted()) {
    Cancel("operation interrupted");
  }
  return !cancelled_;
}

}  // namespace berth::cel
