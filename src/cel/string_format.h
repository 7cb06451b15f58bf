#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "cel/value.h"

namespace berth::cel {

// One %... of a format string.
struct FormatClause {
  std::size_t argument = 0;  // which one it is, from 0
  char verb = 's';
  int precision = 6;
};

// The text for a clause, or why its argument does not fit: that part of the message which comes after "error
// during formatting: ".
using FormatHandler = std::function<base::Result<std::string>(const FormatClause& clause)>;

// Walks over a format string and puts it together. A clause without an end is found before a missing argument
// when the call is checked, after it when the call runs.
enum class FormatPhase { kCheck, kRun };
base::Result<std::string> WalkFormat(std::string_view format, std::size_t argument_count, FormatPhase phase,
                                     const FormatHandler& handler);

// string.format(list) at run time.
base::Result<std::string> FormatValues(std::string_view format, const List& arguments);

// "decimal clause can only be used on integers, was given string".
std::string FormatTypeProblem(char verb, std::string_view given);

}  // namespace berth::cel
