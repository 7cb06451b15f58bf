#pragma once

#include <vector>

#include "cel/ast.h"
#include "cel/source.h"

namespace berth::cel {

// The expression with its macros expanded. It may be used only if there are no issues.
//
// After the first mistake in the grammar the parser stops; mistakes of other kinds (reserved names, literals
// out of range, macros called the wrong way) are all collected up to there.
ExprPtr Parse(const Source& source, std::vector<Issue>& issues);

}  // namespace berth::cel
