#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"

namespace berth::server {

// Samples what the process's threads do, by processor time, until it is destroyed or finished. There is one
// at a time in a process.
//
// The result is the binary format that pprof reads (`go tool pprof BINARY FILE`), with the memory map that
// tells it where the binary was loaded.
class CpuProfile {
 public:
  // Fails if one is running.
  static base::Result<std::unique_ptr<CpuProfile>> Start(int samples_per_second = 100);
  ~CpuProfile();
  CpuProfile(const CpuProfile&) = delete;
  CpuProfile& operator=(const CpuProfile&) = delete;

  // Stops, and returns what was seen.
  std::string Finish();
  std::size_t sample_count() const;

 private:
  explicit CpuProfile(int samples_per_second);
  void Stop();

  const int samples_per_second_;
  bool is_running_ = true;
};

// For /debug/pprof/symbol: "num_symbols: 1" for an empty body, else a line "0xADDRESS NAME" for each address
// of the body, which are separated by '+'.
std::string SymbolAnswer(const std::string& body);

// The command line, its arguments separated by zero bytes.
std::string CommandLine();

}  // namespace berth::server
