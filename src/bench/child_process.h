#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/error.h"

namespace berth::bench {

// A program that runs beside this one, in a process group of its own: what a terminal sends to this program
// does not reach it. It ends with this object, and with this process however that ends; what it started
// itself and left in its group ends with it.
class ChildProcess {
 public:
  struct Options {
    std::vector<std::string> command;  // the program first
    // On top of this process's own.
    std::vector<std::pair<std::string, std::string>> environment = {};
    std::filesystem::path log;  // all that it prints
  };

  // Fails if there is no such program.
  static base::Result<std::unique_ptr<ChildProcess>> Start(const Options& options);
  // As Stop().
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t id() const { return id_; }
  const std::filesystem::path& log() const { return log_; }

  // "ended with code 3", "was ended by signal 9"; nothing while it runs.
  std::optional<std::string> Ended();

  // The rest of the first line of its log that begins with this. Fails when it ends before that, when time is
  // up or when `is_interrupted` says so.
  base::Result<std::string> AwaitLine(std::string_view beginning, base::Duration timeout,
                                      const std::function<bool()>& is_interrupted);

  // Asks it to end, and after so long makes it.
  void Stop(base::Duration grace = std::chrono::seconds(10));

 private:
  ChildProcess(pid_t id, std::filesystem::path log) : id_(id), log_(std::move(log)) {}
  bool Reap(int flags);

  const pid_t id_;
  const std::filesystem::path log_;
  std::optional<int> status_;  // as waitpid has it
};

// A port of loopback that nobody listens on just now.
base::Result<std::uint16_t> FreePort();

// A folder that is new and goes with this object.
class TemporaryFolder {
 public:
  static base::Result<TemporaryFolder> Make();
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
};

}  // namespace berth::bench
