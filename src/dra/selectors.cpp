#include "dra/selectors.h"

#include <utility>

namespace berth::dra {

ShapeId SelectorTable::InternShape(const std::string& text, std::string_view driver,
                                   const api::Device& device) {
  const ShapeId id = shapes_.Intern(text);
  if (shapes_.References(id) > 1) return id;
  if (id.index() >= by_shape_.size()) by_shape_.resize(id.index() + 1);
  by_shape_[id.index()].view.emplace(driver, device);
  return id;
}

void SelectorTable::ReleaseShape(ShapeId shape) {
  if (shapes_.Release(shape)) by_shape_[shape.index()] = {};
}

void SelectorTable::BeginAttempt() {
  if (expressions_.size() < expressions_max_) return;
  expressions_.clear();
  ids_.clear();
  for (Shape& shape : by_shape_) {
    shape.matches.clear();
    shape.errors.clear();
    shape.attributes.clear();
  }
}

SelectorId SelectorTable::Use(const std::string& expression, cel::ExpressionKind kind) {
  const auto [entry, is_new] = ids_.try_emplace(std::pair(kind, expression));
  if (!is_new) return entry->second;
  entry->second = SelectorId(static_cast<std::uint32_t>(expressions_.size()));
  Expression made;
  auto program = cel::CompileExpression(expression, kind);
  if (program) {
    made.program = *std::move(program);
  } else {
    made.error = std::move(program.error().message);
  }
  expressions_.push_back(std::move(made));
  return entry->second;
}

Match SelectorTable::Evaluate(SelectorId id, ShapeId shape_id) {
  Shape& shape = by_shape_[shape_id.index()];
  if (id.index() >= shape.matches.size()) shape.matches.resize(id.index() + 1, Match::kUnknown);
  Match& match = shape.matches[id.index()];
  if (match != Match::kUnknown) return match;
  ++evaluations_;
  auto evaluated = expressions_[id.index()].program->Evaluate(*shape.view);
  if (evaluated.value) {
    match = *evaluated.value ? Match::kYes : Match::kNo;
  } else {
    match = Match::kError;
    shape.errors.insert_or_assign(id, cel::WithMissingKeyHint(std::move(evaluated.value.error())));
  }
  return match;
}

const std::string& SelectorTable::error(SelectorId id, ShapeId shape) const {
  return by_shape_[shape.index()].errors.find(id)->second;
}

const SelectorTable::Attribute& SelectorTable::EvaluateAttribute(SelectorId id, ShapeId shape_id) {
  Shape& shape = by_shape_[shape_id.index()];
  std::unique_ptr<const Attribute>& attribute = shape.attributes[id];
  if (attribute == nullptr) {
    ++evaluations_;
    auto evaluated = expressions_[id.index()].program->EvaluateAttribute(*shape.view);
    attribute = std::make_unique<const Attribute>(std::move(evaluated.value));
  }
  return *attribute;
}

}  // namespace berth::dra
