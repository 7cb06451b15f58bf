#include "client/process_runner.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stop_token>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include "base/future.h"

namespace berth::client {
namespace {

constexpr std::size_t kOutputBytesMax = std::size_t{1} << 20;
constexpr std::int64_t kStopLatencyMillis = 100;

std::vector<std::string> Environment(const Command& command) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const auto& [key, value] : command.environment) replaced = replaced || key == name;
    if (!replaced) all.emplace_back(text);
  }
  for (const auto& [key, value] : command.environment) all.push_back(key + "=" + value);
  return all;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// Reads until the other end closes; false if before that the time is up, the process has said too much or
// nobody wants to know any more.
bool ReadAll(int descriptor, std::chrono::steady_clock::time_point deadline, const std::stop_token& stop,
             std::string& output) {
  std::string block(64 * 1024, '\0');
  while (output.size() <= kOutputBytesMax && !stop.stop_requested()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now())
            .count();
    pollfd waiting{.fd = descriptor, .events = POLLIN, .revents = 0};
    if (left <= 0) return false;
    const int ready = poll(&waiting, 1, static_cast<int>(std::min(left, kStopLatencyMillis)));
    if (ready < 0 && errno != EINTR) return false;
    if (ready <= 0) continue;
    const ssize_t got = read(descriptor, block.data(), block.size());
    if (got == 0) return true;
    if (got < 0 && errno != EINTR) return false;
    if (got > 0) output.append(block.data(), static_cast<std::size_t>(got));
  }
  return false;
}

CommandOutcome RunHere(const Command& command, const std::stop_token& stop) {
  CommandOutcome outcome;
  int pipe_ends[2];
  if (pipe2(pipe_ends, O_CLOEXEC) != 0) {
    outcome.output = std::strerror(errno);
    return outcome;
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  std::vector<std::string> arguments = command.arguments;
  arguments.insert(arguments.begin(), command.program);
  std::vector<std::string> environment = Environment(command);
  pid_t process = 0;
  const int error = posix_spawnp(&process, command.program.c_str(), &actions, nullptr,
                                 Pointers(arguments).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  if (error != 0) {
    close(pipe_ends[0]);
    outcome.end = error == ENOENT ? CommandOutcome::End::kNotFound : CommandOutcome::End::kFailed;
    outcome.output = std::strerror(error);
    return outcome;
  }
  const auto deadline = std::chrono::steady_clock::now() + command.timeout;
  const bool finished = ReadAll(pipe_ends[0], deadline, stop, outcome.output);
  close(pipe_ends[0]);
  if (!finished) kill(process, SIGKILL);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  outcome.end = finished ? CommandOutcome::End::kExited : CommandOutcome::End::kTimedOut;
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace

SystemProcesses::SystemProcesses(LoopExecutor& executor) : executor_(executor) {}

base::Task<CommandOutcome> SystemProcesses::Run(Command command) {
  base::Promise<CommandOutcome> promise(executor_.executor());
  auto future = promise.future();
  // Ends with this frame: whoever destroys it stops the wait and the process.
  std::jthread waiter([this, command = std::move(command),
                       promise = std::move(promise)](const std::stop_token& stop) mutable {
    CommandOutcome outcome = RunHere(command, stop);
    executor_.loop().Post([this, stop, promise = std::move(promise), outcome = std::move(outcome)]() mutable {
      if (stop.stop_requested()) return;
      promise.Set(std::move(outcome));
      executor_.Wake();
    });
  });
  auto outcome = co_await future.Get();
  co_return outcome ? std::move(*outcome) : CommandOutcome();
}

}  // namespace berth::client
