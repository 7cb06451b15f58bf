#include "server/cpu_profile.h"

#include <absl/strings/str_split.h>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <sys/time.h>
#include <vector>

namespace berth::server {
namespace {

constexpr std::size_t kDepthMax = 48;
// More than two minutes of two busy cores; what comes after that is not seen.
constexpr std::size_t kSamplesMax = 32 * 1024;
// The handler itself and the frame that the kernel makes for it.
constexpr std::size_t kOwnFrames = 2;

struct Sample {
  std::uint32_t depth = 0;
  std::array<void*, kDepthMax> frames{};
};

// What the signal handler sees: no lock, no allocation. Made once and kept, because a tick may still be on
// its way on some thread when a profile ends.
struct Recorder {
  std::vector<Sample> samples = std::vector<Sample>(kSamplesMax);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> is_recording = false;
};
std::atomic<Recorder*> recorder = nullptr;
bool is_taken = false;  // of the thread that starts and ends profiles

void OnTick(int /*signal*/) {
  const int saved_errno = errno;
  Recorder* const to = recorder.load(std::memory_order_acquire);
  if (to != nullptr && to->is_recording.load(std::memory_order_acquire)) {
    const std::size_t index = to->next.fetch_add(1, std::memory_order_relaxed);
    if (index < to->samples.size()) {
      Sample& sample = to->samples[index];
      sample.depth = static_cast<std::uint32_t>(::backtrace(sample.frames.data(), kDepthMax));
    }
  }
  errno = saved_errno;
}

void SetTimer(int samples_per_second) {
  itimerval timer{};
  if (samples_per_second > 0) timer.it_interval.tv_usec = 1'000'000 / samples_per_second;
  timer.it_value = timer.it_interval;
  ::setitimer(ITIMER_PROF, &timer, nullptr);
}

void AppendWord(std::string& out, std::uint64_t word) {
  std::array<char, sizeof(word)> bytes{};
  std::memcpy(bytes.data(), &word, sizeof(word));
  out.append(bytes.data(), bytes.size());
}

std::string NameOf(std::uint64_t address) {
  Dl_info info{};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): an address is what a profiler asks about
  if (::dladdr(reinterpret_cast<const void*>(address), &info) == 0 || info.dli_sname == nullptr) return {};
  int status = 0;
  char* const readable = abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, &status);
  std::string name = status == 0 ? readable : info.dli_sname;
  std::free(readable);
  return name;
}

}  // namespace

base::Result<std::unique_ptr<CpuProfile>> CpuProfile::Start(int samples_per_second) {
  if (is_taken) return base::Fail("Could not enable CPU profiling: cpu profiling already in use");
  // The first call loads a library, which a signal handler must not do.
  std::array<void*, 4> warm_up{};
  ::backtrace(warm_up.data(), static_cast<int>(warm_up.size()));
  if (recorder.load(std::memory_order_acquire) == nullptr) {
    recorder.store(new Recorder, std::memory_order_release);  // NOLINT(cppcoreguidelines-owning-memory)
  }
  struct sigaction action{};
  action.sa_handler = &OnTick;
  action.sa_flags = SA_RESTART;
  ::sigemptyset(&action.sa_mask);
  if (::sigaction(SIGPROF, &action, nullptr) != 0) {
    return base::Fail(fmt::format("Could not enable CPU profiling: {}", std::strerror(errno)));
  }
  is_taken = true;
  Recorder& to = *recorder.load(std::memory_order_acquire);
  to.next = 0;
  to.is_recording = true;
  SetTimer(samples_per_second);
  return std::unique_ptr<CpuProfile>(new CpuProfile(samples_per_second));
}

CpuProfile::CpuProfile(int samples_per_second) : samples_per_second_(samples_per_second) {}

void CpuProfile::Stop() {
  if (!is_running_) return;
  // The handler stays: a tick that is on its way would end the process without it.
  SetTimer(0);
  recorder.load(std::memory_order_acquire)->is_recording = false;
  is_running_ = false;
}

CpuProfile::~CpuProfile() {
  Stop();
  is_taken = false;
}

std::size_t CpuProfile::sample_count() const {
  const Recorder* const from = recorder.load(std::memory_order_acquire);
  return std::min(from->next.load(std::memory_order_relaxed), from->samples.size());
}

std::string CpuProfile::Finish() {
  Stop();
  const Recorder& from = *recorder.load(std::memory_order_acquire);
  std::map<std::vector<void*>, std::uint64_t> stacks;
  for (std::size_t i = 0; i < sample_count(); ++i) {
    const Sample& sample = from.samples[i];
    const std::size_t skipped = std::min<std::size_t>(sample.depth, kOwnFrames);
    ++stacks[{sample.frames.begin() + skipped, sample.frames.begin() + sample.depth}];
  }
  std::string out;
  // Header: no samples, three words that follow, version, period in microseconds, padding.
  for (const std::uint64_t word :
       {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{0},
        static_cast<std::uint64_t>(1'000'000 / samples_per_second_), std::uint64_t{0}}) {
    AppendWord(out, word);
  }
  for (const auto& [frames, count] : stacks) {
    if (frames.empty()) continue;
    AppendWord(out, count);
    AppendWord(out, frames.size());
    for (void* const frame : frames) AppendWord(out, reinterpret_cast<std::uintptr_t>(frame));
  }
  // Trailer, then where things are.
  for (const std::uint64_t word : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0}})
    AppendWord(out, word);
  std::ifstream maps("/proc/self/maps");
  out.append(std::istreambuf_iterator<char>(maps), {});
  return out;
}

std::string SymbolAnswer(const std::string& body) {
  if (body.empty()) return "num_symbols: 1\n";
  std::string out = "num_symbols: 1\n";
  for (const absl::string_view piece : absl::StrSplit(body, '+')) {
    std::string_view text(piece.data(), piece.size());
    if (text.starts_with("0x")) text.remove_prefix(2);
    std::uint64_t address = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), address, 16);
    if (read.ec != std::errc()) continue;
    if (const std::string name = NameOf(address); !name.empty())
      out += fmt::format("{:#x}\t{}\n", address, name);
  }
  return out;
}

std::string CommandLine() {
  std::ifstream file("/proc/self/cmdline");
  std::string text(std::istreambuf_iterator<char>(file), {});
  while (!text.empty() && text.back() == '\0') text.pop_back();
  return text;
}

}  // namespace berth::server
