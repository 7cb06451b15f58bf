#include "cel/checker.h"

#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "fmt/format.h"

#include "cel/environment.h"
#include "cel/inference.h"
#include "cel/registry.h"

namespace berth::cel {
namespace {

const TypeRef& Dyn() { return BasicType(TypeKind::kDyn); }
const TypeRef& Failed() { return BasicType(TypeKind::kError); }

// "(int, string)", and "list(int).(string)" for a method.
std::string Signature(const std::vector<TypeRef>& types, bool method) {
  std::string text = method ? TypeText(*types[0]) + ".(" : "(";
  for (std::size_t i = method ? 1 : 0; i < types.size(); ++i) {
    if (i > (method ? 1u : 0u)) text += ", ";
    text += TypeText(*types[i]);
  }
  return text + ")";
}

// "a.b.c" if the expression is a chain of names.
std::optional<std::string> QualifiedName(const Expr& expr) {
  if (expr.kind == Expr::Kind::kName) return expr.name;
  if (expr.kind != Expr::Kind::kSelect || expr.presence_test) return std::nullopt;
  auto operand = QualifiedName(*expr.operand);
  if (operand) *operand += "." + expr.name;
  return operand;
}

const std::string& FirstName(const Expr& expr) {
  return expr.kind == Expr::Kind::kName ? expr.name : FirstName(*expr.operand);
}

class Checker {
 public:
  explicit Checker(std::vector<Issue>& issues) : issues_(issues) {}

  void Visit(Expr& expr) {
    switch (expr.kind) {
      case Expr::Kind::kLiteral:
        expr.type = LiteralType(expr.literal);
        break;
      case Expr::Kind::kName:
        VisitName(expr);
        break;
      case Expr::Kind::kSelect:
        VisitSelect(expr);
        break;
      case Expr::Kind::kCall:
        VisitCall(expr);
        break;
      case Expr::Kind::kList:
        VisitList(expr);
        break;
      case Expr::Kind::kMap:
        VisitMap(expr);
        break;
      case Expr::Kind::kMessage:
        VisitMessage(expr);
        break;
      case Expr::Kind::kLoop:
        VisitLoop(expr);
        break;
    }
  }

  // Types with everything put in that was found out later.
  void Finish(Expr& expr) {
    if (expr.type != nullptr) expr.type = types_.Substitute(expr.type, true);
    if (expr.operand != nullptr) Finish(*expr.operand);
    for (const ExprPtr& argument : expr.arguments) Finish(*argument);
    if (expr.loop == nullptr) return;
    for (const ExprPtr* part : {&expr.loop->range, &expr.loop->start, &expr.loop->condition, &expr.loop->step,
                                &expr.loop->result}) {
      Finish(**part);
    }
  }

 private:
  void Report(Offset offset, std::string message) { issues_.push_back({offset, std::move(message)}); }
  void ReportMismatch(const Expr& at, const Type& expected, const Type& found) {
    Report(at.offset, fmt::format("expected type '{}' but found '{}'", TypeText(expected), TypeText(found)));
  }
  void ReportUndeclared(Offset offset, std::string_view name) {
    Report(offset, fmt::format("undeclared reference to '{}' (in container '')", name));
  }

  static TypeRef LiteralType(const Value& value) { return ParseType(TypeName(value)); }

  // The variable of the innermost loop that has the name; null if there is none.
  const TypeRef* FindLocal(std::string_view name) const {
    for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
      const auto it = scope->find(name);
      if (it != scope->end()) return &it->second;
    }
    return nullptr;
  }

  // Gives the node what a global name stands for; false if nothing has the name.
  static bool ResolveGlobal(Expr& expr, std::string_view name) {
    if (name.starts_with('.')) name.remove_prefix(1);
    if (name == kDeviceVariable) {
      expr.type = StructType(std::string(kDeviceName));
      return true;
    }
    const NamedType* named = FindNamedType(name);
    if (named == nullptr) return false;
    expr.type = TypeOfType(named->type);
    expr.type_name = named->name;
    expr.undefined_type = !named->exists_at_run_time;
    return true;
  }

  void VisitName(Expr& expr) {
    const TypeRef* local = expr.name.starts_with('.') ? nullptr : FindLocal(expr.name);
    if (local != nullptr) {
      expr.type = *local;
    } else if (!ResolveGlobal(expr, expr.name)) {
      expr.type = Failed();
      ReportUndeclared(expr.offset, expr.name);
    }
  }

  void VisitSelect(Expr& expr) {
    const auto name = QualifiedName(expr);
    if (name && FindLocal(FirstName(expr)) == nullptr && ResolveGlobal(expr, *name)) return;
    const TypeRef field = SelectedType(expr, *expr.operand, expr.name, false);
    expr.type = expr.presence_test ? BasicType(TypeKind::kBool) : types_.Substitute(field, false);
  }

  // The type of operand.field. The selection is at expr.
  TypeRef SelectedType(const Expr& expr, Expr& operand, const std::string& field, bool optional) {
    Visit(operand);
    TypeRef target = types_.Substitute(operand.type, false);
    const bool was_optional = IsOptional(*target);
    if (was_optional) target = target->parameters[0];
    TypeRef result = Failed();
    switch (target->kind) {
      case TypeKind::kMap:
        result = target->parameters[1];
        break;
      case TypeKind::kStruct:
        result = FieldType(expr.offset, target->name, field);
        break;
      case TypeKind::kParameter:
        types_.Assignable(Dyn(), target);
        result = Dyn();
        break;
      default:
        if (!IsDynOrError(*target)) {
          Report(expr.offset, fmt::format("type '{}' does not support field selection", TypeText(*target)));
        }
        result = Dyn();
    }
    return was_optional || optional ? OptionalType(result) : result;
  }

  TypeRef FieldType(Offset offset, const std::string& message, const std::string& field) {
    if (!HasFields(message)) {
      Report(offset, fmt::format("unexpected failed resolution of '{}'", message));
      return Failed();
    }
    if (const TypeRef type = FindFieldType(message, field)) return type;
    Report(offset, fmt::format("undefined field '{}'", field));
    return Failed();
  }

  void VisitCall(Expr& expr) {
    if (expr.name == "_?._") {
      const TypeRef field = SelectedType(expr, *expr.arguments[0], expr.arguments[1]->literal.text(), true);
      expr.arguments[1]->type = BasicType(TypeKind::kString);
      expr.type = types_.Substitute(field, false);
      expr.function = Registry::Get().Find(expr.name);
      return;
    }
    for (const ExprPtr& argument : expr.arguments) Visit(*argument);
    if (expr.operand != nullptr) {
      // sets.contains(a, b) is a call of a function with a dot in its name, not a method of a variable.
      const auto prefix = QualifiedName(*expr.operand);
      const Function* function = prefix ? Registry::Get().Find(*prefix + "." + expr.name) : nullptr;
      if (function != nullptr) {
        expr.operand = nullptr;
        expr.name = function->name;
      } else {
        Visit(*expr.operand);
      }
    }
    expr.function = Registry::Get().Find(expr.name);
    if (expr.function == nullptr) {
      expr.type = Failed();
      ReportUndeclared(expr.offset, expr.name);
      return;
    }
    const TypeRef result =
        expr.name == "_&&_" || expr.name == "_||_" ? LogicalType(expr) : ResolveOverloads(expr);
    expr.type = result == nullptr ? Failed() : result;
  }

  TypeRef LogicalType(Expr& expr) {
    const TypeRef& boolean = BasicType(TypeKind::kBool);
    bool good = true;
    for (const ExprPtr& argument : expr.arguments) {
      if (types_.Assignable(argument->type, boolean)) continue;
      ReportMismatch(*argument, *boolean, *argument->type);
      good = false;
    }
    return good ? boolean : nullptr;
  }

  // Keeps all overloads that fit; null if none does. Several results make a dyn.
  TypeRef ResolveOverloads(Expr& expr) {
    const bool method = expr.operand != nullptr;
    std::vector<TypeRef> given;
    if (method) given.push_back(expr.operand->type);
    for (const ExprPtr& argument : expr.arguments) given.push_back(argument->type);
    TypeRef result;
    for (const Overload& overload : expr.function->overloads) {
      if (overload.method != method) continue;
      std::map<std::string, TypeRef> fresh;
      std::vector<TypeRef> wanted;
      wanted.reserve(overload.arguments.size());
      for (const TypeRef& argument : overload.arguments) wanted.push_back(Instantiate(argument, fresh));
      const TypeRef overload_result = Instantiate(overload.result, fresh);
      if (!types_.AllAssignable(given, wanted)) continue;
      expr.overloads.push_back(&overload);
      const TypeRef this_result = types_.Substitute(overload_result, false);
      if (result == nullptr) {
        result = this_result;
      } else if (!IsDyn(*result) && !SameType(*result, *this_result)) {
        result = Dyn();
      }
    }
    if (result == nullptr) {
      for (TypeRef& type : given) type = types_.Substitute(type, true);
      Report(expr.offset, fmt::format("found no matching overload for '{}' applied to '{}'",
                                      expr.function->name, Signature(given, method)));
    }
    return result;
  }

  // The type with parameters of its own, as each use of an overload has.
  TypeRef Instantiate(const TypeRef& type, std::map<std::string, TypeRef>& fresh) {
    if (type->kind == TypeKind::kParameter) {
      TypeRef& variable = fresh[type->name];
      if (variable == nullptr) variable = types_.NewVariable();
      return variable;
    }
    if (type->parameters.empty()) return type;
    std::vector<TypeRef> parameters;
    for (const TypeRef& inner : type->parameters) parameters.push_back(Instantiate(inner, fresh));
    return std::make_shared<Type>(Type{type->kind, type->name, std::move(parameters)});
  }

  // The type of an entry, taken out of its optional if the entry is marked with '?'.
  TypeRef EntryType(const Expr& value, bool optional) {
    if (!optional) return value.type;
    if (IsOptional(*value.type)) return value.type->parameters[0];
    if (!IsDyn(*value.type)) ReportMismatch(value, *OptionalType(value.type), *value.type);
    return value.type;
  }

  // Aggregates of several types are refused later; here they are lists and maps of dyn.
  void Join(TypeRef& joined, const TypeRef& next) {
    if (joined == nullptr) {
      joined = next;
    } else if (types_.Assignable(joined, next)) {
      joined = Inference::MoreGeneral(joined, next);
    } else {
      joined = Dyn();
    }
  }

  void VisitList(Expr& expr) {
    TypeRef element;
    for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
      Visit(*expr.arguments[i]);
      Join(element, EntryType(*expr.arguments[i], expr.optional[i]));
    }
    expr.type = ListType(element == nullptr ? types_.NewVariable() : element);
  }

  void VisitMap(Expr& expr) {
    TypeRef key;
    TypeRef value;
    for (std::size_t i = 0; i < expr.arguments.size(); i += 2) {
      Visit(*expr.arguments[i]);
      Join(key, expr.arguments[i]->type);
      Visit(*expr.arguments[i + 1]);
      Join(value, EntryType(*expr.arguments[i + 1], expr.optional[i / 2]));
    }
    if (key == nullptr) {
      key = types_.NewVariable();
      value = types_.NewVariable();
    }
    expr.type = MapType(key, value);
  }

  void VisitMessage(Expr& expr) {
    if (expr.name.starts_with('.')) expr.name.erase(0, 1);
    const NamedType* named = FindNamedType(expr.name);
    if (named == nullptr) {
      expr.type = Failed();
      ReportUndeclared(expr.offset, expr.name);
      return;
    }
    expr.type = named->message ? named->type : Failed();
    if (!named->message) {
      Report(expr.offset, fmt::format("'{}' is not a message type", ResultTypeText(*named->type)));
    }
    for (std::size_t i = 0; i < expr.arguments.size(); ++i) {
      Expr& value = *expr.arguments[i];
      Visit(value);
      if (!named->message) continue;
      const TypeRef field = FieldType(expr.field_offsets[i], expr.name, expr.fields[i]);
      const TypeRef given = EntryType(value, expr.optional[i]);
      if (!types_.Assignable(field, given)) {
        Report(expr.field_offsets[i],
               fmt::format("expected type of field '{}' is '{}' but provided type is '{}'", expr.fields[i],
                           TypeText(*field), TypeText(*given)));
      }
    }
  }

  void VisitLoop(Expr& expr) {
    Loop& loop = *expr.loop;
    Visit(*loop.range);
    Visit(*loop.start);
    const TypeRef range = types_.Substitute(loop.range->type, false);
    scopes_.push_back({{loop.accumulator, loop.start->type}});
    scopes_.push_back(LoopVariables(loop, range));
    Visit(*loop.condition);
    Expect(*loop.condition, BasicType(TypeKind::kBool));
    Visit(*loop.step);
    Expect(*loop.step, loop.start->type);
    scopes_.pop_back();
    Visit(*loop.result);
    scopes_.pop_back();
    expr.type = types_.Substitute(loop.result->type, false);
  }

  using Scope = std::map<std::string, TypeRef, std::less<>>;

  Scope LoopVariables(const Loop& loop, const TypeRef& range) {
    const bool two = !loop.second_variable.empty();
    TypeRef first;
    TypeRef second;
    switch (range->kind) {
      case TypeKind::kList:
        first = two ? BasicType(TypeKind::kInt) : range->parameters[0];
        second = range->parameters[0];
        break;
      case TypeKind::kMap:
        first = range->parameters[0];
        second = range->parameters[1];
        break;
      case TypeKind::kDyn:
      case TypeKind::kError:
      case TypeKind::kParameter:
        types_.Assignable(Dyn(), range);
        first = Dyn();
        second = Dyn();
        break;
      default:
        Report(
            loop.range->offset,
            fmt::format(
                "expression of type '{}' cannot be range of a comprehension (must be list, map, or dynamic)",
                TypeText(*range)));
        first = Failed();
        second = Failed();
    }
    Scope scope{{loop.variable, first}};
    if (two) scope.emplace(loop.second_variable, second);
    return scope;
  }

  void Expect(const Expr& expr, const TypeRef& type) {
    if (!types_.Assignable(type, expr.type)) ReportMismatch(expr, *type, *expr.type);
  }

  std::vector<Issue>& issues_;
  Inference types_;
  std::vector<Scope> scopes_;
};

}  // namespace

void Check(Expr& expr, std::vector<Issue>& issues) {
  Checker checker(issues);
  checker.Visit(expr);
  checker.Finish(expr);
}

}  // namespace berth::cel
