#include "bench/child_process.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace berth::bench {
namespace {

constexpr base::Duration kLook = std::chrono::milliseconds(5);

void Pause(base::Duration duration) {
  const timespec wait{.tv_sec = 0, .tv_nsec = duration.count()};
  ::nanosleep(&wait, nullptr);
}

std::vector<std::string> EnvironmentOf(const ChildProcess::Options& options) {
  std::vector<std::string> lines;
  for (char** line = environ; *line != nullptr; ++line) lines.emplace_back(*line);
  for (const auto& [name, value] : options.environment) lines.push_back(fmt::format("{}={}", name, value));
  return lines;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// In the child, where only what is safe after a fork may be called. Returns only if there is no program.
void Become(char* const* command, char* const* environment, int log, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(0);
  ::dup2(log, STDOUT_FILENO);
  ::dup2(log, STDERR_FILENO);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  std::signal(SIGINT, SIG_DFL);
  ::execvpe(command[0], command, environment);
}

}  // namespace

base::Result<std::unique_ptr<ChildProcess>> ChildProcess::Start(const Options& options) {
  std::vector<std::string> command = options.command;
  std::vector<std::string> environment = EnvironmentOf(options);
  const std::vector<char*> arguments = Pointers(command);
  const std::vector<char*> variables = Pointers(environment);
  const int log = ::open(options.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return base::Fail(options.log.string() + ": " + std::strerror(errno));
  // Closed by a successful exec; says why otherwise.
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) {
    ::close(log);
    return base::Fail(std::string("pipe: ") + std::strerror(errno));
  }
  const pid_t parent = ::getpid();
  const pid_t id = ::fork();
  if (id == 0) {
    Become(arguments.data(), variables.data(), log, parent);
    const int error = errno;
    static_cast<void>(!::write(report[1], &error, sizeof error));
    ::_exit(127);
  }
  const int fork_error = errno;
  ::close(log);
  ::close(report[1]);
  int error = 0;
  const bool failed = id > 0 && ::read(report[0], &error, sizeof error) == sizeof error;
  ::close(report[0]);
  if (id < 0) return base::Fail(std::string("fork: ") + std::strerror(fork_error));
  // Also here, so that the group is there whoever comes first.
  ::setpgid(id, id);
  if (failed) {
    ::waitpid(id, nullptr, 0);
    return base::Fail("cannot run " + options.command.front() + ": " + std::strerror(error));
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(id, options.log));
}

ChildProcess::~ChildProcess() { Stop(); }

bool ChildProcess::Reap(int flags) {
  int status = 0;
  if (!status_ && ::waitpid(id_, &status, flags) == id_) status_ = status;
  return status_.has_value();
}

std::optional<std::string> ChildProcess::Ended() {
  if (!Reap(WNOHANG)) return std::nullopt;
  return WIFSIGNALED(*status_) ? fmt::format("was ended by signal {}", WTERMSIG(*status_))
                               : fmt::format("ended with code {}", WEXITSTATUS(*status_));
}

base::Result<std::string> ChildProcess::AwaitLine(std::string_view beginning, base::Duration timeout,
                                                  const std::function<bool()>& is_interrupted) {
  const base::RealClock clock;
  const base::TimePoint end = clock.Now() + timeout;
  while (true) {
    const auto ended = Ended();
    std::ifstream log(log_);
    // A line without an end may not be whole yet.
    for (std::string line; std::getline(log, line) && !log.eof();) {
      if (line.starts_with(beginning)) return line.substr(beginning.size());
    }
    if (ended) return base::Fail(*ended);
    if (is_interrupted()) return base::Fail("interrupted");
    if (clock.Now() >= end) {
      return base::Fail(fmt::format("did not print \"{}\" in time", beginning));
    }
    Pause(kLook);
  }
}

void ChildProcess::Stop(base::Duration grace) {
  const base::RealClock clock;
  const base::TimePoint end = clock.Now() + grace;
  if (!Reap(WNOHANG)) {
    ::kill(id_, SIGTERM);
    // One that somebody has stopped hears nothing before this.
    ::kill(id_, SIGCONT);
  }
  while (!Reap(WNOHANG) && clock.Now() < end) Pause(kLook);
  // What it left behind, and itself if it does not listen.
  ::kill(-id_, SIGKILL);
  Reap(0);
}

base::Result<std::uint16_t> FreePort() {
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  const bool found =
      server >= 0 && ::bind(server, generic, size) == 0 && ::getsockname(server, generic, &size) == 0;
  const int error = errno;
  if (server >= 0) ::close(server);
  if (!found) return base::Fail(std::string("no free port: ") + std::strerror(error));
  return ntohs(address.sin_port);
}

base::Result<TemporaryFolder> TemporaryFolder::Make() {
  std::string name = (std::filesystem::temp_directory_path() / "berth-bench-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) return base::Fail(name + ": " + std::strerror(errno));
  return TemporaryFolder(name);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) std::filesystem::remove_all(path_, error);
}

}  // namespace berth::bench
