#include "cel/compiler.h"

#include <vector>

#include "fmt/format.h"

#include "cel/checker.h"
#include "cel/parser.h"
#include "cel/source.h"

namespace berth::cel {
namespace {

bool IsAttributeScalar(const Type& type) {
  switch (type.kind) {
    case TypeKind::kDyn:
    case TypeKind::kBool:
    case TypeKind::kInt:
    case TypeKind::kString:
      return true;
    default:
      return type.kind == TypeKind::kStruct && type.name == "kubernetes.Semver";
  }
}

bool IsAttribute(const Type& type) {
  return IsAttributeScalar(type) || (type.kind == TypeKind::kList && IsAttributeScalar(*type.parameters[0]));
}

base::Result<bool> CheckResultType(const Type& type, ExpressionKind kind) {
  if (kind == ExpressionKind::kSelector) {
    if (type.kind == TypeKind::kBool || type.kind == TypeKind::kDyn) return true;
    return base::Fail(fmt::format("must evaluate to bool or the unknown type, not {}", ResultTypeText(type)));
  }
  if (IsAttribute(type)) return true;
  return base::Fail(fmt::format(
      "must evaluate to a primitive scalar (string, integer, boolean, semver) or a list of these scalars, "
      "not {}",
      ResultTypeText(type)));
}

}  // namespace

base::Result<std::shared_ptr<const Program>> CompileExpression(std::string_view expression,
                                                               ExpressionKind kind) {
  const Source source(expression);
  std::vector<Issue> issues;
  ExprPtr expr = Parse(source, issues);
  if (issues.empty()) Check(*expr, issues);
  if (issues.empty()) ValidateLiterals(*expr, issues);
  if (!issues.empty()) return base::Fail("compilation failed: " + source.Describe(std::move(issues)));
  const auto type = CheckResultType(*expr->type, kind);
  if (!type) return std::unexpected(type.error());
  auto plan = MakePlan(*expr);
  if (!plan) return base::Fail("program instantiation failed: " + plan.error().message);
  return std::make_shared<const Program>(std::string(expression), kind, ResultTypeText(*expr->type),
                                         std::move(*plan));
}

base::Result<std::shared_ptr<const Program>> Compiler::Compile(const std::string& expression,
                                                               ExpressionKind kind) {
  Key key(kind, expression);
  const auto found = entries_.find(key);
  if (found != entries_.end()) {
    recent_.splice(recent_.begin(), recent_, found->second);
    return found->second->second;
  }
  auto program = CompileExpression(expression, kind);
  if (!program || capacity_ == 0) return program;
  if (entries_.size() == capacity_) {
    entries_.erase(recent_.back().first);
    recent_.pop_back();
  }
  recent_.emplace_front(key, *program);
  entries_.emplace(std::move(key), recent_.begin());
  return program;
}

}  // namespace berth::cel
