#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace berth::sandbox {

// The parts between separators; empty ones are left out.
std::vector<std::string_view> SplitText(std::string_view text, char separator);
std::string JoinText(std::span<const std::string> parts, std::string_view separator);
std::string LowerCase(std::string_view text);
// Without blanks at both ends.
std::string_view TrimText(std::string_view text);

}  // namespace berth::sandbox
