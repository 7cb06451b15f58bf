#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "cel/type.h"

namespace berth::cel {

// What is known about type parameters while an expression is checked.
//
// Invariant: no parameter is bound to a type that contains it, so that substitution ends.
class Inference {
 public:
  // A parameter that nothing is known about yet: the element type of [].
  TypeRef NewVariable();

  // Whether the types go together; if so, what that says about parameters is kept, else nothing is.
  bool Assignable(const TypeRef& left, const TypeRef& right);
  bool AllAssignable(std::span<const TypeRef> left, std::span<const TypeRef> right);

  // The type with all that is known put in. open_to_dyn: parameters still open become dyn.
  TypeRef Substitute(const TypeRef& type, bool open_to_dyn) const;

  static const TypeRef& MoreGeneral(const TypeRef& left, const TypeRef& right);

 private:
  using Bindings = std::map<std::string, TypeRef>;

  static bool Fits(Bindings& bindings, const TypeRef& left, const TypeRef& right);
  static bool AllFit(Bindings& bindings, std::span<const TypeRef> left, std::span<const TypeRef> right);
  // Whether type can stand for the parameter, binding it if so. bound: it had a type already.
  static bool Bind(Bindings& bindings, const TypeRef& type, const TypeRef& parameter, bool& bound);

  Bindings bindings_;
  std::size_t variables_ = 0;
};

bool IsDyn(const Type& type);
bool IsDynOrError(const Type& type);

}  // namespace berth::cel
