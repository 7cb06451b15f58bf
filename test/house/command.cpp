#include "house/command.h"

#include <array>
#include <cstddef>
#include <cstdlib>
#include <sys/wait.h>
#include <unistd.h>

namespace berth::house {

CommandResult RunCommand(const std::vector<std::string>& arguments) {
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);

  std::array<int, 2> ends{};
  CommandResult result;
  if (pipe(ends.data()) != 0) return result;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  close(ends[1]);
  std::array<char, 4096> buffer{};
  ssize_t count = 0;
  while ((count = read(ends[0], buffer.data(), buffer.size())) > 0) {
    result.output.append(buffer.data(), static_cast<std::size_t>(count));
  }
  close(ends[0]);
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
    result.exit_code = WEXITSTATUS(status);
  return result;
}

}  // namespace berth::house
