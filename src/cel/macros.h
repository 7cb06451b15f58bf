#pragma once

#include <string>
#include <vector>

#include "cel/ast.h"

namespace berth::cel {

// The accumulator of loops: no expression can write this name.
inline constexpr std::string_view kAccumulator = "@result";

// The expression a call of a macro stands for, at the place of the call. Null: no macro has this name, style
// and number of arguments, and target and arguments are as they were. A macro called the wrong way is an
// issue.
ExprPtr ExpandMacro(const std::string& name, Offset offset, ExprPtr& target, std::vector<ExprPtr>& arguments,
                    std::vector<Issue>& issues);

// Nodes of an expression, without types.
ExprPtr LiteralNode(Offset offset, Value value);
ExprPtr NameNode(Offset offset, std::string name);
ExprPtr CallNode(Offset offset, std::string function, std::vector<ExprPtr> arguments);

}  // namespace berth::cel
