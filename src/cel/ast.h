#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "cel/source.h"
#include "cel/type.h"
#include "cel/value.h"

namespace berth::cel {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;
struct Function;
struct Overload;

// A loop: for each element of range, while condition holds, the accumulator becomes step; then result. Macros
// become loops in the parser. cel.bind is one over no elements: its accumulator is the bound variable.
struct Loop {
  ExprPtr range;
  std::string variable;
  std::string second_variable;  // empty in loops with one variable
  std::string accumulator;
  ExprPtr start;
  ExprPtr condition;
  ExprPtr step;
  ExprPtr result;
};

struct Expr {
  enum class Kind : std::uint8_t {
    kLiteral,
    kName,
    kSelect,   // operand.name, or has(operand.name)
    kCall,     // name(arguments) or operand.name(arguments); operators too
    kList,     // arguments
    kMap,      // arguments: key, value, key, value
    kMessage,  // name{fields: arguments}
    kLoop,
  };

  Kind kind = Kind::kLiteral;
  Offset offset = 0;
  Value literal;
  std::string name;
  ExprPtr operand;
  std::vector<ExprPtr> arguments;
  std::vector<bool> optional;       // of a list's elements, a map's or message's entries
  std::vector<std::string> fields;  // of a message
  std::vector<Offset> field_offsets;
  bool presence_test = false;
  // The left operand of the call is the accumulator of the loop around, and nobody else sees it: it may be
  // changed in place.
  bool grows_accumulator = false;
  std::unique_ptr<Loop> loop;
  // How deep operators, selections and method calls nest below; the parser limits it.
  std::uint32_t nesting = 0;

  // What the checker finds out.
  TypeRef type;
  const Function* function = nullptr;
  std::vector<const Overload*> overloads;
  // A name or selection that stands for a type: the type's name. Nothing has this name at run time:
  // undefined_type.
  std::string type_name;
  bool undefined_type = false;
};

ExprPtr Copy(const Expr& expr);

}  // namespace berth::cel
