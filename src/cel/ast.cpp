#include "cel/ast.h"

namespace berth::cel {
namespace {

ExprPtr CopyIfAny(const ExprPtr& expr) { return expr == nullptr ? nullptr : Copy(*expr); }

}  // namespace

ExprPtr Copy(const Expr& expr) {
  auto copy = std::make_unique<Expr>();
  copy->kind = expr.kind;
  copy->offset = expr.offset;
  copy->literal = expr.literal;
  copy->name = expr.name;
  copy->operand = CopyIfAny(expr.operand);
  for (const ExprPtr& argument : expr.arguments) copy->arguments.push_back(Copy(*argument));
  copy->optional = expr.optional;
  copy->fields = expr.fields;
  copy->field_offsets = expr.field_offsets;
  copy->presence_test = expr.presence_test;
  copy->grows_accumulator = expr.grows_accumulator;
  if (expr.loop != nullptr) {
    const Loop& loop = *expr.loop;
    copy->loop = std::make_unique<Loop>(Loop{
        .range = CopyIfAny(loop.range),
        .variable = loop.variable,
        .second_variable = loop.second_variable,
        .accumulator = loop.accumulator,
        .start = CopyIfAny(loop.start),
        .condition = CopyIfAny(loop.condition),
        .step = CopyIfAny(loop.step),
        .result = CopyIfAny(loop.result),
    });
  }
  return copy;
}

}  // namespace berth::cel
