#include "cel/inference.h"

#include <utility>
#include <vector>

namespace berth::cel {
namespace {

bool IsParameter(const Type& type) { return type.kind == TypeKind::kParameter; }

// What null may stand for.
bool IsNullable(const Type& type) {
  switch (type.kind) {
    case TypeKind::kNull:
    case TypeKind::kStruct:
    case TypeKind::kOpaque:
    case TypeKind::kDuration:
    case TypeKind::kTimestamp:
      return true;
    default:
      return false;
  }
}

bool IsEqualOrMoreGeneral(const Type& left, const Type& right) {
  if (IsDyn(left) || IsParameter(left)) return true;
  if (IsDyn(right) || IsParameter(right) || left.kind != right.kind) return false;
  switch (left.kind) {
    case TypeKind::kOpaque:
    case TypeKind::kList:
    case TypeKind::kMap:
      if (left.name != right.name || left.parameters.size() != right.parameters.size()) return false;
      for (std::size_t i = 0; i < left.parameters.size(); ++i) {
        if (!IsEqualOrMoreGeneral(*left.parameters[i], *right.parameters[i])) return false;
      }
      return true;
    case TypeKind::kType:
      return true;
    default:
      return SameType(left, right);
  }
}

bool Contains(const std::map<std::string, TypeRef>& bindings, const Type& type, const Type& parameter) {
  if (SameType(type, parameter)) return true;
  if (IsParameter(type)) {
    const auto bound = bindings.find(type.name);
    return bound != bindings.end() && Contains(bindings, *bound->second, parameter);
  }
  for (const TypeRef& inner : type.parameters) {
    if (Contains(bindings, *inner, parameter)) return true;
  }
  return false;
}

}  // namespace

bool IsDyn(const Type& type) { return type.kind == TypeKind::kDyn; }
bool IsDynOrError(const Type& type) { return IsDyn(type) || type.kind == TypeKind::kError; }

TypeRef Inference::NewVariable() { return ParameterType("_var" + std::to_string(variables_++)); }

const TypeRef& Inference::MoreGeneral(const TypeRef& left, const TypeRef& right) {
  return IsEqualOrMoreGeneral(*left, *right) ? left : right;
}

bool Inference::Assignable(const TypeRef& left, const TypeRef& right) {
  return AllAssignable(std::span(&left, 1), std::span(&right, 1));
}

bool Inference::AllAssignable(std::span<const TypeRef> left, std::span<const TypeRef> right) {
  Bindings trial = bindings_;
  if (!AllFit(trial, left, right)) return false;
  bindings_ = std::move(trial);
  return true;
}

bool Inference::AllFit(Bindings& bindings, std::span<const TypeRef> left, std::span<const TypeRef> right) {
  if (left.size() != right.size()) return false;
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (!Fits(bindings, left[i], right[i])) return false;
  }
  return true;
}

bool Inference::Fits(Bindings& bindings, const TypeRef& left, const TypeRef& right) {
  bool bound = false;
  if (IsParameter(*right)) {
    if (Bind(bindings, left, right, bound)) return true;
    if (bound) return false;
  }
  if (IsParameter(*left)) return Bind(bindings, right, left, bound);
  if (IsDynOrError(*left) || IsDynOrError(*right)) return true;
  if (left->kind == TypeKind::kNull) return IsNullable(*right);
  if (right->kind == TypeKind::kNull) return IsNullable(*left);
  if (left->kind != right->kind) return false;
  switch (left->kind) {
    case TypeKind::kType:
      return true;
    case TypeKind::kOpaque:
    case TypeKind::kList:
    case TypeKind::kMap:
      return left->name == right->name && AllFit(bindings, left->parameters, right->parameters);
    default:
      return SameType(*left, *right);
  }
}

bool Inference::Bind(Bindings& bindings, const TypeRef& type, const TypeRef& parameter, bool& bound) {
  bound = true;
  if (SameType(*type, *parameter)) return true;
  const auto it = bindings.find(parameter->name);
  if (it != bindings.end()) {
    const TypeRef before = it->second;
    if (SameType(*type, *before)) return true;
    if (!Fits(bindings, type, before)) return false;
    const TypeRef& general = MoreGeneral(type, before);
    if (!Contains(bindings, *general, *parameter)) bindings[parameter->name] = general;
    return true;
  }
  bound = false;
  if (Contains(bindings, *type, *parameter)) return false;
  bindings[parameter->name] = type;
  return true;
}

TypeRef Inference::Substitute(const TypeRef& type, bool open_to_dyn) const {
  if (IsParameter(*type)) {
    const auto bound = bindings_.find(type->name);
    if (bound != bindings_.end()) return Substitute(bound->second, open_to_dyn);
    return open_to_dyn ? BasicType(TypeKind::kDyn) : type;
  }
  if (type->parameters.empty()) return type;
  std::vector<TypeRef> parameters;
  for (const TypeRef& inner : type->parameters) parameters.push_back(Substitute(inner, open_to_dyn));
  return std::make_shared<Type>(Type{type->kind, type->name, std::move(parameters)});
}

}  // namespace berth::cel
