#include "sandbox/file_journal.h"

#include <algorithm>
#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <optional>
#include <sys/file.h>
#include <unistd.h>
#include <vector>

#include "base/files.h"
#include "sandbox/document.h"
#include "sandbox/journal_records.h"
#include "wire/transcode.h"

namespace berth::sandbox {
namespace {

namespace fs = std::filesystem;
namespace json = boost::json;

constexpr std::string_view kSnapshot = "snapshot-";
constexpr std::string_view kLog = "log-";
constexpr base::Duration kSyncInterval = std::chrono::seconds(1);

std::string FileName(std::string_view prefix, std::uint64_t version) {
  return fmt::format("{}{:020}", prefix, version);
}

std::unexpected<base::Error> SystemError(const std::string& path) {
  return base::Fail(fmt::format("{}: {}", path, std::strerror(errno)));
}

base::Result<void> WriteAll(int file, std::string_view bytes, const std::string& path) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return SystemError(path);
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

// A name counts only when the directory that holds it is on the disk, too.
void SyncDirectory(const std::string& directory) {
  const int file = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

JournalRecord RecordOf(const Revision& object, RecordType type) {
  return {.type = type,
          .version = object.version(),
          .api_version = object.resource().api_version,
          .kind = object.resource().kind,
          .key = object.key(),
          .protobuf = type == RecordType::kPut ? std::string_view(object.protobuf()) : std::string_view()};
}

base::Result<RevisionPtr> ReadObject(const JournalRecord& record) {
  const Resource* resource = ResourceTable::Get().FindKind(record.api_version, record.kind);
  if (resource == nullptr) {
    return base::Fail(
        fmt::format("no kind \"{}\" is served in version \"{}\"", record.kind, record.api_version));
  }
  base::Result<json::object> document = wire::ProtobufToDocument(*resource->message, record.protobuf);
  if (!document) return base::Fail(document.error().message);
  base::Result<RevisionPtr> object = Revision::Make(*resource, *document);
  if (object && (*object)->key() != record.key)
    return base::Fail("an object does not have the name of its record");
  return object;
}

// The version in a file's name; nothing if it is another kind of file.
std::optional<std::uint64_t> VersionIn(const fs::path& path, std::string_view prefix) {
  const std::string name = path.filename().string();
  if (!name.starts_with(prefix)) return std::nullopt;
  return ParseVersion(std::string_view(name).substr(prefix.size()));
}

}  // namespace

FileJournal::FileJournal(std::string directory, Store& store, const base::Clock& clock, Options options)
    : directory_(std::move(directory)),
      store_(store),
      clock_(clock),
      options_(std::move(options)),
      synced_(clock.Now()) {}

FileJournal::~FileJournal() {
  store_.SetJournal(nullptr);
  if (log_ >= 0) {
    ::fdatasync(log_);
    ::close(log_);
  }
  if (lock_ >= 0) ::close(lock_);
}

base::Result<FileJournal::Opened> FileJournal::Open(const std::string& directory, Store& store,
                                                    const base::Clock& clock, Options options) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return base::Fail(fmt::format("{}: {}", directory, error.message()));
  Opened opened;
  opened.journal.reset(new FileJournal(directory, store, clock, std::move(options)));
  base::Result<void> good = opened.journal->Lock();
  if (!good) return base::Fail(good.error().message);
  const base::Result<bool> loaded = opened.journal->Load(opened.message);
  if (!loaded) return base::Fail(loaded.error().message);
  opened.is_new = !*loaded;
  good = opened.journal->Snapshot();
  if (!good) return base::Fail(good.error().message);
  store.SetJournal(opened.journal.get());
  return opened;
}

base::Result<void> FileJournal::Lock() {
  const std::string path = directory_ + "/lock";
  lock_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (lock_ < 0) return SystemError(path);
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    return base::Fail(fmt::format("{} is in use by another process", directory_));
  }
  return {};
}

// False if the directory holds nothing.
base::Result<bool> FileJournal::Load(std::string& message) {
  std::optional<std::uint64_t> newest;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_, error)) {
    const std::optional<std::uint64_t> version = VersionIn(entry.path(), kSnapshot);
    if (version && (!newest || *version > *newest)) newest = version;
  }
  if (error) return base::Fail(fmt::format("{}: {}", directory_, error.message()));
  if (!newest) return false;
  absl::btree_map<std::string, RevisionPtr> objects;
  std::optional<std::uint64_t> reached;
  const auto take = [&](const JournalRecord& record) -> base::Result<void> {
    const std::string id = fmt::format("{} {} {}", record.api_version, record.kind, record.key);
    if (record.type == RecordType::kPut) {
      base::Result<RevisionPtr> object = ReadObject(record);
      if (!object) return base::Fail(object.error().message);
      objects.insert_or_assign(id, std::move(*object));
    } else if (record.type == RecordType::kRemove && objects.erase(id) == 0) {
      return base::Fail(fmt::format("{} is removed and was never there", id));
    }
    reached = std::max(reached.value_or(0), record.version);
    return {};
  };
  bool is_complete = false;
  const std::string snapshot_path = fmt::format("{}/{}", directory_, FileName(kSnapshot, *newest));
  const base::Result<std::string> snapshot = base::ReadFile(snapshot_path);
  if (!snapshot) return base::Fail(snapshot.error().message);
  base::Result<JournalEnd> end = ReadRecords(*snapshot, [&](const JournalRecord& record) {
    is_complete = record.type == RecordType::kVersion;
    return take(record);
  });
  if (!end) return base::Fail(fmt::format("{} {}", snapshot_path, end.error().message));
  if (end->torn != std::string_view::npos || !is_complete) {
    return base::Fail(fmt::format("{} is damaged at offset {}: it ends too early", snapshot_path,
                                  std::min(end->torn, snapshot->size())));
  }
  const std::string log_path = fmt::format("{}/{}", directory_, FileName(kLog, *newest));
  if (fs::exists(log_path, error)) {
    const base::Result<std::string> log = base::ReadFile(log_path);
    if (!log) return base::Fail(log.error().message);
    end = ReadRecords(*log, take);
    if (!end) return base::Fail(fmt::format("{} {}", log_path, end.error().message));
    if (end->torn != std::string_view::npos) {
      message = fmt::format("{} broke off in the middle of a write: cut at offset {}, {} bytes were dropped",
                            log_path, end->torn, log->size() - end->torn);
    }
  }
  for (const auto& [id, object] : objects) store_.Restore(object);
  version_ = std::max(reached.value_or(0), store_.version());
  store_.RestoreVersion(version_);
  return true;
}

base::Result<void> FileJournal::Snapshot() {
  version_ = std::max(version_, store_.version());
  const std::string path = fmt::format("{}/{}", directory_, FileName(kSnapshot, version_));
  const std::string draft = path + ".tmp";
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return SystemError(draft);
  base::Result<void> written;
  std::string bytes(kJournalHeader);
  store_.ForEachObject([&](const RevisionPtr& object) {
    AppendRecord(bytes, RecordOf(*object, RecordType::kPut));
    if (bytes.size() < (std::size_t{1} << 20) || !written) return;
    written = WriteAll(file, bytes, draft);
    bytes.clear();
  });
  AppendRecord(bytes, {.type = RecordType::kVersion, .version = version_});
  if (written) written = WriteAll(file, bytes, draft);
  if (written && ::fsync(file) != 0) written = SystemError(draft);
  ::close(file);
  if (!written) return written;

  // The log first: a snapshot without one would look as if nothing had happened since.
  const std::string log_path = fmt::format("{}/{}", directory_, FileName(kLog, version_));
  const int log = ::open(log_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  if (log < 0) return SystemError(log_path);
  written = WriteAll(log, kJournalHeader, log_path);
  if (written && ::rename(draft.c_str(), path.c_str()) != 0) written = SystemError(path);
  if (!written) {
    ::close(log);
    return written;
  }
  SyncDirectory(directory_);
  if (log_ >= 0) ::close(log_);
  log_ = log;
  log_bytes_ = kJournalHeader.size();
  std::error_code ignored;  // what is left over is found again next time
  for (const fs::directory_entry& entry : fs::directory_iterator(directory_, ignored)) {
    for (const std::string_view prefix : {kSnapshot, kLog}) {
      const std::optional<std::uint64_t> version = VersionIn(entry.path(), prefix);
      if (version && *version != version_) fs::remove(entry.path(), ignored);
    }
  }
  return {};
}

void FileJournal::Append(const Change& change) {
  std::string bytes;
  const bool is_removal = change.type == wire::WatchType::kDeleted;
  AppendRecord(bytes, RecordOf(*change.object, is_removal ? RecordType::kRemove : RecordType::kPut));
  const base::Result<void> written = WriteAll(log_, bytes, directory_);
  if (!written) {
    options_.on_failure(written.error().message);
    return;
  }
  version_ = change.version;
  log_bytes_ += bytes.size();
  const base::TimePoint now = clock_.Now();
  if (now - synced_ >= kSyncInterval) {
    ::fdatasync(log_);
    synced_ = now;
  }
  if (log_bytes_ < options_.log_bytes_max) return;
  const base::Result<void> renewed = Snapshot();
  if (!renewed) options_.on_failure(renewed.error().message);
}

}  // namespace berth::sandbox
