#pragma once

#include <vector>

#include "cel/ast.h"

namespace berth::cel {

// Finds the type of every node, the function and the overloads of every call, and what every name stands for.
//
// One variable exists, device. Element types of list and map literals must agree; that and the other rules
// about literals are a matter of ValidateLiterals, which needs the types.
void Check(Expr& expr, std::vector<Issue>& issues);

// Literal arguments of duration, timestamp, matches and format, and the elements of list and map literals.
// Requires an expression that checks.
void ValidateLiterals(const Expr& expr, std::vector<Issue>& issues);

}  // namespace berth::cel
