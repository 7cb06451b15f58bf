#include "cel/macros.h"

#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

namespace berth::cel {
namespace {

// One expansion: the parts of the call are moved into the result.
struct MacroCall {
  Offset offset;
  ExprPtr& target;
  std::vector<ExprPtr>& arguments;
  std::vector<Issue>& issues;

  ExprPtr Literal(Value value) const { return LiteralNode(offset, std::move(value)); }
  ExprPtr Name(std::string_view name) const { return NameNode(offset, std::string(name)); }
  ExprPtr Accumulator() const { return Name(kAccumulator); }

  template <class... Arguments>
  ExprPtr Function(std::string function, Arguments... arguments_of_call) const {
    std::vector<ExprPtr> list;
    (list.push_back(std::move(arguments_of_call)), ...);
    return CallNode(offset, std::move(function), std::move(list));
  }
  ExprPtr Method(std::string function, ExprPtr receiver) const {
    ExprPtr call = CallNode(offset, std::move(function), {});
    call->operand = std::move(receiver);
    return call;
  }
  ExprPtr List(ExprPtr element = nullptr) const {
    auto list = std::make_unique<Expr>();
    list->kind = Expr::Kind::kList;
    list->offset = offset;
    if (element != nullptr) {
      list->arguments.push_back(std::move(element));
      list->optional.push_back(false);
    }
    return list;
  }
  ExprPtr EmptyMap() const {
    auto map = std::make_unique<Expr>();
    map->kind = Expr::Kind::kMap;
    map->offset = offset;
    return map;
  }
  ExprPtr OfLoop(Loop loop) const {
    auto expr = std::make_unique<Expr>();
    expr->kind = Expr::Kind::kLoop;
    expr->offset = offset;
    expr->loop = std::make_unique<Loop>(std::move(loop));
    return expr;
  }
  // A variable that is evaluated when it is first used.
  ExprPtr Bind(std::string variable, ExprPtr start, ExprPtr result) const {
    ExprPtr step = Name(variable);
    return OfLoop({.range = List(),
                   .variable = "#unused",
                   .second_variable = {},
                   .accumulator = std::move(variable),
                   .start = std::move(start),
                   .condition = Literal(Value::Bool(false)),
                   .step = std::move(step),
                   .result = std::move(result)});
  }
  // The expression that stands for a macro that was called the wrong way.
  ExprPtr Wrong(const Expr& at, std::string message) const {
    issues.push_back({at.offset, std::move(message)});
    return Literal(Value());
  }
};

bool IsIterationName(const Expr& expr) { return expr.kind == Expr::Kind::kName; }

constexpr std::string_view kOverwrites = "iteration variable overwrites accumulator variable";

// Checks the one or two names that a loop starts with and puts them into it. Null if they are fine.
ExprPtr TakeVariables(const MacroCall& call, bool two, std::string_view not_a_name, Loop& loop) {
  const Expr& first = *call.arguments[0];
  if (!IsIterationName(first)) return call.Wrong(first, std::string(not_a_name));
  if (two) {
    const Expr& second = *call.arguments[1];
    if (!IsIterationName(second)) return call.Wrong(second, std::string(not_a_name));
    if (first.name == second.name) return call.Wrong(second, "duplicate variable name: " + first.name);
    if (second.name == "__result__") return call.Wrong(second, std::string(kOverwrites));
    loop.second_variable = second.name;
  }
  if (first.name == "__result__") return call.Wrong(first, std::string(kOverwrites));
  loop.variable = first.name;
  loop.accumulator = kAccumulator;
  return nullptr;
}

ExprPtr Has(const MacroCall& call) {
  Expr& argument = *call.arguments[0];
  if (argument.kind != Expr::Kind::kSelect) return call.Wrong(argument, "invalid argument to has() macro");
  auto test = std::make_unique<Expr>();
  test->kind = Expr::Kind::kSelect;
  test->offset = call.offset;
  test->operand = std::move(argument.operand);
  test->name = argument.name;
  test->presence_test = true;
  return test;
}

ExprPtr Quantifier(const MacroCall& call, std::string_view name) {
  const bool two = call.arguments.size() == 3;
  Loop loop;
  if (ExprPtr wrong = TakeVariables(call, two, "argument must be a simple name", loop)) return wrong;
  ExprPtr predicate = std::move(call.arguments.back());
  loop.range = std::move(call.target);
  if (name == "all") {
    loop.start = call.Literal(Value::Bool(true));
    loop.condition = call.Function("@not_strictly_false", call.Accumulator());
    loop.step = call.Function("_&&_", call.Accumulator(), std::move(predicate));
    loop.result = call.Accumulator();
  } else if (name == "exists") {
    loop.start = call.Literal(Value::Bool(false));
    loop.condition = call.Function("@not_strictly_false", call.Function("!_", call.Accumulator()));
    loop.step = call.Function("_||_", call.Accumulator(), std::move(predicate));
    loop.result = call.Accumulator();
  } else {
    loop.start = call.Literal(Value::Int(0));
    loop.condition = call.Literal(Value::Bool(true));
    loop.step = call.Function("_?_:_", std::move(predicate),
                              call.Function("_+_", call.Accumulator(), call.Literal(Value::Int(1))),
                              call.Accumulator());
    loop.result = call.Function("_==_", call.Accumulator(), call.Literal(Value::Int(1)));
  }
  return call.OfLoop(std::move(loop));
}

// step: the accumulator with one more element; filter may be null.
ExprPtr Collect(const MacroCall& call, Loop loop, ExprPtr start, ExprPtr filter, ExprPtr step) {
  step->grows_accumulator = true;
  loop.start = std::move(start);
  loop.condition = call.Literal(Value::Bool(true));
  loop.step = filter == nullptr
                  ? std::move(step)
                  : call.Function("_?_:_", std::move(filter), std::move(step), call.Accumulator());
  loop.result = call.Accumulator();
  return call.OfLoop(std::move(loop));
}

ExprPtr MapOver(const MacroCall& call, ExprPtr range) {
  Loop loop;
  if (ExprPtr wrong = TakeVariables(call, false, "argument is not an identifier", loop)) return wrong;
  loop.range = std::move(range);
  ExprPtr filter = call.arguments.size() == 3 ? std::move(call.arguments[1]) : nullptr;
  ExprPtr step = call.Function("_+_", call.Accumulator(), call.List(std::move(call.arguments.back())));
  return Collect(call, std::move(loop), call.List(), std::move(filter), std::move(step));
}

ExprPtr Filter(const MacroCall& call) {
  Loop loop;
  if (ExprPtr wrong = TakeVariables(call, false, "argument is not an identifier", loop)) return wrong;
  loop.range = std::move(call.target);
  ExprPtr step = call.Function("_+_", call.Accumulator(), call.List(std::move(call.arguments[0])));
  return Collect(call, std::move(loop), call.List(), std::move(call.arguments[1]), std::move(step));
}

ExprPtr Transform(const MacroCall& call, std::string_view name) {
  Loop loop;
  if (ExprPtr wrong = TakeVariables(call, true, "argument must be a simple name", loop)) return wrong;
  loop.range = std::move(call.target);
  ExprPtr filter = call.arguments.size() == 4 ? std::move(call.arguments[2]) : nullptr;
  ExprPtr transform = std::move(call.arguments.back());
  if (name == "transformList") {
    ExprPtr step = call.Function("_+_", call.Accumulator(), call.List(std::move(transform)));
    return Collect(call, std::move(loop), call.List(), std::move(filter), std::move(step));
  }
  ExprPtr step = name == "transformMap"
                     ? call.Function("cel.@mapInsert", call.Accumulator(), call.Name(loop.variable),
                                     std::move(transform))
                     : call.Function("cel.@mapInsert", call.Accumulator(), std::move(transform));
  return Collect(call, std::move(loop), call.EmptyMap(), std::move(filter), std::move(step));
}

ExprPtr BindMacro(const MacroCall& call) {
  if (call.arguments[0]->kind != Expr::Kind::kName) {
    return call.Wrong(*call.arguments[0], "cel.bind() variable names must be simple identifiers");
  }
  return call.Bind(call.arguments[0]->name, std::move(call.arguments[1]), std::move(call.arguments[2]));
}

ExprPtr OptionalMap(const MacroCall& call, const std::string& name) {
  if (call.arguments[0]->kind != Expr::Kind::kName) {
    return call.Wrong(*call.arguments[0], name + "() variable name must be a simple identifier");
  }
  ExprPtr content = call.Method("value", Copy(*call.target));
  ExprPtr mapped = call.Bind(call.arguments[0]->name, std::move(content), std::move(call.arguments[1]));
  if (name == "optMap") mapped = call.Function("optional.of", std::move(mapped));
  return call.Function("_?_:_", call.Method("hasValue", std::move(call.target)), std::move(mapped),
                       call.Function("optional.none"));
}

ExprPtr SortBy(const MacroCall& call) {
  using Kind = Expr::Kind;
  const Kind kind = call.target->kind;
  if (kind == Kind::kLiteral || kind == Kind::kMap || kind == Kind::kMessage) {
    return call.Wrong(
        *call.target,
        "sortBy can only be applied to a list, identifier, comprehension, call or select expression");
  }
  constexpr std::string_view kInput = "@__sortBy_input__";
  ExprPtr keys = MapOver(call, call.Name(kInput));
  ExprPtr sorted = call.Method("@sortByAssociatedKeys", call.Name(kInput));
  sorted->arguments.push_back(std::move(keys));
  return call.Bind(std::string(kInput), std::move(call.target), std::move(sorted));
}

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  for (const std::string_view other : names) {
    if (name == other) return true;
  }
  return false;
}

}  // namespace

ExprPtr LiteralNode(Offset offset, Value value) {
  auto expr = std::make_unique<Expr>();
  expr->offset = offset;
  expr->literal = std::move(value);
  return expr;
}

ExprPtr NameNode(Offset offset, std::string name) {
  auto expr = std::make_unique<Expr>();
  expr->kind = Expr::Kind::kName;
  expr->offset = offset;
  expr->name = std::move(name);
  return expr;
}

ExprPtr CallNode(Offset offset, std::string function, std::vector<ExprPtr> arguments) {
  auto expr = std::make_unique<Expr>();
  expr->kind = Expr::Kind::kCall;
  expr->offset = offset;
  expr->name = std::move(function);
  expr->arguments = std::move(arguments);
  return expr;
}

ExprPtr ExpandMacro(const std::string& name, Offset offset, ExprPtr& target, std::vector<ExprPtr>& arguments,
                    std::vector<Issue>& issues) {
  const MacroCall call{offset, target, arguments, issues};
  const std::size_t count = arguments.size();
  if (target == nullptr) return name == "has" && count == 1 ? Has(call) : nullptr;
  if (IsOneOf(name, {"all", "exists", "exists_one", "existsOne"}) && (count == 2 || count == 3)) {
    return Quantifier(call, name);
  }
  if (name == "map" && (count == 2 || count == 3)) return MapOver(call, std::move(target));
  if (name == "filter" && count == 2) return Filter(call);
  if (IsOneOf(name, {"transformList", "transformMap", "transformMapEntry"}) && (count == 3 || count == 4)) {
    return Transform(call, name);
  }
  if (name == "bind" && count == 3 && target->kind == Expr::Kind::kName && target->name == "cel") {
    return BindMacro(call);
  }
  if (IsOneOf(name, {"optMap", "optFlatMap"}) && count == 2) return OptionalMap(call, name);
  if (name == "sortBy" && count == 2) return SortBy(call);
  return nullptr;
}

}  // namespace berth::cel
