#pragma once

#include <string>
#include <vector>

namespace berth::house {

struct CommandResult {
  int exit_code = -1;  // -1: the command could not be started or was killed
  std::string output;  // standard output and standard error, as they came
};

// Runs a program with these arguments and waits for it. No shell reads the arguments: nothing needs quoting.
CommandResult RunCommand(const std::vector<std::string>& arguments);

}  // namespace berth::house
