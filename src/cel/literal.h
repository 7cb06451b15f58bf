#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "cel/value.h"

namespace berth::cel {

// Literals as they stand in the expression, sign and quotes included. The error is the message for the user.
base::Result<Value> ParseIntLiteral(std::string_view text);
base::Result<Value> ParseUintLiteral(std::string_view text);
base::Result<Value> ParseDoubleLiteral(std::string_view text);
base::Result<Value> ParseStringLiteral(std::u32string_view text);
base::Result<Value> ParseBytesLiteral(std::u32string_view text);

}  // namespace berth::cel
