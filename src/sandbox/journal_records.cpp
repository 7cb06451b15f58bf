#include "sandbox/journal_records.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <zlib.h>

namespace berth::sandbox {
namespace {

constexpr std::size_t kHeadBytes = 12;
constexpr std::size_t kRecordBytesMax = std::size_t{64} << 20;  // no object comes near

std::uint32_t Checksum(std::string_view bytes) {
  return static_cast<std::uint32_t>(
      ::crc32_z(::crc32_z(0, nullptr, 0), reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

template <class Number>
void AppendNumber(std::string& out, Number number) {
  for (std::size_t i = 0; i < sizeof(Number); ++i) out += static_cast<char>((number >> (8 * i)) & 0xff);
}

void AppendText(std::string& out, std::string_view text) {
  AppendNumber(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

// Takes parts off the front; nothing if there is not enough.
class Parts {
 public:
  explicit Parts(std::string_view bytes) : bytes_(bytes) {}

  template <class Number>
  std::optional<Number> TakeNumber() {
    if (bytes_.size() < sizeof(Number)) return std::nullopt;
    Number number = 0;
    for (std::size_t i = 0; i < sizeof(Number); ++i) {
      number = static_cast<Number>(number |
                                   (static_cast<Number>(static_cast<unsigned char>(bytes_[i])) << (8 * i)));
    }
    bytes_.remove_prefix(sizeof(Number));
    return number;
  }
  std::optional<std::string_view> TakeText() {
    const std::optional<std::uint32_t> size = TakeNumber<std::uint32_t>();
    if (!size || bytes_.size() < *size) return std::nullopt;
    const std::string_view text = bytes_.substr(0, *size);
    bytes_.remove_prefix(*size);
    return text;
  }
  bool empty() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

std::optional<JournalRecord> Decode(std::string_view content) {
  Parts parts(content);
  const std::optional<std::uint8_t> type = parts.TakeNumber<std::uint8_t>();
  const std::optional<std::uint64_t> version = parts.TakeNumber<std::uint64_t>();
  const std::optional<std::string_view> api_version = parts.TakeText();
  const std::optional<std::string_view> kind = parts.TakeText();
  const std::optional<std::string_view> key = parts.TakeText();
  const std::optional<std::string_view> protobuf = parts.TakeText();
  if (!type || *type < 1 || *type > 3 || !protobuf || !parts.empty()) return std::nullopt;
  return JournalRecord{static_cast<RecordType>(*type), *version, *api_version, *kind, *key, *protobuf};
}

bool IsAllZero(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char byte) { return byte == 0; });
}

}  // namespace

void AppendRecord(std::string& out, const JournalRecord& record) {
  std::string content;
  content += static_cast<char>(record.type);
  AppendNumber(content, record.version);
  AppendText(content, record.api_version);
  AppendText(content, record.kind);
  AppendText(content, record.key);
  AppendText(content, record.protobuf);
  std::string head;
  AppendNumber(head, static_cast<std::uint32_t>(content.size()));
  AppendNumber(head, Checksum(head));
  AppendNumber(head, Checksum(content));
  out += head;
  out += content;
}

base::Result<JournalEnd> ReadRecords(std::string_view content,
                                     const std::function<base::Result<void>(const JournalRecord&)>& visit) {
  if (content.size() < kJournalHeader.size() && kJournalHeader.starts_with(content)) return JournalEnd{0};
  if (!content.starts_with(kJournalHeader)) return base::Fail("is no journal of the sandbox (offset 0)");
  std::size_t at = kJournalHeader.size();
  const auto damaged = [&](std::string_view what) {
    return base::Fail(fmt::format("is damaged at offset {}: {}", at, what));
  };
  while (at < content.size()) {
    const std::string_view rest = content.substr(at);
    // A write that was cut off leaves the beginning of a record; some file systems fill up with zeros.
    if (rest.size() < kHeadBytes || IsAllZero(rest)) return JournalEnd{at};
    Parts head(rest.substr(0, kHeadBytes));
    const std::uint32_t size = *head.TakeNumber<std::uint32_t>();
    const std::uint32_t size_checksum = *head.TakeNumber<std::uint32_t>();
    const std::uint32_t content_checksum = *head.TakeNumber<std::uint32_t>();
    if (size_checksum != Checksum(rest.substr(0, 4)) || size > kRecordBytesMax) {
      return damaged("the length of a record does not match its checksum");
    }
    if (rest.size() - kHeadBytes < size) return JournalEnd{at};
    const std::string_view bytes = rest.substr(kHeadBytes, size);
    if (content_checksum != Checksum(bytes)) {
      if (IsAllZero(rest.substr(kHeadBytes))) return JournalEnd{at};
      return damaged("a record does not match its checksum");
    }
    const std::optional<JournalRecord> record = Decode(bytes);
    if (!record) return damaged("a record cannot be read");
    const base::Result<void> taken = visit(*record);
    if (!taken) return damaged(taken.error().message);
    at += kHeadBytes + size;
  }
  return JournalEnd{};
}

}  // namespace berth::sandbox
