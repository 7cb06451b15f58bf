#pragma once

#include <string>
#include <utility>
#include <vector>

#include "client/loop_executor.h"

#include "base/task.h"

namespace berth::client {

struct Command {
  std::string program;
  std::vector<std::string> arguments = {};
  // On top of this process's own.
  std::vector<std::pair<std::string, std::string>> environment = {};
  base::Duration timeout = std::chrono::minutes(1);
};

struct CommandOutcome {
  enum class End { kExited, kNotFound, kTimedOut, kFailed };

  End end = End::kFailed;
  int exit_code = 0;
  std::string output;  // what it wrote to standard output, or why it could not be run
};

// Runs programs. Tests hand in what a program would have said.
class ProcessRunner {
 public:
  virtual ~ProcessRunner() = default;
  virtual base::Task<CommandOutcome> Run(Command command) = 0;
};

// Real processes. A thread of their own waits for each; one that takes too long is killed.
class SystemProcesses final : public ProcessRunner {
 public:
  explicit SystemProcesses(LoopExecutor& executor);

  base::Task<CommandOutcome> Run(Command command) override;

 private:
  LoopExecutor& executor_;
};

}  // namespace berth::client
