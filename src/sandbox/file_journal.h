#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/error.h"
#include "sandbox/store.h"

namespace berth::sandbox {

// Keeps a store in a directory: a snapshot of all objects, and a log of what changed since.
//
// 1. A change is in the log, written to the file, before the request that made it is answered: a process that
// is
//    killed at any moment loses nothing that it acknowledged. The disk is told to sync once a second, so that
//    a power cut may cost that second.
// 2. Every record carries checksums of its length and of its content. A log that ends within a record was cut
//    off in the middle of a write that nobody saw: the rest is removed. Anything else that does not add up is
//    damage, and is refused with its place in the file.
// 3. A snapshot has its name only when it is complete, and the log begins anew with it.
class FileJournal final : public Journal {
 public:
  struct Options {
    std::uint64_t log_bytes_max = std::uint64_t{64} << 20;  // then a new snapshot is made
    // The disk refused a write. What was asked for cannot be kept; the process has to end.
    std::function<void(const std::string& why)> on_failure;
  };
  struct Opened {
    std::unique_ptr<FileJournal> journal;
    bool is_new = false;       // nothing was kept there
    std::string message = {};  // what had to be repaired; empty: nothing
  };

  // Puts what the directory keeps into the store and keeps it up to date from now on. Makes the directory if
  // it is not there; refuses one that another process uses.
  static base::Result<Opened> Open(const std::string& directory, Store& store, const base::Clock& clock,
                                   Options options);
  ~FileJournal() override;

  void Append(const Change& change) override;

 private:
  FileJournal(std::string directory, Store& store, const base::Clock& clock, Options options);

  base::Result<void> Lock();
  base::Result<bool> Load(std::string& message);
  // Writes everything to a new snapshot, and begins a new log.
  base::Result<void> Snapshot();

  const std::string directory_;
  Store& store_;
  const base::Clock& clock_;
  const Options options_;
  int lock_ = -1;
  int log_ = -1;
  std::uint64_t log_bytes_ = 0;
  base::TimePoint synced_;
  std::uint64_t version_ = 0;  // of the last change that is kept
};

}  // namespace berth::sandbox
