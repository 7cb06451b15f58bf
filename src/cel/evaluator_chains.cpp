#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "fmt/format.h"

#include "cel/evaluator.h"

// Names, selections and indexes: from a start, step by step, to a value.
namespace berth::cel {
namespace {

Value BadPosition(const Value& key) {
  return Value::Error(fmt::format("unsupported index value {} in list", KeyText(key)));
}

// The position an index stands for, or why it stands for none.
Value ListPosition(const Value& key) {
  switch (key.kind()) {
    case Kind::kInt:
      return key;
    case Kind::kUint:
      if (!std::in_range<std::int64_t>(key.unsigned_integer())) return BadPosition(key);
      return Value::Int(static_cast<std::int64_t>(key.unsigned_integer()));
    case Kind::kDouble:
      if (std::trunc(key.number()) != key.number() || std::fabs(key.number()) >= kTwo63) {
        return BadPosition(key);
      }
      return Value::Int(static_cast<std::int64_t>(key.number()));
    default:
      return Value::Error(fmt::format("unsupported index type '{}' in list", TypeName(key)));
  }
}

// value[key]. Null: there is nothing; an error of the index itself goes into error.
const Value* Lookup(const Value& value, const Value& key, Value& error) {
  if (value.kind() == Kind::kMap) {
    const Value* found = value.map().Find(key);
    return found == nullptr ? value.map().fallback.get() : found;
  }
  if (value.kind() != Kind::kList) return nullptr;
  const Value position = ListPosition(key);
  if (position.is_error()) {
    error = position;
    return nullptr;
  }
  const List& list = value.list();
  if (position.integer() < 0 || std::cmp_greater_equal(position.integer(), list.size())) return nullptr;
  return &list[static_cast<std::size_t>(position.integer())];
}

Value Missing(const Value& value, const Value& key) {
  const char* what = value.kind() == Kind::kList ? "index out of bounds" : "no such key";
  return Value::Error(fmt::format("{}: {}", what, KeyText(key)));
}

}  // namespace

const Value& Evaluator::EvalInPlace(NodeIndex index, Value& holder) {
  const Node& node = plan_.nodes[index];
  if (!cancelled_) {
    if (node.op == Op::kConstant) return plan_.constants[node.detail];
    if (node.op == Op::kChain) {
      const Chain& chain = plan_.chains[node.detail];
      if (chain.is_path && !chain.has_optional) return FollowPath(chain, holder);
    }
  }
  holder = Eval(index);
  return holder;
}

const Value& Evaluator::FollowPath(const Chain& chain, Value& holder) {
  const Value* value = chain.start == Chain::Start::kDevice ? &device_ : &ReadSlot(chain.slot);
  if (value->kind() == Kind::kOptional && !chain.qualifiers.empty()) {
    holder = EvalChain(chain);
    return holder;
  }
  for (const Qualifier& qualifier : chain.qualifiers) {
    if (value->is_error()) break;
    Value error;
    const Value* next = Lookup(*value, qualifier.key, error);
    Charge(1);
    if (next == nullptr) {
      holder = error.is_error() ? std::move(error) : Missing(*value, qualifier.key);
      next = &holder;
    }
    value = next;
    if (cancelled_) return cancellation_;
  }
  Charge(1);
  return *value;
}

const Value* Evaluator::FollowOptionalPath(const Chain& chain, const Value& start, Value& holder) {
  const Value* value = &start;
  bool optional = false;
  for (const Qualifier& qualifier : chain.qualifiers) {
    optional = optional || qualifier.optional;
    Value error;
    const Value* const next = Lookup(*value, qualifier.key, error);
    if (next == nullptr && optional && !error.is_error()) return nullptr;
    // After a '?' a step that fails is not charged.
    if (!optional || !error.is_error()) Charge(1);
    if (next == nullptr) {
      holder = error.is_error() ? std::move(error) : Missing(*value, qualifier.key);
      return &holder;
    }
    if (cancelled_) return &cancellation_;
    value = next;
  }
  return value;
}

const Value& Evaluator::ReadSlot(Slot slot) {
  if (slots_[slot].is_pending) {
    slots_[slot].is_pending = false;
    slots_[slot].value = Eval(slots_[slot].pending);
  }
  return slots_[slot].value;
}

Value Evaluator::EvalChain(const Chain& chain) {
  Value value = ResolveChain(chain);
  const bool conditional = chain.start == Chain::Start::kConditional;
  if (!chain.presence_test) {
    if (!conditional) Charge(1);
    return value;
  }
  // A presence test gets back the 1 that it is charged; on a conditional it is charged none.
  if (conditional && cost_ > 0 && !cancelled_) --cost_;
  return value.kind() == Kind::kOptional ? Value::Bool(value.has_content()) : value;
}

Value Evaluator::ResolveChain(const Chain& chain) {
  Value start = StartOf(chain);
  if (start.is_error() || chain.qualifiers.empty()) return start;
  return Qualify(chain, std::move(start));
}

Value Evaluator::StartOf(const Chain& chain) {
  switch (chain.start) {
    case Chain::Start::kDevice:
      return device_;
    case Chain::Start::kSlot:
      return ReadSlot(chain.slot);
    case Chain::Start::kNode:
      return Eval(chain.node);
    case Chain::Start::kConditional: {
      Value condition = Eval(chain.node);
      if (condition.is_true()) return EvalPart(chain.if_true);
      if (condition.is_false()) return EvalPart(chain.if_false);
      return condition.is_error() ? condition : Value::NoSuchOverload();
    }
  }
  return Value::NoSuchOverload();
}

Value Evaluator::Qualify(const Chain& chain, Value value) {
  bool optional = false;
  if (value.kind() == Kind::kOptional) {
    if (!value.has_content()) return value;
    optional = true;
    value = Value(value.content());
  }
  for (const Qualifier& qualifier : chain.qualifiers) {
    optional = optional || qualifier.optional;
    bool found = false;
    Value next = Step(qualifier, value, optional, found);
    if (optional) {
      // After a '?' a step that finds nothing, or fails, is not charged.
      if (next.is_error()) return next;
      if (!found) return Value::OptionalNone();
    }
    Charge(1);
    if (cancelled_) return cancellation_;
    if (next.is_error()) return next;
    value = std::move(next);
  }
  return optional ? Value::OptionalOf(std::move(value)) : value;
}

Value Evaluator::Step(const Qualifier& qualifier, const Value& value, bool optional, bool& found) {
  Value computed;
  if (!qualifier.constant) {
    computed = EvalPart(qualifier.index);
    if (computed.is_error()) return computed;
    if (!IsKeyKind(computed.kind())) {
      return Value::Error(fmt::format("invalid qualifier type: {}", GoTypeName(computed)));
    }
  }
  const Value& key = qualifier.constant ? qualifier.key : computed;
  Value error;
  const Value* next = Lookup(value, key, error);
  if (error.is_error()) return error;
  found = next != nullptr;
  if (qualifier.presence_test && !optional) return Value::Bool(found);
  if (found) return *next;
  return optional ? Value() : Missing(value, key);
}

}  // namespace berth::cel
