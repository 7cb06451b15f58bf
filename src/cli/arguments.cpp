#include "cli/arguments.h"

#include <algorithm>

namespace berth::cli {

std::vector<std::string> ForParser(std::span<const std::string> arguments) {
  std::vector<std::string> split;
  for (const std::string& argument : arguments) {
    const bool has_empty_value =
        argument.size() > 3 && argument.starts_with("--") && argument.find('=') == argument.size() - 1;
    split.push_back(has_empty_value ? argument.substr(0, argument.size() - 1) : argument);
    if (has_empty_value) split.emplace_back();
  }
  std::ranges::reverse(split);
  return split;
}

}  // namespace berth::cli
