#include "bench/process_stats.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>

namespace berth::bench {
namespace {

base::Duration FromTicks(std::int64_t ticks) {
  return base::Duration(std::chrono::seconds(1)) * ticks / ::sysconf(_SC_CLK_TCK);
}

base::Duration FromClock(clockid_t clock) {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return {};
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

// The fields of /proc/PID/stat behind the name of the program, which may hold anything.
struct StatFields {
  std::int64_t group = 0;
  std::int64_t ticks = 0;
};
StatFields ReadStat(const std::filesystem::path& folder) {
  std::ifstream file(folder / "stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream rest(line.substr(name_end + 1));
  StatFields fields;
  std::string state;
  std::int64_t parent = 0;
  rest >> state >> parent >> fields.group;
  // Session, terminal, its group, flags and four kinds of faults are of no interest.
  std::int64_t skipped = 0;
  for (int i = 0; i < 8; ++i) rest >> skipped;
  std::int64_t user = 0;
  std::int64_t system = 0;
  rest >> user >> system;
  fields.ticks = user + system;
  return fields;
}

}  // namespace

base::Duration ProcessorTimeOf(pid_t process) {
  clockid_t clock{};
  if (::clock_getcpuclockid(process, &clock) != 0) return {};
  return FromClock(clock);
}

std::vector<pid_t> ProcessesOfGroup(pid_t group) {
  std::vector<pid_t> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    if (!std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; })) continue;
    if (ReadStat(entry.path()).group == group) processes.push_back(static_cast<pid_t>(std::stol(name)));
  }
  return processes;
}

base::Duration ProcessorTimeOfGroup(pid_t group) {
  std::int64_t ticks = 0;
  for (const pid_t process : ProcessesOfGroup(group))
    ticks += ReadStat(fmt::format("/proc/{}", process)).ticks;
  return FromTicks(ticks);
}

std::int64_t PeakMemoryOf(pid_t process) {
  std::ifstream status(fmt::format("/proc/{}/status", process));
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("VmHWM:")) continue;
    const std::size_t digits = line.find_first_of("0123456789");
    std::int64_t kibibytes = 0;
    if (digits != std::string::npos)
      std::from_chars(line.data() + digits, line.data() + line.size(), kibibytes);
    return kibibytes * 1024;
  }
  return 0;
}

void ResetPeakMemoryOf(pid_t process) { std::ofstream(fmt::format("/proc/{}/clear_refs", process)) << "5"; }

base::Duration ThreadProcessorTime() { return FromClock(CLOCK_THREAD_CPUTIME_ID); }

base::Duration ThreadProcessorTimeCost() {
  constexpr int kReadings = 1000;
  base::Duration least = base::Duration::max();
  base::Duration last = ThreadProcessorTime();
  for (int i = 0; i < kReadings; ++i) {
    const base::Duration now = ThreadProcessorTime();
    least = std::min(least, now - last);
    last = now;
  }
  return least;
}

MachineTime ReadMachineTime() {
  std::ifstream file("/proc/stat");
  std::string name;
  file >> name;
  MachineTime time;
  // user nice system idle iowait irq softirq steal; guest time is part of user time.
  for (int column = 0; column < 8; ++column) {
    std::int64_t ticks = 0;
    file >> ticks;
    time.total += FromTicks(ticks);
    if (column != 3 && column != 4) time.busy += FromTicks(ticks);
  }
  return time;
}

}  // namespace berth::bench
