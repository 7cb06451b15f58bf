#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "fmt/format.h"

#include "cel/environment.h"
#include "cel/plan.h"

namespace berth::cel {
namespace {

constexpr std::array<std::string_view, 10> kConversions = {"bool", "bytes",  "double",    "duration", "dyn",
                                                           "int",  "string", "timestamp", "type",     "uint"};

bool IsConversion(std::string_view function) {
  return std::find(kConversions.begin(), kConversions.end(), function) != kConversions.end();
}

// Functions that make a value of a text and do nothing else. An error is one of the run, not of the plan.
constexpr std::array<std::string_view, 4> kParsers = {"cidr", "ip", "quantity", "semver"};

bool IsParser(std::string_view function) {
  return std::find(kParsers.begin(), kParsers.end(), function) != kParsers.end();
}

bool IsOperator(std::string_view function) {
  return function.starts_with('_') || function.starts_with('@') || function == "!_" || function == "-_";
}

// The forms under which a constant of a set is found: its own, and those of numbers that equal it. Upstream
// keeps a set like this, so that an integer that a double cannot hold is not found by the double next to it.
std::vector<Value> SetForms(const Value& value) {
  std::vector<Value> forms = {value};
  if (value.kind() == Kind::kInt) {
    forms.push_back(Value::Double(static_cast<double>(value.integer())));
    if (value.integer() >= 0) forms.push_back(Value::Uint(static_cast<std::uint64_t>(value.integer())));
  } else if (value.kind() == Kind::kUint) {
    forms.push_back(Value::Double(static_cast<double>(value.unsigned_integer())));
    if (std::in_range<std::int64_t>(value.unsigned_integer())) {
      forms.push_back(Value::Int(static_cast<std::int64_t>(value.unsigned_integer())));
    }
  } else if (value.kind() == Kind::kDouble && std::trunc(value.number()) == value.number()) {
    const double number = value.number();
    if (number > -kTwo63 && number < kTwo63) forms.push_back(Value::Int(static_cast<std::int64_t>(number)));
    if (number >= 0 && number < kTwo64) forms.push_back(Value::Uint(static_cast<std::uint64_t>(number)));
  }
  return forms;
}

class Planner {
 public:
  base::Result<Plan> Run(const Expr& expr) {
    plan_.root = Visit(expr);
    if (error_) return base::Fail(*error_);
    for (Chain& chain : plan_.chains) MarkPath(chain);
    return std::move(plan_);
  }

 private:
  NodeIndex Visit(const Expr& expr) {
    if (error_) return 0;
    switch (expr.kind) {
      case Expr::Kind::kLiteral:
        return Constant(expr.literal);
      case Expr::Kind::kName:
        return expr.type_name.empty() ? VisitName(expr) : TypeConstant(expr);
      case Expr::Kind::kSelect:
        return expr.type_name.empty() ? VisitSelect(expr) : TypeConstant(expr);
      case Expr::Kind::kCall:
        return VisitCall(expr);
      case Expr::Kind::kList:
        return VisitList(expr);
      case Expr::Kind::kMap:
        return VisitMap(expr);
      case Expr::Kind::kMessage:
        return VisitMessage(expr);
      case Expr::Kind::kLoop:
        return VisitLoop(expr);
    }
    return 0;
  }

  static void MarkPath(Chain& chain) {
    const bool starts = chain.start == Chain::Start::kDevice || chain.start == Chain::Start::kSlot;
    const auto is_plain = [](const Qualifier& step) { return step.constant && !step.presence_test; };
    chain.is_path = starts && !chain.presence_test && std::ranges::all_of(chain.qualifiers, is_plain);
    chain.has_optional = std::ranges::any_of(chain.qualifiers, &Qualifier::optional);
  }

  NodeIndex Fail(std::string message) {
    if (!error_) error_ = std::move(message);
    return 0;
  }

  // Adds an element to one of the tables and gives its place.
  template <class T>
  static std::uint32_t Push(std::vector<T>& table, T element) {
    table.push_back(std::move(element));
    return static_cast<std::uint32_t>(table.size() - 1);
  }

  NodeIndex Add(Op op, const std::vector<NodeIndex>& children, std::uint32_t detail = 0) {
    const auto first = static_cast<std::uint32_t>(plan_.children.size());
    plan_.children.insert(plan_.children.end(), children.begin(), children.end());
    return Push(plan_.nodes, Node{op, first, static_cast<std::uint32_t>(children.size()), detail});
  }
  NodeIndex Constant(Value value) { return Add(Op::kConstant, {}, Push(plan_.constants, std::move(value))); }
  NodeIndex AddChain(Chain chain) { return Add(Op::kChain, {}, Push(plan_.chains, std::move(chain))); }

  bool IsConstant(NodeIndex node) const { return plan_.nodes[node].op == Op::kConstant; }
  const Value& ConstantOf(NodeIndex node) const { return plan_.constants[plan_.nodes[node].detail]; }
  bool AllConstant(const std::vector<NodeIndex>& nodes) const {
    return std::all_of(nodes.begin(), nodes.end(), [this](NodeIndex node) { return IsConstant(node); });
  }

  NodeIndex TypeConstant(const Expr& expr) {
    if (expr.undefined_type) return Fail("reference to undefined type: " + expr.type_name);
    return Constant(Value::Type(expr.type_name));
  }

  NodeIndex VisitName(const Expr& expr) {
    Chain chain;
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      if (scope->first != expr.name) continue;
      // Upstream takes every name whose type is a type for the name of one. No such expression gets past its
      // API server, so that accepting it here would help nobody.
      if (expr.type->kind == TypeKind::kType) return Fail("reference to undefined type: " + expr.name);
      chain.start = Chain::Start::kSlot;
      chain.slot = scope->second;
      break;
    }
    return AddChain(std::move(chain));
  }

  // The chain that goes on from the node: its own if it is one, else a new one that starts with it.
  NodeIndex ChainOn(NodeIndex operand) {
    if (plan_.nodes[operand].op == Op::kChain) return operand;
    Chain chain;
    chain.start = Chain::Start::kNode;
    chain.node = operand;
    return AddChain(std::move(chain));
  }
  Chain& ChainOf(NodeIndex node) { return plan_.chains[plan_.nodes[node].detail]; }

  NodeIndex VisitSelect(const Expr& expr) {
    const NodeIndex operand = Visit(*expr.operand);
    if (error_) return 0;
    const NodeIndex node = ChainOn(operand);
    Chain& chain = ChainOf(node);
    chain.presence_test = chain.presence_test || expr.presence_test;
    Qualifier qualifier;
    qualifier.presence_test = expr.presence_test;
    qualifier.key = Value::String(expr.name);
    chain.qualifiers.push_back(std::move(qualifier));
    return node;
  }

  NodeIndex VisitIndex(const std::vector<NodeIndex>& arguments, bool optional) {
    Qualifier qualifier;
    qualifier.optional = optional;
    if (IsConstant(arguments[1])) {
      qualifier.key = ConstantOf(arguments[1]);
      if (!IsKeyKind(qualifier.key.kind())) {
        return Fail(fmt::format("invalid qualifier type: {}", GoTypeName(qualifier.key)));
      }
    } else {
      qualifier.constant = false;
      qualifier.index = arguments[1];
    }
    const NodeIndex node = ChainOn(arguments[0]);
    ChainOf(node).qualifiers.push_back(std::move(qualifier));
    return node;
  }

  NodeIndex VisitCall(const Expr& expr) {
    std::vector<NodeIndex> arguments;
    if (expr.operand != nullptr) arguments.push_back(Visit(*expr.operand));
    for (const ExprPtr& argument : expr.arguments) arguments.push_back(Visit(*argument));
    if (error_) return 0;
    const std::string& name = expr.function->name;
    if (name == "_&&_") return Add(Op::kAnd, arguments);
    if (name == "_||_") return Add(Op::kOr, arguments);
    if (name == "_==_") return Add(Op::kEqual, arguments);
    if (name == "_!=_") return Add(Op::kNotEqual, arguments);
    if (name == "_[_]") return VisitIndex(arguments, false);
    if (name == "_[?_]" || name == "_?._") return VisitIndex(arguments, true);
    if (name == "@not_strictly_false" || name == "__not_strictly_false__") {
      return Add(Op::kNotStrictlyFalse, arguments);
    }
    if (name == "or") return Add(Op::kOptionalOr, arguments);
    if (name == "orValue") return Add(Op::kOptionalOrValue, arguments);
    if (name == "_?_:_") {
      Chain chain;
      chain.start = Chain::Start::kConditional;
      chain.node = arguments[0];
      chain.if_true = arguments[1];
      chain.if_false = arguments[2];
      return AddChain(std::move(chain));
    }
    return VisitFunction(expr, arguments);
  }

  NodeIndex VisitFunction(const Expr& expr, const std::vector<NodeIndex>& arguments) {
    const std::string& name = expr.function->name;
    CallSite call;
    call.function = expr.function;
    call.overloads = expr.overloads;
    const Overload* only = expr.overloads.size() == 1 ? expr.overloads[0] : nullptr;
    call.cost = CostRuleOf(name, only);
    call.stops_at_error = arguments.size() > 2 || name == "format" || (only == nullptr && !IsOperator(name));
    call.grows_accumulator = expr.grows_accumulator;
    if (only != nullptr && only->id == "in_list" && IsConstant(arguments[1])) {
      if (const auto node = SetMembership(arguments)) return *node;
    }
    if (IsConversion(name) && arguments.size() == 1 && IsConstant(arguments[0])) {
      Value argument = ConstantOf(arguments[0]);
      Value value = CallOverloads(call, std::span(&argument, 1));
      return value.is_error() ? Fail(value.text()) : Constant(std::move(value));
    }
    if (IsParser(name) && AllConstant(arguments)) {
      std::vector<Value> values;
      values.reserve(arguments.size());
      for (const NodeIndex argument : arguments) values.push_back(ConstantOf(argument));
      call.known_cost = CostOfCall(call.cost, values);
      call.known = CallOverloads(call, values);
    }
    if ((name == "matches" || name == "find" || name == "findAll") && IsConstant(arguments[1]) &&
        ConstantOf(arguments[1]).kind() == Kind::kString) {
      auto regex = Regex::Compile(ConstantOf(arguments[1]).text());
      if (!regex) return Fail(regex.error().message);
      call.regex = std::move(*regex);
      call.stops_at_error = true;
    }
    return Add(Op::kCall, arguments, Push(plan_.calls, std::move(call)));
  }

  // x in a constant list of scalars looks x up in a set. Nothing if the list holds other things.
  std::optional<NodeIndex> SetMembership(const std::vector<NodeIndex>& arguments) {
    const List& list = ConstantOf(arguments[1]).list();
    if (list.empty()) return Constant(Value::Bool(false));
    ConstantSet set;
    for (const Value& item : list) {
      if (!IsKeyKind(item.kind())) return std::nullopt;
      if (item.kind() == Kind::kString) {
        set.texts.insert(item.text());
        continue;
      }
      for (const Value& form : SetForms(item)) set.others.insert(SetKey(form));
    }
    // NaN equals nothing, so its key must not be found.
    set.others.erase(std::string());
    return Add(Op::kInSet, {arguments[0]}, Push(plan_.sets, std::move(set)));
  }

  std::vector<NodeIndex> VisitAll(const std::vector<ExprPtr>& exprs) {
    std::vector<NodeIndex> nodes;
    nodes.reserve(exprs.size());
    for (const ExprPtr& expr : exprs) nodes.push_back(Visit(*expr));
    return nodes;
  }

  std::uint32_t Literal(const Expr& expr) {
    LiteralPlan literal;
    literal.optional = expr.optional;
    literal.has_optional = std::find(expr.optional.begin(), expr.optional.end(), true) != expr.optional.end();
    literal.message = expr.name;
    literal.fields = expr.fields;
    return Push(plan_.literals, std::move(literal));
  }

  NodeIndex VisitList(const Expr& expr) {
    const std::vector<NodeIndex> items = VisitAll(expr.arguments);
    if (error_) return 0;
    const std::uint32_t literal = Literal(expr);
    if (plan_.literals[literal].has_optional || !AllConstant(items)) return Add(Op::kList, items, literal);
    List list;
    for (const NodeIndex item : items) list.push_back(ConstantOf(item));
    return Constant(Value::OfList(std::move(list)));
  }

  NodeIndex VisitMap(const Expr& expr) {
    const std::vector<NodeIndex> entries = VisitAll(expr.arguments);
    if (error_) return 0;
    const std::uint32_t literal = Literal(expr);
    if (plan_.literals[literal].has_optional || !AllConstant(entries)) return Add(Op::kMap, entries, literal);
    Map map;
    for (std::size_t i = 0; i < entries.size(); i += 2) {
      map.entries.insert_or_assign(ConstantOf(entries[i]), ConstantOf(entries[i + 1]));
    }
    return Constant(Value::OfMap(std::move(map)));
  }

  NodeIndex VisitMessage(const Expr& expr) {
    const std::vector<NodeIndex> values = VisitAll(expr.arguments);
    if (error_) return 0;
    return Add(Op::kMessage, values, Literal(expr));
  }

  // No two variables share a slot: what a variable is bound to is evaluated where it is first used, in the
  // middle of other loops.
  Slot NewSlot(std::string name) {
    scopes_.emplace_back(std::move(name), plan_.slot_count);
    return plan_.slot_count++;
  }

  NodeIndex VisitLoop(const Expr& expr) {
    const Loop& loop = *expr.loop;
    LoopPlan plan;
    plan.start = Visit(*loop.start);
    plan.range = Visit(*loop.range);
    const std::size_t outer = scopes_.size();
    plan.accumulator = NewSlot(loop.accumulator);
    plan.variable = NewSlot(loop.variable);
    plan.two_variables = !loop.second_variable.empty();
    if (plan.two_variables) plan.second_variable = NewSlot(loop.second_variable);
    plan.condition = Visit(*loop.condition);
    plan.step = Visit(*loop.step);
    scopes_.resize(outer + 1);
    plan.result = Visit(*loop.result);
    scopes_.resize(outer);
    if (error_) return 0;
    return Add(Op::kLoop, {}, Push(plan_.loops, plan));
  }

  Plan plan_;
  std::vector<std::pair<std::string, Slot>> scopes_;
  std::optional<std::string> error_;
};

template <class T>
std::string TaggedKey(char tag, T bits) {
  std::string key(1 + sizeof(bits), tag);
  std::memcpy(key.data() + 1, &bits, sizeof(bits));
  return key;
}

}  // namespace

base::Result<Plan> MakePlan(const Expr& expr) { return Planner().Run(expr); }

std::string SetKey(const Value& value) {
  switch (value.kind()) {
    case Kind::kBool:
      return value.boolean() ? "t" : "f";
    case Kind::kInt:
      return TaggedKey('i', value.integer());
    case Kind::kUint:
      return TaggedKey('u', value.unsigned_integer());
    case Kind::kDouble:
      // Both zeros are one key.
      return std::isnan(value.number()) ? "" : TaggedKey('d', value.number() == 0 ? 0.0 : value.number());
    default:
      return "";
  }
}

Value CallOverloads(const CallSite& call, std::span<Value> arguments) {
  for (const Overload* overload : call.overloads) {
    if (overload->implementation == nullptr) continue;
    bool fits = true;
    for (std::size_t i = 0; i < arguments.size() && fits; ++i) {
      fits = FitsAtRunTime(*overload->arguments[i], arguments[i]);
    }
    if (fits) return overload->implementation(arguments);
  }
  return NoSuchOverloadOf(call.function->name, arguments);
}

}  // namespace berth::cel
