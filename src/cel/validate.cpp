#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "fmt/format.h"

#include "cel/checker.h"
#include "cel/inference.h"
#include "cel/regex.h"
#include "cel/registry.h"
#include "cel/string_format.h"

namespace berth::cel {
namespace {

class Validator {
 public:
  explicit Validator(std::vector<Issue>& issues) : issues_(issues) {}

  // in_format: inside the arguments of a format call, where element types may differ.
  void Visit(const Expr& expr, bool in_format) {
    switch (expr.kind) {
      case Expr::Kind::kCall:
        VisitCall(expr);
        in_format = in_format || expr.name == "format";
        break;
      case Expr::Kind::kList:
        if (!in_format) VisitList(expr);
        break;
      case Expr::Kind::kMap:
        if (!in_format) VisitMap(expr);
        break;
      default:
        break;
    }
    if (expr.operand != nullptr) Visit(*expr.operand, in_format);
    for (const ExprPtr& argument : expr.arguments) Visit(*argument, in_format);
    if (expr.loop == nullptr) return;
    for (const ExprPtr* part : {&expr.loop->range, &expr.loop->start, &expr.loop->condition, &expr.loop->step,
                                &expr.loop->result}) {
      Visit(**part, in_format);
    }
  }

 private:
  void Report(const Expr& at, std::string message) { issues_.push_back({at.offset, std::move(message)}); }

  void VisitCall(const Expr& expr) {
    if (expr.arguments.empty()) return;
    const Expr& argument = *expr.arguments[0];
    if (expr.name == "format" && expr.operand != nullptr) {
      const bool literal =
          expr.operand->kind == Expr::Kind::kLiteral && expr.operand->literal.kind() == Kind::kString;
      if (literal && argument.kind == Expr::Kind::kList) ValidateFormat(expr, argument);
      return;
    }
    if (argument.kind != Expr::Kind::kLiteral) return;
    const bool conversion = expr.name == "duration" || expr.name == "timestamp";
    if ((conversion && !Converts(*expr.function, argument.literal)) ||
        (expr.name == "matches" && !IsPattern(argument.literal))) {
      Report(argument, fmt::format("invalid {} argument", expr.name));
    }
  }

  static bool Converts(const Function& function, Value literal) {
    for (const Overload& overload : function.overloads) {
      if (!FitsAtRunTime(*overload.arguments[0], literal)) continue;
      return !overload.implementation(std::span(&literal, 1)).is_error();
    }
    return false;
  }

  static bool IsPattern(const Value& literal) {
    return literal.kind() == Kind::kString && Regex::Compile(literal.text()).has_value();
  }

  // The type of an entry; of one marked with '?' that of the content.
  static const Type& EntryType(const Expr& entry, bool optional) {
    return optional && IsOptional(*entry.type) ? *entry.type->parameters[0] : *entry.type;
  }

  // False, and an issue, if the types differ.
  bool Agree(const Type& first, const Type& type, const Expr& at) {
    if (SameType(first, type)) return true;
    Report(at, fmt::format("expected type '{}' but found '{}'", TypeText(first), TypeText(type)));
    return false;
  }

  void VisitList(const Expr& expr) {
    for (std::size_t i = 1; i < expr.arguments.size(); ++i) {
      const Type& first = EntryType(*expr.arguments[0], expr.optional[0]);
      if (!Agree(first, EntryType(*expr.arguments[i], expr.optional[i]), *expr.arguments[i])) return;
    }
  }

  void VisitMap(const Expr& expr) {
    for (std::size_t i = 2; i < expr.arguments.size(); i += 2) {
      Agree(*expr.arguments[0]->type, *expr.arguments[i]->type, *expr.arguments[i]);
      Agree(EntryType(*expr.arguments[1], expr.optional[0]),
            EntryType(*expr.arguments[i + 1], expr.optional[i / 2]), *expr.arguments[i + 1]);
    }
  }

  void ValidateFormat(const Expr& call, const Expr& list) {
    const std::string& format = call.operand->literal.text();
    const Expr* at = &call;
    std::size_t used = 0;
    const auto problem =
        WalkFormat(format, list.arguments.size(), FormatPhase::kCheck, [&](const FormatClause& clause) {
          used = clause.argument + 1;
          return CheckClause(clause, *list.arguments[clause.argument], at);
        });
    if (!problem) {
      Report(*at, problem.error().message);
    } else if (list.arguments.size() > used) {
      Report(call, fmt::format("too many arguments supplied to string.format (expected {}, got {})", used,
                               list.arguments.size()));
    }
  }

  // What a clause takes, by static type. Dyn fits everywhere.
  static bool Fits(char verb, const Type& type) {
    using enum TypeKind;
    const auto is = [&type](std::initializer_list<TypeKind> kinds) {
      return std::find(kinds.begin(), kinds.end(), type.kind) != kinds.end();
    };
    if (IsDyn(type)) return true;
    switch (verb) {
      case 's':
        return is(
            {kList, kMap, kInt, kUint, kDouble, kBool, kString, kTimestamp, kBytes, kDuration, kType, kNull});
      case 'f':
      case 'e':
        return is({kDouble, kString});
      case 'b':
        return is({kInt, kUint, kBool});
      case 'x':
      case 'X':
        return is({kInt, kUint, kString, kBytes});
      default:
        return is({kInt, kUint});
    }
  }

  base::Result<std::string> CheckClause(const FormatClause& clause, const Expr& argument, const Expr*& at) {
    const Expr* bad = FindBad(clause.verb, argument);
    if (bad == nullptr) return std::string();
    at = bad;
    return base::Fail(FormatTypeProblem(clause.verb, bad->type->name));
  }

  // The expression that does not fit: the argument or, for %s, something inside it.
  static const Expr* FindBad(char verb, const Expr& argument) {
    if (!Fits(verb, *argument.type)) return &argument;
    const bool aggregate = argument.kind == Expr::Kind::kList || argument.kind == Expr::Kind::kMap;
    if (verb != 's' || !aggregate) return nullptr;
    for (const ExprPtr& inner : argument.arguments) {
      if (const Expr* bad = FindBad(verb, *inner)) return bad;
    }
    return nullptr;
  }

  std::vector<Issue>& issues_;
};

}  // namespace

void ValidateLiterals(const Expr& expr, std::vector<Issue>& issues) { Validator(issues).Visit(expr, false); }

}  // namespace berth::cel
