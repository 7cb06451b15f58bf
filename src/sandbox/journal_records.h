#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/error.h"

// The form of a journal's files: a line that says what it is, then records. A record is its length, a
// checksum of the length, a checksum of the content, and the content; numbers are little-endian.
namespace berth::sandbox {

inline constexpr std::string_view kJournalHeader = "berth sandbox journal 1\n";

enum class RecordType : std::uint8_t {
  kPut = 1,      // an object in its new revision
  kRemove = 2,   // the object is gone
  kVersion = 3,  // the end of a snapshot: the version that it shows
};

struct JournalRecord {
  RecordType type = RecordType::kPut;
  std::uint64_t version = 0;
  std::string_view api_version = {};
  std::string_view kind = {};
  std::string_view key = {};
  std::string_view protobuf = {};  // of kPut
};

void AppendRecord(std::string& out, const JournalRecord& record);

// Reads the records of a file's content. `torn` is the offset at which the last record breaks off, or npos:
// the file is whole. Fails at damage, with the offset in the message, or if `visit` does.
struct JournalEnd {
  std::size_t torn = std::string_view::npos;
};
base::Result<JournalEnd> ReadRecords(std::string_view content,
                                     const std::function<base::Result<void>(const JournalRecord&)>& visit);

}  // namespace berth::sandbox
